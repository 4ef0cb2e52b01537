"""The list of what can be kept: the address, hash, sizes and language of each file of a site."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dabt.languages import Language
from dabt.offline.stamps import IMPORT, content_hash, loaded_by, stamp_of, without_stamps

# Nothing of the course needs them: they are for search engines, shared links and debuggers, or the
# theme brings them for functions that are not used here.
LEFT_OUT = re.compile(
    r"404\.html|sw\.js|[\w-]+\.xml(\.gz)?|\w+/[\w-]+\.xml|robots\.txt|download/.*|.*\.map"
    r"|assets/(javascripts/(lunr|workers)|social|images|icons)/.*|assets/apple-touch-icon\.png"
)
PACKED = (".html", ".css", ".js", ".json", ".svg", ".txt", ".ipynb", ".webmanifest", ".py")
SEARCH_VERSION = re.compile(r'data-version="(\w+)"')
SEARCH_CODE = re.compile(r"assets/search/\w+\.(js|css)")
OFFLINE = "offline/"


@dataclass(frozen=True)
class Kept:
    """A file that can be kept. `sent` and `stored` are bytes: on the line (gzip), and unpacked.

    `language` is empty where all languages share it; `needs` are the addresses that a page loads.
    """

    address: str
    hash: str
    sent: int
    stored: int
    language: str = ""
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Listing:
    """All that can be kept, and the page of each language that says so."""

    files: tuple[Kept, ...]
    offline: Mapping[str, str]

    def as_json(self) -> str:
        """Return it as the worker reads it: each set of needs once, named by its number."""
        sets = sorted({one.needs for one in self.files})
        files = {
            one.address: [one.hash, one.sent, one.stored, one.language, sets.index(one.needs)]
            for one in self.files
        }
        value = {"files": files, "sets": sets, "offline": dict(self.offline)}
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def make_listing(site: Path, languages: Sequence[Language]) -> Listing:
    """Return the list of a stamped site."""
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file())
    kept = tuple(_read_all(site, [one for one in names if not LEFT_OUT.fullmatch(one)], languages))
    known = {one.address for one in kept}
    pages = {one.code: f"{'' if one.default else f'{one.code}/'}{OFFLINE}" for one in languages}
    return Listing(kept, {code: page for code, page in pages.items() if page in known})


def _read_all(site: Path, names: list[str], languages: Sequence[Language]) -> Iterator[Kept]:
    pages = [name for name in names if name.endswith(".html")]
    needs = {name: loaded_by((site / name).read_text("utf-8")) for name in pages}
    stamped = {address.partition("?")[0]: address for some in needs.values() for address in some}
    stamped |= dict(_stamped_by_others(site, names))
    for name in names:
        content = (site / name).read_bytes()
        packed = zlib.compress(content, 6) if name.endswith(PACKED) else content
        yield Kept(
            address=re.sub(r"(^|/)index\.html$", r"\1", stamped.get(name, name)),
            hash=content_hash(_own(name, content)),
            sent=len(packed),
            stored=len(content),
            language=language_of(name, languages),
            needs=needs.get(name, ()),
        )


def _own(name: str, content: bytes) -> bytes:
    """What is the file's own in its content: a page also names the versions of other files."""
    return without_stamps(content.decode()).encode() if name.endswith(".html") else content


def _stamped_by_others(site: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what no page names: fonts are named by styles, modules and the search by scripts."""
    for name in names:
        if name.endswith(".js"):
            folder = name.rpartition("/")[0]
            for match in IMPORT.finditer((site / name).read_text("utf-8")):
                if match["stamp"]:
                    yield f"{folder}/{match['name']}", f"{folder}/{match['name']}{match['stamp']}"
        if name.endswith(".woff2"):
            yield name, f"{name}?{stamp_of(site / name)}"
    home = site / "index.html"
    if home.is_file() and (version := SEARCH_VERSION.search(home.read_text("utf-8"))):
        yield from ((one, f"{one}?{version[1]}") for one in names if SEARCH_CODE.fullmatch(one))


def language_of(name: str, languages: Sequence[Language]) -> str:
    """Return the language of a file of the site; empty when all share it.

    A part of its path says it, `fr/…` or `search/fr.0a1b.json`; a page outside the folder of a
    language is in the default one.
    """
    words = {word for part in name.split("/") for word in (part, part.split(".")[0])}
    for language in languages:
        if language.code in words:
            return language.code
    default = next(one.code for one in languages if one.default)
    return default if name.endswith((".html", ".webmanifest")) else ""
