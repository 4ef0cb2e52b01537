"""Search engines are told of each page in each language, of its own address and of its picture."""

from collections.abc import Iterator

from dabt.problems import Problem
from dabt.sitecheck.address import OutsidePath, file_of, resolve
from dabt.sitecheck.document import Element
from dabt.sitecheck.site import Page, Site

WHERE = "see overrides/main.html"
DEFAULT = "x-default"


def check(site: Site) -> Iterator[Problem]:
    """Check hreflang, canonical and og:image; without an address only that none is half there."""
    for page in site.standing_in:
        yield from _check_languages(site, page)
        yield from _check_canonical(site, page)
    for page in site.content_pages:
        yield from _check_languages(site, page)
        yield from _check_canonical(site, page)
        yield from _check_picture(site, page)


def _check_languages(site: Site, page: Page) -> Iterator[Problem]:
    found = _alternates(page)
    wanted = _wanted(site, page) if site.address else {}
    for name in sorted(wanted.keys() | found.keys()):
        address, link = wanted.get(name, ""), found.get(name)
        if (link.get("href") if link else "") != address:
            there = f"'{link.get('href')}'" if link else "missing"
            message = f"hreflang {name} is {there}, not {f'{address!r}' if address else 'absent'}"
            yield site.problem(page.path, link, message, "hreflang", WHERE)


def _alternates(page: Page) -> dict[str, Element]:
    links = page.document.all("link")
    return {
        link.get("hreflang"): link
        for link in links
        if "alternate" in link.tokens("rel") and link.get("hreflang")
    }


def _wanted(site: Site, page: Page) -> dict[str, str]:
    """Return hreflang → address of all versions of a page; reciprocal, since each gets the same."""
    versions = {p.language.code: p for p in site.content_pages if p.key == page.key}
    if len(versions) < 2 or page not in versions.values():
        return {}
    addresses = {code: site.address + version.url for code, version in versions.items()}
    if site.default.code in addresses:
        addresses[DEFAULT] = addresses[site.default.code]
    return addresses


def _check_canonical(site: Site, page: Page) -> Iterator[Problem]:
    links = [link for link in page.document.all("link") if "canonical" in link.tokens("rel")]
    found = [link.get("href") for link in links]
    wanted = [site.address + _original(site, page).url] if site.address else []
    if found != wanted:
        message = f"canonical is {found or 'missing'}, not {wanted or 'absent'}"
        yield site.problem(page.path, links[0] if links else None, message, "canonical", WHERE)


def _original(site: Site, page: Page) -> Page:
    """Return the page itself, or the one that it stands in for."""
    same = (p for p in site.content_pages if (p.language.code, p.key) == (page.written, page.key))
    return next(same, page)


def _check_picture(site: Site, page: Page) -> Iterator[Problem]:
    metas = [m for m in page.document.all("meta") if m.get("property") == "og:image"]
    if site.address and not metas:
        message, mend = "no og:image: shared links show no picture", WHERE
        yield site.problem(page.path, None, message, "og-image", mend)
    for meta in metas:
        address = meta.get("content")
        if not (site.address and address.startswith(site.address)):
            message = f"og:image '{address}' is not a whole address of the site"
            yield site.problem(page.path, meta, message, "og-image", WHERE)
        elif not _exists(site, page, address):
            message, mend = f"og:image '{address}' does not exist", "run tools/social_cards.py"
            yield site.problem(page.path, meta, message, "og-image", mend)


def _exists(site: Site, page: Page, address: str) -> bool:
    try:
        target = resolve(site, page, address)
    except OutsidePath:
        return False
    return target is not None and bool(file_of(site, target.path))
