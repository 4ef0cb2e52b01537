"""Every page and every foreign run says its language and its direction."""

import re
from collections.abc import Iterator

from dabt.languages import Language, direction
from dabt.problems import Problem
from dabt.sitecheck.document import Document, Text
from dabt.sitecheck.site import NOT_FOUND, Page, Site

SHOWN = 4
ARABIC = re.compile("[\u0620-\u064a]")
CODE = ("code", "pre", "kbd", "samp", "script", "style", "template")


def check(site: Site) -> Iterator[Problem]:
    """Check the language of pages, of the parts of the 404 and of Arabic runs elsewhere."""
    for page in site.pages:
        yield from _root(site, page)
        if page.language.direction == "ltr":
            yield from _arabic_runs(site, page)
    if NOT_FOUND in site.by_path:
        yield from _parts(site, site.by_path[NOT_FOUND])


def _root(site: Site, page: Page) -> Iterator[Problem]:
    html = next(page.document.all("html"), None)
    body = next(page.document.all("body"), None)
    wanted = page.language
    if not html or html.get("lang") != wanted.code:
        message = f"lang is '{html.get('lang') if html else ''}' on <html>, not '{wanted.code}'"
        yield site.problem(page.path, html, message, "page-language", "see overrides/main.html")
    found = {one.get("dir") for one in (html, body) if one and one.get("dir")}
    if found != {wanted.direction}:
        message = f"dir is {' and '.join(sorted(found)) or 'missing'}, not '{wanted.direction}'"
        yield site.problem(page.path, body, message, "page-direction", "see overrides/main.html")


def _arabic_runs(site: Site, page: Page) -> Iterator[Problem]:
    """A page left in the wrong language has hundreds of such runs: a few tell as much."""
    runs = [t for t in page.document.texts if ARABIC.search(t.content)]
    unmarked = [text for text in runs if not _is_marked(page.document, text)]
    for number, text in enumerate(unmarked[:SHOWN], 1):
        excerpt = " ".join(text.content.split())[:40]
        message = f"Arabic text without lang ({number} of {len(unmarked)}): {excerpt}"
        mend = 'write <span lang="ar" dir="rtl">…</span>'
        yield site.problem(page.path, text, message, "run-language", mend)


def _is_marked(document: Document, text: Text) -> bool:
    """Tell whether the nearest language has Arabic letters, or the text is code or in the head."""
    for around in document.ancestors(text.parent):
        if around.tag in CODE or around.tag == "head":
            return True
        if "lang" in around.attributes:
            return direction(around.get("lang")) == "rtl"
    return False


def _parts(site: Site, page: Page) -> Iterator[Problem]:
    for language in (one for one in site.languages if not one.fallback):
        if not _speaks(page, language):
            message = f"no part in '{language.code}' with its dir"
            mend = (
                f'add <… lang="{language.code}" dir="{language.direction}"> to overrides/404.html'
            )
            yield site.problem(page.path, None, message, "not-found-language", mend)


def _speaks(page: Page, language: Language) -> bool:
    main = next(page.document.all("main", "article"), None)
    return main is not None and any(
        main.holds(one) and (one.get("lang"), one.get("dir")) == (language.code, language.direction)
        for one in page.document.elements
    )
