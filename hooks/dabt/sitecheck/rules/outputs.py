"""The search index and the sitemap are there, and know every page."""

import json
import re
from collections.abc import Iterator

from dabt.problems import Problem
from dabt.sitecheck.address import file_of
from dabt.sitecheck.site import Page, Site

INDEX = "search/search_index.json"
SITEMAP = "sitemap.xml"
LOCATION = re.compile(r"<loc>\s*([^<\s]+)\s*</loc>")


def check(site: Site) -> Iterator[Problem]:
    """Check both; a sitemap needs an address, so without one it is not asked for."""
    yield from _check_search(site)
    if site.address:
        yield from _check_sitemap(site)


def _check_search(site: Site) -> Iterator[Problem]:
    indexes = [name for name in site.texts if name.endswith(INDEX)]
    if INDEX not in indexes:
        mend = "enable the search plugin"
        yield site.problem(INDEX, None, "there is no search index", "search", mend)
    found: set[str] = set()
    for name in indexes:
        for location in _locations(site.texts[name]):
            path, _, fragment = (name.removesuffix(INDEX) + location).partition("#")
            file = file_of(site, path)
            found.add(file)
            page = site.by_path.get(file)
            if page is None or (fragment and fragment not in page.document.ids):
                message = f"the search leads to '{location}', which does not exist"
                yield site.problem(name, None, message, "search", "give the heading its id")
    yield from _missing(site, site.content_pages, found, "the search", "search")
    yield from _needless(site, found, "the search", "search")


def _locations(index: str) -> list[str]:
    return [entry["location"].removeprefix("./") for entry in json.loads(index)["docs"]]


def _check_sitemap(site: Site) -> Iterator[Problem]:
    maps = [name for name in site.texts if name.endswith(SITEMAP)]
    addresses = [one for name in maps for one in LOCATION.findall(site.texts[name])]
    found = set()
    for address in addresses:
        inside = address.startswith(site.address)
        file = file_of(site, address.removeprefix(site.address)) if inside else ""
        # A sitemap of sitemaps names files of its own kind.
        if not file:
            message = f"the sitemap names '{address}', which does not exist"
            yield site.problem(SITEMAP, None, message, "sitemap", "check site_url")
        found.add(file)
    yield from _missing(site, site.content_pages, found, "the sitemap", "sitemap")
    yield from _needless(site, found, "the sitemap", "sitemap")


def _needless(site: Site, found: set[str], name: str, code: str) -> Iterator[Problem]:
    for page in site.standing_in:
        if page.path in found:
            message = f"{name} knows this page, which is written in '{page.written}'"
            yield site.problem(page.path, None, message, f"{code}-twice", "see site_fallback.py")


def _missing(
    site: Site, pages: tuple[Page, ...], found: set[str], name: str, code: str
) -> Iterator[Problem]:
    for page in pages:
        if page.path not in found:
            message = f"{name} does not know this page"
            yield site.problem(page.path, None, message, f"{code}-missing", "list it")
