"""A reader's browser asks nobody but the site: no fonts, scripts or pictures of third parties."""

import re
from collections.abc import Iterator

from dabt.problems import Problem
from dabt.sitecheck.address import is_foreign
from dabt.sitecheck.document import Element
from dabt.sitecheck.site import Page, Site

LOADED = {
    "src": ("script", "img", "source", "iframe", "video", "audio", "embed", "track", "input"),
    "href": ("use", "image"),
    "xlink:href": ("use", "image"),
    "data": ("object",),
    "poster": ("video",),
    "ping": ("a",),
}
# What a <link> of these kinds names is fetched, or its host is called.
LINKS = {"stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch"}
LINKS |= {"icon", "apple-touch-icon", "manifest", "shortcut", "mask-icon"}
IN_CSS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
MEND = "keep a copy in docs/assets"


def check(site: Site) -> Iterator[Problem]:
    """Check pages, inline styles and style sheets."""
    for page in site.pages:
        for element in page.document.elements:
            for address in _loads(element, page):
                if is_foreign(site, address):
                    yield _problem(site, page.path, element, address)
    for name, css in site.texts.items():
        if name.endswith(".css"):
            for address in _addresses(css):
                if is_foreign(site, address):
                    yield _problem(site, name, None, address)


def _problem(site: Site, path: str, element: Element | None, address: str) -> Problem:
    message = f"loads from another host: {address[:80]}"
    return site.problem(path, element, message, "foreign-request", MEND)


def _loads(element: Element, page: Page) -> Iterator[str]:
    for name, tags in LOADED.items():
        if element.tag in tags and element.get(name):
            yield element.get(name)
    if element.tag == "link" and LINKS & set(element.get("rel").lower().split()):
        yield element.get("href")
    if srcset := element.get("srcset"):
        yield from (one.split()[0] for one in srcset.split(",") if one.strip())
    yield from _addresses(element.get("style"))
    if element.tag == "style":
        yield from _addresses(page.document.text_of(element))


def _addresses(css: str) -> list[str]:
    return [url or name for url, name in IN_CSS.findall(css)]
