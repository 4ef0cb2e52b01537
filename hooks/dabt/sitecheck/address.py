"""Where a link of a page leads, seen from the site."""

from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from dabt.sitecheck.site import NOT_FOUND, Page, Site

# Stands for the host while it is not known; reserved by RFC 2606, so no real link has it.
UNKNOWN_HOST = "https://site.invalid/"


@dataclass(frozen=True)
class Target:
    """A place in the site: `path` relative to the home (`fr/about/`), and the #fragment."""

    path: str
    fragment: str


class OutsidePath(Exception):
    """A link to the site's own host that leaves the path the site is served under."""


def resolve(site: Site, page: Page, link: str) -> Target | None:
    """Return where a link leads; None when it leaves the site.

    Raises OutsidePath when it stays on the host, but not under the site's path.
    """
    home = site.address or UNKNOWN_HOST
    here = home + ("" if page.path == NOT_FOUND else page.url)
    whole = urlsplit(urljoin(here, link.strip()))
    base = urlsplit(home)
    if (whole.scheme, whole.netloc) != (base.scheme, base.netloc):
        return None
    if not whole.path.startswith(base.path):
        raise OutsidePath
    return Target(unquote(whole.path.removeprefix(base.path)), unquote(whole.fragment))


def is_foreign(site: Site, link: str) -> bool:
    """Tell whether loading this address would ask another host."""
    whole = urlsplit(link.strip())
    if whole.scheme in ("data", "blob", "about"):
        return False
    own = bool(site.address) and link.startswith(site.address)
    return bool(whole.netloc or whole.scheme) and not own


def file_of(site: Site, path: str) -> str:
    """Return the file that a host sends for a path; empty when there is none."""
    name = f"{path}index.html" if path == "" or path.endswith("/") else path
    return name if name in site.files else ""
