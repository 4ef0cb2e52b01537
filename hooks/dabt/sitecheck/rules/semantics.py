"""What screen readers and keyboards need, and automatic tools such as axe do not see."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from dabt.problems import Problem
from dabt.sitecheck.document import Document, Element
from dabt.sitecheck.site import Page, Site

FILE_NAME = re.compile(r"\.(png|jpe?g|svg|webp|gif)$", re.IGNORECASE)
EMPTY_WORDS = {"image", "figure", "picture", "photo", "صورة", "شكل"}
NAMES = ("aria-label", "aria-labelledby")


def check(site: Site) -> Iterator[Problem]:
    """Check ids, headings, titles, pictures, tables, groups and handlers of every page."""
    for page in site.pages:
        for rule in RULES:
            for place, message, code, mend in rule(page.document):
                yield site.problem(page.path, place, message, code, mend)
    yield from _titles(site)


Finding = tuple[Element | None, str, str, str]


def _ids(document: Document) -> Iterator[Finding]:
    counts = Counter(one.get("id") for one in document.elements if one.get("id"))
    for element in document.elements:
        if counts.get(element.get("id"), 0) > 1:
            yield (
                element,
                f"the id '{element.get('id')}' is there twice",
                "duplicate-id",
                "rename it",
            )


def _headings(document: Document) -> Iterator[Finding]:
    headings = [one for one in document.elements if re.fullmatch("h[1-6]", one.tag)]
    firsts = [one for one in headings if one.tag == "h1"]
    if len(firsts) != 1:
        place = firsts[1] if firsts else None
        yield place, f"{len(firsts)} headings of level 1", "heading-first", "have exactly one"
    for before, after in pairwise(headings):
        if int(after.tag[1]) > int(before.tag[1]) + 1:
            message = f"{after.tag} follows {before.tag}: a level is skipped"
            yield after, message, "heading-level", "use the next level"


def _pictures(document: Document) -> Iterator[Finding]:
    for image in document.all("img"):
        text = image.get("alt").strip()
        if "alt" not in image.attributes:
            yield (
                image,
                "an image without alt",
                "alt",
                "describe it, or alt='' when it adds nothing",
            )
        elif FILE_NAME.search(text) or text.lower() in EMPTY_WORDS:
            yield image, f"alt='{text}' describes nothing", "alt", "say what the picture shows"
    for figure in document.all("figure"):
        for svg in document.children(figure):
            if svg.tag == "svg" and not _is_named(document, svg):
                message = "a drawing without a name"
                mend = "give it role='img' and aria-labelledby, or aria-hidden='true'"
                yield svg, message, "svg-name", mend


def _is_named(document: Document, svg: Element) -> bool:
    hidden = svg.get("aria-hidden") == "true"
    titled = any(child.tag == "title" for child in document.children(svg))
    return hidden or (svg.get("role") == "img" and (titled or any(svg.get(n) for n in NAMES)))


def _tables(document: Document) -> Iterator[Finding]:
    for table in document.all("table"):
        inside = document.elements[table.index : table.end]
        # Line numbers of code are laid out as a table; they are no data.
        if "highlighttable" not in table.tokens("class") and not any(e.tag == "th" for e in inside):
            yield (
                table,
                "a table without header cells",
                "table-headers",
                "write its first row as th",
            )
        for header in (e for e in inside if e.tag == "th" and not e.get("scope")):
            message = "a header cell that does not say whether it heads a row or a column"
            yield header, message, "table-scope", 'write scope="col" or scope="row"'


def _groups(document: Document) -> Iterator[Finding]:
    for fieldset in document.all("fieldset"):
        first = next(document.children(fieldset), None)
        if first is None or first.tag != "legend":
            message = "a fieldset whose first element is not its legend"
            yield fieldset, message, "legend", "begin it with <legend>"


def _handlers(document: Document) -> Iterator[Finding]:
    for element in document.elements:
        for name in element.attributes:
            if name.startswith("on"):
                message = f"<{element.tag} {name}>: a keyboard may not reach it"
                yield element, message, "handler", "use a button, and a listener in a script"
        if element.get("tabindex").isdigit() and int(element.get("tabindex")) > 0:
            message = "a positive tabindex breaks the order of the Tab key"
            yield element, message, "tabindex", "use 0, or move the element"


def _titles(site: Site) -> Iterator[Problem]:
    titles = {page.path: _title(page) for page in site.pages if not page.moved}
    counts = Counter((site.by_path[path].language.code, text) for path, text in titles.items())
    for path, text in titles.items():
        if not text:
            yield site.problem(path, None, "a page without title", "title", "write one")
        elif counts[site.by_path[path].language.code, text] > 1:
            message = f"another page has the title '{text}' too"
            yield site.problem(path, None, message, "title", "give each page its own")


def _title(page: Page) -> str:
    title = next(page.document.all("title"), None)
    return " ".join(page.document.text_of(title).split()) if title else ""


RULES = (_ids, _headings, _pictures, _tables, _groups, _handlers)
