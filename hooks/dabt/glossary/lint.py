"""The terminology check: words that the glossary avoids, wherever the course is read."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dabt.glossary.matching import exact, normalise, whole
from dabt.glossary.model import Avoided, Glossary
from dabt.pages import Page
from dabt.problems import Problem, shown
from dabt.text.prose import Prose, markdown_prose, yaml_prose

DATA = ("figures/*.yml", "quizzes/*.yml", "ui*.yml")


def lint_terms(
    glossary: Glossary, root: Path, pages: Iterable[Page], codes: tuple[str, ...]
) -> Iterator[Problem]:
    """The words to avoid in pages, data files and README files of a project."""
    for prose in read_prose(root, pages, codes):
        yield from lint_prose(glossary, prose)


def read_prose(root: Path, pages: Iterable[Page], codes: tuple[str, ...]) -> Iterator[Prose]:
    """All that readers of the course read, as prose."""
    for page in pages:
        yield markdown_prose(page.text, page.file, page.language)
    for code in codes:
        path = root / f"README.{code}.md"
        if path.exists():
            yield markdown_prose(path.read_text(encoding="utf-8-sig"), shown(path), code)
    for pattern in DATA:
        for path in sorted((root / "docs" / "_data").glob(pattern)):
            yield from yaml_prose(path, codes)


def lint_prose(glossary: Glossary, prose: Prose) -> Iterator[Problem]:
    """The words to avoid in one text; of several in one place, the gravest."""
    plain = normalise(prose.text)
    said: list[tuple[int, int]] = []
    for avoided, pattern in _patterns(glossary, prose.language):
        for match in pattern.finditer(plain.text):
            start, end = plain.place(*match.span())
            if any(start < after and before < end for before, after in said):
                continue
            said.append((start, end))
            yield _problem(avoided, prose, start, end)


def _patterns(glossary: Glossary, language: str) -> Iterator[tuple[Avoided, re.Pattern[str]]]:
    """What a language avoids, errors first."""
    for one in sorted(glossary.avoid, key=lambda one: one.severity):
        if one.language == language:
            yield one, exact(one.form, language) if one.form else whole(one.pattern, language)


def _problem(avoided: Avoided, prose: Prose, start: int, end: int) -> Problem:
    line, column = prose.place(start)
    found = " ".join(prose.text[start:end].split())
    message = f"'{found}': {avoided.why}"
    mend = f"write '{avoided.write}'; what is quoted stands between « »"
    return Problem(prose.file, line, column, message, "term", mend, avoided.severity)
