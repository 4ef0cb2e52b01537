"""Every internal link leads to a page, a file and a section that exist, in its own language.

Links are those of pages and of style sheets; and a link leads to every page.
"""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlsplit

from dabt.problems import Problem
from dabt.sitecheck.address import OutsidePath, Target, file_of, resolve
from dabt.sitecheck.document import Element
from dabt.sitecheck.site import NOT_FOUND, Page, Site, language_of

ATTRIBUTES = ("href", "src", "data", "poster", "action", "xlink:href")
REFRESH = re.compile(r"url=(.+)$")
IN_CSS = re.compile(r"""url\(\s*['"]?([^'")]+)""")
REFERENCES = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "list", "headers")


def check(site: Site) -> Iterator[Problem]:
    """Check links and embedded files of all pages, and references between elements."""
    for page in site.pages:
        for element in page.document.elements:
            for link in _links(element):
                yield from _check(site, page, element, link)
            yield from _references(site, page, element)
    yield from _style_sheets(site)
    yield from _orphans(site)


def _links(element: Element) -> Iterator[str]:
    # An empty form action is the page itself; an empty href too, but nobody means that.
    for name in ATTRIBUTES:
        if name in element.attributes and (element.get(name) or name == "href"):
            yield element.get(name)
    for name in ("srcset", "imagesrcset"):
        yield from (one.split()[0] for one in element.get(name).split(",") if one.strip())
    if element.tag == "meta" and element.get("http-equiv") == "refresh":
        yield from REFRESH.findall(element.get("content"))


def _check(site: Site, page: Page, element: Element, link: str) -> Iterator[Problem]:
    if not link.strip():
        yield site.problem(page.path, element, "an empty link", "link-empty", "name its target")
        return
    try:
        target = resolve(site, page, link)
    except OutsidePath:
        message = f"'{link}' leaves the path that the site is served under"
        mend = "write a relative link"
        yield site.problem(page.path, element, message, "link-outside", mend)
        return
    if target:
        yield from _arrives(site, page, element, link, target)


def _arrives(
    site: Site, page: Page, element: Element, link: str, target: Target
) -> Iterator[Problem]:
    if page.path == NOT_FOUND and link.startswith("#"):
        file = page.path
    else:
        file = file_of(site, target.path)
    if not file:
        yield _dead(site, page, element, link, target)
    elif file in site.by_path:
        yield from _section(site, page, element, link, site.by_path[file], target.fragment)
        yield from _crossing(site, page, element, link, file)


def _dead(site: Site, page: Page, element: Element, link: str, target: Target) -> Problem:
    if file_of(site, f"{target.path}/"):
        message, mend = f"'{link}' misses its last slash: the host redirects", "add the slash"
        return site.problem(page.path, element, message, "link-slash", mend)
    message = f"'{link}' leads to nothing"
    mend = "write the link to the .md file, relative to this one, or mend the template"
    return site.problem(page.path, element, message, "link-dead", mend)


def _section(
    site: Site, page: Page, element: Element, link: str, target: Page, fragment: str
) -> Iterator[Problem]:
    # A text fragment (#:~:text=) names words, not an element.
    if fragment in ("", "top") or fragment.startswith(":~:"):
        return
    if fragment not in target.document.ids:
        message = f"'{link}': no element of {target.path} has the id '{unquote(fragment)}'"
        mend = "give the heading that id, { #like-this }, or mend the link"
        yield site.problem(page.path, element, message, "link-fragment", mend)


def _crossing(site: Site, page: Page, element: Element, link: str, file: str) -> Iterator[Problem]:
    """A relative link can fall into the other language: only what names it with hreflang may."""
    there = language_of(file, site.languages)
    if page.path == NOT_FOUND or there == page.language or not _is_followed(element):
        return
    if element.get("hreflang") != there.code:
        message = f"'{link}' leads from '{page.language.code}' into '{there.code}'"
        mend = "link to the page of the same language; the switcher says hreflang"
        yield site.problem(page.path, element, message, "link-crossing", mend)


def _is_followed(element: Element) -> bool:
    if element.tag == "link":
        return bool({"prev", "next"} & set(element.tokens("rel")))
    return element.tag in ("a", "area", "form")


def _style_sheets(site: Site) -> Iterator[Problem]:
    """A picture or a font that a style sheet asks for and nobody sends."""
    for name, css in site.texts.items():
        for link in IN_CSS.findall(css) if name.endswith(".css") else ():
            whole = urlsplit(link.strip())
            file = normpath(join(dirname(name), unquote(whole.path)))
            if whole.path and not (whole.scheme or whole.netloc) and file not in site.files:
                message, mend = f"'{link}' leads to nothing", "mend it in docs/assets"
                yield site.problem(name, None, message, "link-dead", mend)


def _orphans(site: Site) -> Iterator[Problem]:
    """A page that no other page of its language leads to is found by nobody."""
    reached = {file for page in site.pages for file in _followed(site, page)}
    for page in site.content_pages:
        if page.path not in reached and page.url not in ("", f"{page.language.code}/"):
            message, mend = "no page leads here", "name it in nav (mkdocs.yml), or link to it"
            yield site.problem(page.path, None, message, "orphan", mend)


def _followed(site: Site, page: Page) -> Iterator[str]:
    for link in page.document.all("a"):
        try:
            target = resolve(site, page, link.get("href"))
        except OutsidePath:
            continue
        file = file_of(site, target.path) if target else ""
        if file and file != page.path and language_of(file, site.languages) == page.language:
            yield file


def _references(site: Site, page: Page, element: Element) -> Iterator[Problem]:
    for name in REFERENCES:
        for word in element.tokens(name):
            if word not in page.document.ids:
                message = f"{name}='{word}' names no element of the page"
                yield site.problem(page.path, element, message, "reference", "mend the id")
