"""The same pages in every language, built of the same parts: only the words differ.

A growing language may show a page in another one. A section that says itself that it lags behind
another language, or where one is missing, is not compared: whoever mends one language need not know
the other.
"""

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from dabt.problems import Problem
from dabt.sitecheck.document import Document, Element
from dabt.sitecheck.site import Page, Site

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
Part = tuple[str, Element]


def check(site: Site) -> Iterator[Problem]:
    """Compare each page with its version in the default language."""
    pages = {(page.language.code, page.key): page for page in site.content_pages}
    for key in sorted({page.key for page in site.content_pages}):
        first = pages.get((site.default.code, key))
        for language in site.languages:
            other = pages.get((language.code, key))
            if other is None and language.fallback and f"{language.code}/{key}" in site.by_path:
                continue
            if other is None or first is None:
                yield from _missing(site, other or first, language.code, key)
            elif other is not first:
                yield from _compare(site, first, other)


def _missing(site: Site, page: Page | None, code: str, key: str) -> Iterator[Problem]:
    if page is None or page.language.code == code:
        return
    message = f"the page '{key}' does not exist in '{code}'"
    yield site.problem(page.path, None, message, "parity-pages", "add it, or delete this one")


def _compare(site: Site, first: Page, other: Page) -> Iterator[Problem]:
    late = _late_sections(first.document) | _late_sections(other.document)
    for code, name, parts in PARTS:
        before, after = (_kept(page.document, parts, late) for page in (first, other))
        matcher = SequenceMatcher(None, [p[0] for p in before], [p[0] for p in after], False)
        for kind, start, stop, begin, end in matcher.get_opcodes():
            if kind == "equal":
                continue
            there, here = _names(before[start:stop]), _names(after[begin:end])
            place = after[min(begin, len(after) - 1)][1] if after else None
            message = f"{name}: {here} here, {there} in {first.path}"
            mend = "make the two versions of the page the same in this"
            yield site.problem(other.path, place, message, code, mend)


def _late_sections(document: Document) -> frozenset[str]:
    return frozenset(one.get("data-section") for one in document.with_class("dabt-lag"))


def _kept(document: Document, parts: Callable[[Document], list[Part]], late: frozenset[str]):
    """Return the parts of a page that stand in no late section, heading included."""
    if not late:
        return parts(document)
    starts = [(one.index, one.get("id")) for one in _content(document, *HEADINGS)]
    return [
        part
        for part in parts(document)
        if next((name for at, name in reversed(starts) if at <= part[1].index), "") not in late
    ]


def _names(parts: list[Part]) -> str:
    names = [" ".join(part[0].split())[:60] for part in parts[:4]]
    return ", ".join(names) + (" …" if len(parts) > 4 else "") if parts else "nothing"


def _headings(document: Document) -> list[Part]:
    """Those of a glossary last, by id: each language has them in the order of its alphabet."""
    glossaries = list(document.with_class("dabt-glossary"))
    found = [(f"{one.tag}#{one.get('id')}", one) for one in _content(document, *HEADINGS)]
    terms = [part for part in found if any(around.holds(part[1]) for around in glossaries)]
    others = [part for part in found if part not in terms]
    return [*others, *sorted(terms, key=lambda part: part[0])]


def _code(document: Document) -> list[Part]:
    return [(document.text_of(one), one) for one in _content(document, "pre")]


def _figures(document: Document) -> list[Part]:
    return [(one.get("id") or "figure", one) for one in _content(document, "figure")]


def _tables(document: Document) -> list[Part]:
    tables = _content(document, "table")
    return [(f"table of {_count(document, one, 'tr')} rows", one) for one in tables]


def _questions(document: Document) -> list[Part]:
    """The answer key too: a translation must not change what is right."""
    found = [one for one in document.elements if "data-question" in one.attributes]
    return [(_key(document, one), one) for one in found]


def _key(document: Document, question: Element) -> str:
    inside = document.elements[question.index : question.end]
    options = [
        f"{one.get('data-option')}{'!' if 'data-right' in one.attributes else ''}"
        for one in inside
        if "data-option" in one.attributes
    ]
    values = [one.get("data-value") for one in inside if "data-value" in one.attributes]
    return f"{question.get('data-question')} ({' '.join(options + values)})"


def _count(document: Document, around: Element, tag: str) -> int:
    return sum(one.tag == tag for one in document.elements[around.index : around.end])


def _content(document: Document, *tags: str) -> Iterator[Element]:
    """Yield elements of the page's own text, not of the menus around it."""
    articles = [
        one for one in document.all("article") if "md-content__inner" in one.tokens("class")
    ]
    return (one for one in document.all(*tags) if any(around.holds(one) for around in articles))


PARTS = (
    ("parity-headings", "headings", _headings),
    ("parity-code", "code blocks", _code),
    ("parity-figures", "figures", _figures),
    ("parity-tables", "tables", _tables),
    ("parity-questions", "questions", _questions),
)
