"""The Markdown pages of the course: their text, their sections, what a directive refers to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dabt.directives import outside_code
from dabt.languages import Language, fallbacks
from dabt.problems import shown

HEADING = re.compile(
    r"(?P<marks>#{1,6})\s+(?P<title>.*?)\s*(?:\{(?P<attributes>[^{}]*)\})?\s*#*\s*$"
)
SECTION_ID = re.compile(r"#([\w-]+)")


@dataclass(frozen=True)
class Page:
    """A Markdown source. `path` is its place in the language's tree: `full/traditional.md`."""

    file: str
    language: str
    path: str
    text: str


def read_pages(docs: Path, languages: Sequence[Language]) -> Iterator[Page]:
    """Every page of every language, in the order of names."""
    for language in languages:
        folder = docs / language.code
        for path in sorted(folder.rglob("*.md")):
            text = path.read_text(encoding="utf-8-sig")
            yield Page(shown(path), language.code, path.relative_to(folder).as_posix(), text)


def shown_elsewhere(known: Sequence[Page], languages: Sequence[Language]) -> Iterator[Page]:
    """The pages that a growing language may lack, or lack a part of, in the one shown instead."""
    by_place = {(page.language, page.path): page for page in known}
    paths = sorted({page.path for page in known})
    for language in (one for one in languages if one.fallback):
        for path in paths:
            chain = (by_place.get((code, path)) for code in fallbacks(language.code, languages))
            page = next((one for one in chain if one), None)
            if page:
                yield replace(page, language=language.code)


def path_in_tree(path: Path, docs: Path) -> str:
    """The place of a source in its language's tree: `docs/fr/full/x.md` → `full/x.md`."""
    inside = path.relative_to(docs).parts
    return "/".join(inside[1:] or inside)


def section_titles(text: str) -> dict[str, str]:
    """The titles of a page by section id; the title of the page itself by ``.

    Only explicit ids (`## Titre { #id }`) are known: others depend on the language.
    """
    titles: dict[str, str] = {}
    for _, line in outside_code(text.split("\n")):
        heading = HEADING.match(line)
        if not heading:
            continue
        if len(heading["marks"]) == 1:
            titles.setdefault("", heading["title"])
        name = SECTION_ID.search(heading["attributes"] or "")
        if name:
            titles.setdefault(name[1], heading["title"])
    return titles
