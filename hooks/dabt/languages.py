"""The languages of the course: which ones, in which direction, and how each counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dabt import yamlsource
from dabt.problems import DabtError

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})
# Of CLDR; Arabic pages write Western digits, whose decimal mark is the point.
DECIMAL_COMMA = frozenset({"de", "es", "fr", "id", "it", "pt", "ru", "tr"})
KEYS = ("code", "name", "direction", "default", "fallback")


@dataclass(frozen=True)
class Language:
    """One language of the site. `direction` is "rtl" or "ltr"; one language is the default.

    A language with a `fallback` is growing: what it has not written yet is shown in that one.
    """

    code: str
    name: str
    direction: str
    default: bool = False
    fallback: str = ""


def direction(code: str) -> str:
    """ "rtl" or "ltr" for a language code (`ar`, `fr-CA`)."""
    return "rtl" if code.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"


def fallbacks(code: str, languages: Sequence[Language]) -> tuple[str, ...]:
    """The languages in which a reader gets what this one lacks, in the order of preference."""
    own = next((one.fallback for one in languages if one.code == code), "")
    complete = [one.code for one in languages if not one.fallback and one.code != code]
    return tuple(dict.fromkeys([*([own] if own else []), *complete]))


def marked(html: str, code: str, around: str) -> str:
    """HTML in a language, saying so where the page around it is in another one."""
    if code == around:
        return html
    return f'<div lang="{code}" dir="{direction(code)}">\n{html}\n</div>'


def localise_number(text: str, code: str) -> str:
    """Return a number written with a point as the language writes it."""
    return text.replace(".", ",") if code.split("-")[0].lower() in DECIMAL_COMMA else text


def load_languages(path: Path) -> tuple[Language, ...]:
    """The languages of `docs/_data/languages.yml`, in the order of the file.

    Raises DabtError with every problem of the file.
    """
    root, findings = yamlsource.read(path)
    languages = tuple(_language(node, findings) for node in yamlsource.items(root, findings))
    if root is not None and not findings.problems:
        _check_together(root, languages, findings)
    if findings.problems:
        raise DabtError(findings.problems)
    return languages


def _language(node: yamlsource.Node, findings: yamlsource.Findings) -> Language:
    values = yamlsource.entries(node, findings, KEYS, ("code", "name", "direction"))
    texts = {key: yamlsource.text_of(value, findings) for key, value in values.items()}
    code, way = texts.get("code", ""), texts.get("direction", "")
    if "direction" in values and way != direction(code):
        message = f"'{code}' is written {direction(code)}, not '{way}'"
        findings.at(values["direction"], message, "direction", f"write {direction(code)}")
    default = texts.get("default") == "true"
    return Language(code, texts.get("name", ""), way, default, texts.get("fallback", ""))


def _check_together(
    root: yamlsource.Node, languages: tuple[Language, ...], findings: yamlsource.Findings
) -> None:
    codes = [language.code for language in languages]
    if len(set(codes)) != len(codes):
        findings.at(root, "a language code is there twice", "duplicate", "keep one")
    complete = {language.code for language in languages if not language.fallback}
    for language in languages:
        if language.fallback and language.fallback not in complete:
            message = (
                f"'{language.code}' falls back to '{language.fallback}', which is not complete"
            )
            findings.at(root, message, "fallback", f"write one of {', '.join(sorted(complete))}")
    if sum(language.default for language in languages) != 1:
        findings.at(
            root, "one language must be the default", "default", "write 'default: true' once"
        )


def plural_category(language: str, count: int) -> str:
    """The CLDR plural category of a whole number: zero, one, two, few, many or other.

    Rules of Unicode CLDR 46, as `Intl.PluralRules` applies them in browsers.
    """
    if language == "ar":
        return _arabic_category(count)
    if language == "fr":
        if count in (0, 1):
            return "one"
        return "many" if count % 1_000_000 == 0 else "other"
    return "one" if count == 1 else "other"


def _arabic_category(count: int) -> str:
    if count in (0, 1, 2):
        return ("zero", "one", "two")[count]
    rest = count % 100
    if 3 <= rest <= 10:
        return "few"
    return "many" if rest >= 11 else "other"


def plural_categories(language: str) -> tuple[str, ...]:
    """The categories that a counted text must be written for, in a language."""
    if language == "ar":
        return ("zero", "one", "two", "few", "many", "other")
    return ("one", "other")
