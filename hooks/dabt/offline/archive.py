"""The whole site as one archive that opens from disk: `dabt/index.html`.

A browser opens no folder by its index.html, loads no module and fetches nothing from a disk. So
links name the file, and what cannot work there is taken out: search, worker, manifest.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from dabt.offline.listing import LEFT_OUT

NAME = "download/dabt.zip"
ROOT = "dabt"
# The first date that the format has: the same site gives the same archive on any day.
DATE = (1980, 1, 1, 0, 0, 0)
LINK = re.compile(r'(?P<start>\s(?:href|src|data-review)=")(?P<link>[^"]*)"')
ABSENT = (
    re.compile(r'<script type="module"[^>]*></script>\s*'),
    re.compile(r'<link\b[^>]*\brel="(?:manifest|preload)"[^>]*>\s*'),
    re.compile(r"<button\b[^>]*\bdabt-search-button\b.*?</button>\s*", re.DOTALL),
    re.compile(r'<dialog\b[^>]*\bclass="dabt-search".*?</dialog>\s*', re.DOTALL),
    re.compile(r'<script\b[^>]*\bsrc="[^"]*assets/(?:terms|offline-page)\.js"[^>]*></script>\s*'),
)
FETCHED = re.compile(r' data-(?:worker|news|reload|index|version|definitions)="[^"]*"')
PANEL = re.compile(
    r'<section class="dabt-offline".*?(?P<here><p class="dabt-offline__here") hidden'
    r"(?P<text>.*?</p>).*?</section>",
    re.DOTALL,
)
# Sends on who comes by an old address; nobody opens a file by one.
REDIRECT = '<meta http-equiv="refresh"'
NEEDLESS = re.compile(r".*\.webmanifest|assets/search/.*|assets/(terms|offline-page)\.js")


def make_archive(site: Path) -> bytes:
    """Return the archive of a site whose addresses are not stamped yet."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in _contents(site):
            entry = zipfile.ZipInfo(f"{ROOT}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def _contents(site: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if path.is_file() and not LEFT_OUT.fullmatch(name) and not NEEDLESS.fullmatch(name):
            content = path.read_bytes()
            if name.endswith(".html"):
                html = content.decode("utf-8")
                if REDIRECT in html:
                    continue
                content = for_disk(html).encode("utf-8")
            yield name, content


def for_disk(html: str) -> str:
    """Return a page as it works when opened from a disk."""
    for part in (*ABSENT, FETCHED):
        html = part.sub("", html)
    html = PANEL.sub(r"\g<here>\g<text>", html)
    return LINK.sub(lambda match: f'{match["start"]}{to_file(match["link"])}"', html)


def to_file(link: str) -> str:
    """Return a relative link that names a folder so that it names the file in it."""
    if re.match(r"[a-zA-Z][\w+.-]*:|//|#|$", link):
        return link
    path, mark, rest = re.match(r"([^?#]*)([?#]?)(.*)", link, re.DOTALL).groups()
    if path and (path.endswith("/") or path.rpartition("/")[2] in (".", "..")):
        path = f"{path.rstrip('/')}/index.html"
    return f"{path}{mark}{rest}"
