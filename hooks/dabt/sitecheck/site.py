"""A built site as the rules see it: its pages, its files, its languages and its address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dabt.languages import Language
from dabt.problems import Problem, shown
from dabt.sitecheck.document import Document, Element, Text, read

NOT_FOUND = "404.html"


@dataclass(frozen=True)
class Page:
    """One HTML file. `path` is relative to the site; `key` is the same in every language.

    `written` is the language of the text itself: another one where a page is not translated yet.
    """

    path: str
    key: str
    language: Language
    document: Document
    written: str = ""

    @property
    def unlisted(self) -> bool:
        """Tell whether the page asks search engines to leave it out."""
        robots = (one for one in self.document.all("meta") if one.get("name") == "robots")
        return any("noindex" in one.get("content") for one in robots)

    @property
    def moved(self) -> bool:
        """Tell whether the page only sends its reader on to another address."""
        return any(m.get("http-equiv") == "refresh" for m in self.document.all("meta"))

    @property
    def url(self) -> str:
        """Return the address relative to the home: `fr/full/traditional/`."""
        return self.path.removesuffix("index.html")


@dataclass(frozen=True)
class Site:
    """A folder that a build wrote.

    `address` is where it is to be served (`https://host/course/`), empty when that is not known.
    `files` are all paths in it; `texts` the content of those that rules read besides pages.
    """

    folder: str
    address: str
    languages: tuple[Language, ...]
    pages: tuple[Page, ...]
    files: frozenset[str]
    texts: Mapping[str, str]

    @cached_property
    def by_path(self) -> Mapping[str, Page]:
        """Return path → page."""
        return {page.path: page for page in self.pages}

    @property
    def content_pages(self) -> tuple[Page, ...]:
        """Return the pages in their own language: not the 404, a redirect or what stands in."""
        return tuple(
            page
            for page in self.pages
            if page.path != NOT_FOUND and page.written == page.language.code and not page.moved
        )

    @property
    def standing_in(self) -> tuple[Page, ...]:
        """Return the pages that are shown in another language than that of their folder."""
        return tuple(page for page in self.pages if page.written != page.language.code)

    @property
    def default(self) -> Language:
        """Return the language served at the root."""
        return next(language for language in self.languages if language.default)

    def problem(
        self, path: str, place: Element | Text | None, message: str, code: str, mend: str
    ) -> Problem:
        """Make a problem of a file of the site; without a place it is about the whole file."""
        line, column = (place.line, place.column) if place else (1, 1)
        return Problem(f"{self.folder}/{path}", line, column, message, code, mend)


def load(folder: Path, languages: Sequence[Language], address: str = "") -> Site:
    """Read a built site. Raises OSError when the folder cannot be read."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    pages = tuple(
        _page(name, path.read_text("utf-8"), languages)
        for name, path in names.items()
        if name.endswith(".html")
    )
    texts = {
        name: path.read_text("utf-8")
        for name, path in names.items()
        if name.endswith((".css", ".xml")) or name.startswith("assets/search/")
    }
    return Site(shown(folder), address, tuple(languages), pages, frozenset(names), texts)


def _page(name: str, html: str, languages: Sequence[Language]) -> Page:
    language = language_of(name, languages)
    key = name if language.default else name.removeprefix(f"{language.code}/")
    document = read(html)
    marks = (one.get("data-written") for one in document.with_class("dabt-written"))
    return Page(name, key, language, document, next(marks, language.code))


def language_of(path: str, languages: Sequence[Language]) -> Language:
    """Return the language whose tree a path lies in."""
    first = path.split("/")[0]
    found = (one for one in languages if one.code == first and not one.default)
    return next(found, None) or next(one for one in languages if one.default)
