"""The search's index of each language and the sitemap are there, and know every page."""

import json
import re
from collections.abc import Iterator

from dabt.problems import Problem
from dabt.sitecheck.address import file_of
from dabt.sitecheck.site import Page, Site

INDEX = re.compile(r"assets/search/([a-z-]+)\.[0-9a-f]+\.json")
SITEMAP = "sitemap.xml"
LOCATION = re.compile(r"<loc>\s*([^<\s]+)\s*</loc>")


def check(site: Site) -> Iterator[Problem]:
    """Check both; a sitemap needs an address, so without one it is not asked for."""
    yield from _check_search(site)
    if site.address:
        yield from _check_sitemap(site)


def _check_search(site: Site) -> Iterator[Problem]:
    indexes = {name: match[1] for name in site.texts if (match := INDEX.fullmatch(name))}
    mend = "see that hooks/site_search.py is among the hooks"
    for language in site.languages:
        wanted = f"assets/search/{language.code}.*.json"
        if language.code not in indexes.values():
            yield site.problem(wanted, None, "there is no search index", "search", mend)
    found: set[str] = set()
    for name, language in indexes.items():
        for url, _, _, text, sections in json.loads(site.texts[name])["pages"]:
            page = site.by_path.get(file_of(site, url))
            found.add(file_of(site, url))
            problems = _check_entry(site, page, language, text, [one[0] for one in sections])
            for message in problems:
                yield site.problem(name, None, f"'{url}': {message}", "search", mend)
    yield from _missing(site, site.content_pages, found, "the search", "search")
    yield from _needless(site, found, "the search", "search")


def _check_entry(
    site: Site, page: Page | None, language: str, text: str, sections: list[str]
) -> Iterator[str]:
    """What is wrong with what an index says of a page."""
    if page is None:
        yield "the search leads to this page, which does not exist"
        return
    if page.language.code != language:
        yield f"a page in '{page.language.code}' is in the index of '{language}'"
    if f"assets/search/{text}" not in site.files:
        yield f"the text of its excerpts, '{text}', does not exist"
    for section in sections:
        if section and section not in page.document.ids:
            yield f"the search leads to '#{section}', which does not exist"


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
    for page in site.content_pages:
        if page.unlisted and page.path in found:
            message = f"{name} knows this page, which is to stay out of it"
            mend = "see what reads 'unlisted' in hooks/, or take it out of the front matter"
            yield site.problem(page.path, None, message, f"{code}-unlisted", mend)


def _missing(
    site: Site, pages: tuple[Page, ...], found: set[str], name: str, code: str
) -> Iterator[Problem]:
    for page in pages:
        if page.path not in found and not page.unlisted:
            message = f"{name} does not know this page"
            yield site.problem(page.path, None, message, f"{code}-missing", "list it")
