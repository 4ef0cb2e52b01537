"""Looks for every rule of writing in all that readers of the course read, and mends what it can."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dabt.languages import Language, direction
from dabt.pages import read_pages
from dabt.problems import Problem, shown
from dabt.text import arabic, common, french
from dabt.text.common import traps
from dabt.text.marks import check_marks
from dabt.text.model import Rule
from dabt.text.prose import Prose, markdown_writing, yaml_writing

RULES: tuple[Rule, ...] = (*common.RULES, *arabic.RULES, *french.RULES)
DATA = ("checks.yml", "figures/*.yml", "quizzes/*.yml", "ui*.yml")
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Found:
    """A rule broken at a place of a text; `new` is what would stand there, if that is plain."""

    rule: Rule
    start: int
    end: int
    new: str | None


@cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """The rules that hold in a language."""
    return tuple(rule for rule in RULES if rule.language in ("", language))


def find(prose: Prose) -> Iterator[Found]:
    """Every place of a text where a rule is broken, rule by rule."""
    for rule in rules_of(prose.language):
        for match in rule.pattern.finditer(prose.text):
            new = rule.replace(match) if rule.replace else None
            if new != match[0]:
                yield Found(rule, match.start(), match.end(), new)


def lint_traps(prose: Prose) -> Iterator[Problem]:
    """The runs of signs that a text from right to left may show in another order."""
    for start, run, why in traps(prose.text) if direction(prose.language) == "rtl" else ():
        line, column = prose.place(start)
        message = f"'{run}' is {why}, and may be shown reordered"
        mend = f"write `{run}` between backticks"
        yield Problem(prose.file, line, column, message, "bidi-trap", mend)


def lint_prose(prose: Prose) -> Iterator[Problem]:
    """The problems of a text."""
    for found in find(prose):
        line, column = prose.place(found.start)
        rule = found.rule
        around = prose.text[max(0, found.start - 12) : found.end + 12].replace("\0", "·")
        message = f"{rule.message}: '{' '.join(around.split())}'"
        mend = rule.write.replace("{new}", found.new or "")
        if rule.replace:
            mend += " (make fix does it)"
        yield Problem(prose.file, line, column, message, rule.code, mend)


def mended(source: str, prose: Prose) -> str:
    """The source of a text with what can be mended mended once; places of both are the same."""
    changes = sorted((f for f in find(prose) if f.new is not None), key=lambda f: (f.start, f.end))
    parts, end = [], 0
    for change in changes:
        if change.start >= end:
            parts += [source[end : change.start], change.new or ""]
            end = change.end
    return "".join([*parts, source[end:]])


def read_writing(root: Path, languages: Iterable[Language]) -> Iterator[Prose]:
    """All that readers of the course read: pages, README files, texts of data files."""
    for path, codes in readable(root, languages):
        source = path.read_bytes().decode("utf-8-sig")
        for code in codes:
            yield writing(source, path, code)


def readable(root: Path, languages: Iterable[Language]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Each file that readers read, with the languages that it holds."""
    known = tuple(one.code for one in languages)
    for code in known:
        yield from ((path, (code,)) for path in sorted((root / "docs" / code).rglob("*.md")))
        if (root / f"README.{code}.md").exists():
            yield root / f"README.{code}.md", (code,)
    for pattern in DATA:
        yield from ((path, known) for path in sorted((root / "docs/_data").glob(pattern)))


def writing(source: str, path: Path, code: str) -> Prose:
    """What is written in a file in a language; as long as the file."""
    read = markdown_writing if path.suffix == ".md" else yaml_writing
    return read(source, shown(path), code)


def lint_texts(root: Path, languages: Iterable[Language]) -> tuple[Problem, ...]:
    """The problems of all texts of a project."""
    languages = tuple(languages)
    texts = read_writing(root, languages)
    on_texts = (one for prose in texts for one in (*lint_prose(prose), *lint_traps(prose)))
    on_pages = (one for page in read_pages(root / "docs", languages) for one in check_marks(page))
    return (*on_texts, *on_pages)


def fix_file(path: Path, codes: Iterable[str]) -> bool:
    """Mend a file in place, in each language that it holds; tell whether it changed."""
    before = source = path.read_bytes().decode("utf-8")
    for _ in range(MOST_ROUNDS):
        once = source
        for code in codes:
            once = mended(once, writing(once, path, code))
        if once == source:
            break
        source = once
    if source != before:
        path.write_bytes(source.encode("utf-8"))
    return source != before
