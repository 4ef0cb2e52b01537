"""No marker of the sources is left over in what a reader sees."""

import re
from collections.abc import Iterator

from dabt.problems import Problem
from dabt.sitecheck.document import Document, Element
from dabt.sitecheck.site import Page, Site

LEFT_OVER = {
    "a snippet": re.compile(r"-{2,}8<-{2,}"),
    "a directive": re.compile(r"^\s*:::", re.MULTILINE),
    "an attribute list": re.compile(r"\{:? ?[#.][\w-]+|\{[^{}\n]*#[\w-]+ \}"),
    "a code annotation": re.compile(r"\(\d+\)!"),
    "a template expression": re.compile(r"\{\{|\{%"),
    "a fence": re.compile(r"^\s*(```|~~~)", re.MULTILINE),
    "an admonition": re.compile(r"^\s*(!!!|\?\?\?)", re.MULTILINE),
    "a tab": re.compile(r'^\s*===\+? "', re.MULTILINE),
}
ANNOTATION = re.compile(r"\((\d+)\)!?")
NOT_TEXT = ("code", "pre", "kbd", "samp", "script", "style", "template")


def check(site: Site) -> Iterator[Problem]:
    """Look for markers outside code, and for code annotations without their explanation."""
    for page in site.pages:
        yield from _left_over(site, page)
        yield from _annotations(site, page)


def _left_over(site: Site, page: Page) -> Iterator[Problem]:
    document = page.document
    for text in document.texts:
        if any(around.tag in NOT_TEXT for around in document.ancestors(text.parent)):
            continue
        for name, pattern in LEFT_OVER.items():
            if found := pattern.search(text.content):
                message = f"{name} is left over: {_excerpt(text.content, found.start())}"
                mend = "check its indentation and the empty lines around it"
                yield site.problem(page.path, text, message, "left-over", mend)


def _excerpt(content: str, start: int) -> str:
    return " ".join(content[start : start + 40].split())


def _annotations(site: Site, page: Page) -> Iterator[Problem]:
    """A code block with n markers is followed by a list of n explanations."""
    document = page.document
    for code in document.with_class("highlight"):
        comments = (one for one in document.elements[code.index : code.end] if _is_comment(one))
        numbers = {m for one in comments for m in ANNOTATION.findall(document.text_of(one))}
        if not numbers:
            continue
        explained = _list_length(document, code)
        if explained != len(numbers):
            message = f"{len(numbers)} annotations in this code, {explained} explanations after it"
            mend = "write one numbered item for each (1)! marker, just below the block"
            yield site.problem(page.path, code, message, "annotations", mend)


def _is_comment(element: Element) -> bool:
    return element.tag == "span" and any(one.startswith("c") for one in element.tokens("class"))


def _list_length(document: Document, code: Element) -> int:
    following = document.elements[code.end] if code.end < len(document.elements) else None
    if following is None or following.tag != "ol" or following.parent != code.parent:
        return 0
    return sum(child.tag == "li" for child in document.children(following))
