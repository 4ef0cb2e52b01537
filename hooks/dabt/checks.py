"""What each check means and how to mend what it found: `::: checks group`, from one data file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from yaml import MappingNode, Node

from dabt import yamlsource
from dabt.directives import Place
from dabt.languages import Language, direction, fallbacks, marked
from dabt.problems import CHECKS, DabtError, Problem, did_you_mean
from dabt.quiz.inline import to_html
from dabt.ui import Ui

Texts = Mapping[str, str]
NEEDED = ("why", "cure")
KEYS = (*NEEDED, "wrong", "right")
SECTION = Markup(
    '<h3 id="{id}"><code>{id}</code></h3>\n<p>{why}</p>\n<p><strong>{head}</strong> {cure}</p>'
)
EXAMPLE = Markup('<p class="dabt-check-{kind}">{head} {text}</p>')


@dataclass(frozen=True)
class Check:
    """One check: its id, why it is there and its cure by language, and an example of each kind."""

    id: str
    why: Texts
    cure: Texts
    wrong: str = ""
    right: str = ""

    def written(self, language: str) -> bool:
        """Tell whether a language has its texts."""
        return language in self.why and language in self.cure


Checks = Mapping[str, Sequence[Check]]


def read_checks(
    data: Path, languages: Sequence[Language]
) -> tuple[dict[str, tuple[Check, ...]], tuple[Problem, ...]]:
    """Return group → checks, and the problems of the file, if there is one."""
    path = data / CHECKS
    if not path.exists():
        return {}, ()
    root, findings = yamlsource.read(path)
    groups = {
        group: tuple(
            _read(name, one, languages, findings)
            for name, one in _children(checks, findings).items()
        )
        for group, checks in _children(root, findings).items()
    }
    return groups, tuple(findings.problems)


def _children(node: Node | None, findings: yamlsource.Findings) -> dict[str, Node]:
    if node is None or not yamlsource.is_kind(node, MappingNode, findings):
        return {}
    return {str(key.value): value for key, value in node.value}


def _read(
    name: str, node: Node, languages: Sequence[Language], findings: yamlsource.Findings
) -> Check:
    values = yamlsource.entries(node, findings, KEYS, NEEDED)
    codes = [one.code for one in languages]
    complete = [one.code for one in languages if not one.fallback]
    texts = {
        key: {
            code: yamlsource.text_of(text, findings)
            for code, text in yamlsource.entries(values[key], findings, codes, complete).items()
        }
        for key in NEEDED
        if key in values
    }
    wrong, right = (yamlsource.text_of(values.get(key), findings) for key in ("wrong", "right"))
    return Check(name, texts.get("why", {}), texts.get("cure", {}), wrong, right)


@dataclass(frozen=True)
class ChecksRenderer:
    """The renderer of `::: checks …` for `dabt.directives`."""

    checks: Checks
    languages: Sequence[Language]
    ui: Ui

    def __call__(self, argument: str, place: Place) -> str:
        """The HTML of a group of checks. Raises DabtError for an unknown group."""
        if problem := check_group(argument, place, self.checks):
            raise DabtError([problem])
        return "\n".join(self._show(one, place.language) for one in self.checks[argument])

    def _show(self, check: Check, around: str) -> str:
        chain = (around, *fallbacks(around, self.languages))
        code = next((one for one in chain if check.written(one)), around)
        return marked(render_check(check, code, self.ui), code, around)


def check_group(argument: str, place: Place, checks: Checks) -> Problem | None:
    """The problem of a directive that names no group, if it does not."""
    if argument in checks:
        return None
    message, mend = f"no group of checks '{argument}'", did_you_mean(argument, sorted(checks))
    return Problem(place.file, place.line, 1, message, "argument", mend)


def render_check(check: Check, language: str, ui: Ui) -> str:
    """Return the section of a check in a language."""
    why, cure = (to_html(texts[language], language) for texts in (check.why, check.cure))
    head = ui.text("checks.cure", language)
    parts = [SECTION.format(id=check.id, why=why, head=head, cure=cure)]
    for kind, text in (("wrong", check.wrong), ("right", check.right)):
        if text:
            shown = _example(check.id, text, language)
            head = ui.text(f"checks.{kind}", language)
            parts.append(EXAMPLE.format(kind=kind, head=head, text=shown))
    return "\n".join(map(str, parts))


def _example(name: str, text: str, around: str) -> Markup:
    """Return an example: prose in its own language, or code."""
    arabic = any("\u0600" <= letter <= "\u06ff" for letter in text)
    if name.startswith("ar-") or name == "bidi-trap":
        language = "ar"
    elif name.startswith("fr-"):
        language = "fr"
    else:
        inside = ' lang="ar"' if arabic and around != "ar" else ""
        return Markup('<code dir="ltr"{}>{}</code>').format(Markup(inside), text)
    way = direction(language)
    html = to_html(text, language)
    return Markup('<span lang="{}" dir="{}">{}</span>').format(language, way, html)
