"""Adding a language: everything that the code needs, and a list of what a person does next.

Nothing is written unless all of it can be. Files that people edit by hand get lines inserted; they
are not written anew.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dabt.languages import Language, direction, load_languages, plural_categories
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.ui import Forms, Ui, load_ui

# What mkdocs-static-i18n takes for a language.
CODE = re.compile(r"[a-z]{2}")
DATA = Path("docs/_data")
MENU = Path("mkdocs.yml")
PARTIAL = """{{#- The theme has no strings in this language: what is not here is in English. -#}}
{{% macro t(key) %}}{{{{ {{
  "language": "{code}",
  "direction": "{direction}"
}}[key] }}}}{{% endmacro %}}
"""
PAGE = """---
title: {site}
description: {site} · {name}
---

# {site} {{ #{top} }}
"""
CHECKLIST = """{code} ({name}) is in the site; it shows {fallback} for all that it lacks. Next:
  1. docs/_data/ui.{code}.yml: write the strings between the quotes; the comment says the meaning
  2. {menu}: translate the lines of '- locale: {code}' (description, theme, menu)
  3. docs/{code}/index.md: write the home; every heading keeps its id
  4. a chapter: docs/{code}/<the same path>.md, with the same ids, code and quizzes
  5. docs/_data/glossary.yml and docs/_data/quizzes/*.yml: a line '{code}:' beside the others
  6. tools/social_cards.py draws the picture of shared links; tools/subset_fonts.py has the letters
  7. make status says what is next; make confirm NAME=… when you compared it
  8. when nothing is missing, remove 'fallback: {fallback}' from docs/_data/languages.yml
Check with: make check, make build"""


@dataclass(frozen=True)
class Wanted:
    """A language to add, and the name of the course in it."""

    language: Language
    site: str


def add_language(root: Path, wanted: Wanted, themes: Sequence[Path] = ()) -> str:
    """Add a language to a project and return what to do next.

    `themes` are folders in which the theme keeps its strings. Raises DabtError, with nothing
    written, when the language is there already or a file does not have the expected form.
    """
    languages = load_languages(root / DATA / "languages.yml")
    language = wanted.language
    if problems := [*_faults(language, languages)]:
        raise DabtError(problems)
    files = dict(_files(root, wanted, languages))
    partial = f"partials/languages/{language.code}.html"
    if not any((folder / partial).is_file() for folder in themes):
        text = PARTIAL.format(code=language.code, direction=language.direction)
        files[root / "overrides" / partial] = text
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return CHECKLIST.format(
        code=language.code, name=language.name, fallback=language.fallback, menu=MENU
    )


def closest(languages: Sequence[Language], way: str) -> str:
    """Return the language to fall back to: one of the same direction, if there is one."""
    complete = [one for one in languages if not one.fallback]
    alike = [one.code for one in complete if one.direction == way]
    return next(iter([*alike, *(one.code for one in complete)]))


def _faults(language: Language, languages: Sequence[Language]) -> Iterator[Problem]:
    place = ((DATA / "languages.yml").as_posix(), 1, 1)
    codes = [one.code for one in languages]
    if not CODE.fullmatch(language.code):
        message = f"'{language.code}' is not a code of two small letters"
        yield Problem(*place, message, "language", "ISO 639-1: es, fa, ur")
    if language.code in codes:
        message = f"'{language.code}' is there already"
        yield Problem(*place, message, "language", "python -m dabt status says what it lacks")
    if language.direction != direction(language.code):
        message = f"'{language.code}' is written {direction(language.code)}"
        yield Problem(*place, message, "direction", "leave --dir out, or see dabt/languages.py")
    if language.fallback not in [one.code for one in languages if not one.fallback]:
        message = f"no complete language '{language.fallback}' to fall back to"
        yield Problem(*place, message, "fallback", did_you_mean(language.fallback, codes))


def _files(root: Path, wanted: Wanted, languages: Sequence[Language]) -> Iterator[tuple[Path, str]]:
    language = wanted.language
    known = root / DATA / "languages.yml"
    yield known, f"{known.read_text(encoding='utf-8').rstrip()}\n{_entry(language)}"
    ui = load_ui(root / DATA, languages)
    yield root / DATA / f"ui.{language.code}.yml", write_strings(ui, language)
    menu = (root / MENU).read_text(encoding="utf-8")
    default = next(one.code for one in languages if one.default)
    yield root / MENU, insert_locale(menu, wanted, default)
    home = (root / "docs" / language.fallback / "index.md").read_text(encoding="utf-8")
    top = re.search(r"^# .*\{ *#([\w-]+)", home, re.MULTILINE)
    page = PAGE.format(site=wanted.site, name=language.name, top=top[1] if top else "top")
    yield root / "docs" / language.code / "index.md", page


def _entry(language: Language) -> str:
    return (
        f"- code: {language.code}\n  name: {language.name}\n  direction: {language.direction}\n"
        f"  # Growing: what it lacks is shown in this one. Without this line it must be whole.\n"
        f"  fallback: {language.fallback}\n"
    )


def insert_locale(menu: str, wanted: Wanted, default: str) -> str:
    """Return mkdocs.yml with the lines of a language before those of the default one.

    They are those of the fallback language, which a person translates. Raises DabtError where the
    languages are not listed one after the other as `- locale: xx`.
    """
    language = wanted.language
    lines = menu.split("\n")
    block = _block(lines, language.fallback)
    start = next((n for n, line in enumerate(lines) if _locale(line) == default), -1)
    if start < 0 or not block:
        message = "no '- locale: …' of the default language, or of the one to fall back to"
        raise DabtError([Problem(MENU.as_posix(), 1, 1, message, "locale", "see plugins: i18n")])
    while lines[start - 1].lstrip().startswith("#"):
        start -= 1
    indent = block[0][: block[0].index("-")]
    names = {"name": language.name, "site_name": wanted.site}
    copied = [f"{indent}- locale: {language.code}"]
    for line in block[1:]:
        key = re.match(rf"{indent}  (\w+):", line)
        if key and key[1] in names:
            copied.append(f"{indent}  {key[1]}: {names[key[1]]}")
        elif not key or key[1] != "default":
            copied.append(line)
    return "\n".join([*lines[:start], *copied, *lines[start:]])


def _locale(line: str) -> str:
    match = re.match(r"\s*- locale: *([\w-]+)\s*$", line)
    return match[1] if match else ""


def _block(lines: Sequence[str], code: str) -> list[str]:
    """Return the lines of a language: its first, and those that are indented further."""
    start = next((n for n, line in enumerate(lines) if _locale(line) == code), None)
    if start is None:
        return []
    depth = len(lines[start]) - len(lines[start].lstrip())
    found = [lines[start]]
    for line in lines[start + 1 :]:
        if not line.strip() or len(line) - len(line.lstrip()) <= depth:
            break
        found.append(line)
    return found


def write_strings(ui: Ui, language: Language) -> str:
    """Return a file with every interface string to write, and what it says in the fallback."""
    tree: dict = {}
    for key, leaf in ui.texts.items():
        *path, last = key.split(".")
        place = tree
        for name in path:
            place = place.setdefault(name, {})
        place[last] = leaf[language.fallback]
    head = (
        f"# The interface in {language.name}. An empty text is one to write: until then\n"
        f"# readers get the one in the comment. Keep {{names}} between braces as they are.\n"
    )
    return head + "".join(_branch(tree, "", language))


def _branch(tree: Mapping, indent: str, language: Language) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, str):
            yield f'{indent}{key}: ""  # {" ".join(value.split())}\n'
        elif _is_counted(value):
            yield f"{indent}{key}:\n"
            for form in plural_categories(language.code):
                meaning = " ".join(value.get(form, value["other"]).split())
                yield f'{indent}  {form}: ""  # {meaning}\n'
        else:
            yield f"{indent}{key}:\n"
            yield from _branch(value, f"{indent}  ", language)


def _is_counted(value: Mapping | Forms) -> bool:
    return "other" in value and all(isinstance(one, str) for one in value.values())
