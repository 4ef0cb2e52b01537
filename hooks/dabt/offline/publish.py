"""Adds to a built site what reading without a network needs, in the one order that works."""

import re
from collections.abc import Sequence
from pathlib import Path

from dabt.languages import Language, localise_number
from dabt.offline.archive import NAME, make_archive
from dabt.offline.listing import Listing, make_listing
from dabt.offline.stamps import content_hash, stamp_site

WORKER = Path(__file__).with_name("worker.js")
LIST_HERE = "/* the list */ null"
LANGUAGE = re.compile(r'<html lang="([\w-]+)"')
ARCHIVE = re.compile(r'<p class="dabt-offline__archive" hidden>.*?</p>', re.DOTALL)


def publish(site: Path, languages: Sequence[Language]) -> Listing:
    """Write the archive, stamp the addresses, write the worker; return what can be kept.

    The archive first: its pages are not stamped. The worker last: it holds the hash of all others.
    """
    archive = make_archive(site)
    target = site / NAME
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(archive)
    for page in site.glob("**/offline/index.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        html = show_archive(page.read_text("utf-8"), f"{up}{NAME}", len(archive))
        page.write_text(html, "utf-8")
    stamp_site(site)
    listing = make_listing(site, languages)
    (site / "sw.js").write_text(make_worker(listing), "utf-8")
    return listing


def show_archive(html: str, address: str, size: int) -> str:
    """Return a page with the link to the archive shown, its size in 10⁶ bytes beside it."""
    language = LANGUAGE.search(html)
    megabytes = localise_number(f"{size / 1e6:.1f}", language[1] if language else "")

    def shown(match: re.Match[str]) -> str:
        paragraph = match[0].replace(" hidden>", ">", 1)
        return paragraph.replace("{address}", address).replace("{megabytes}", megabytes)

    return ARCHIVE.sub(shown, html)


def make_worker(listing: Listing) -> str:
    """Return the worker of one version of the site: another one whenever a file changes."""
    source = WORKER.read_text("utf-8")
    code = source.replace(LIST_HERE, listing.as_json())
    return code.replace('"the version"', f'"{content_hash(code.encode())}"')
