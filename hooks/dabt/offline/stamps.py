"""A query with a hash of its content on each style sheet, script and font that a page loads.

So the address of a file changes with the file: neither a browser's cache nor the worker can give a
page the styles of another version.
"""

import hashlib
import re
from pathlib import Path

LOADED = re.compile(
    r'(?P<start>\b(?:href|src)="[^"?#]*?)(?P<name>assets/[^"?#]+\.(?:css|js|woff2))(?P<stamp>\?\w+)?"'
)
IN_CSS = re.compile(r"""url\((?P<quote>["']?)(?P<name>[^"'()?#:]+\.woff2)(?P=quote)\)""")
# A module that another one imports: `from "./way.js"`.
IMPORT = re.compile(
    r"""(?P<start>\b(?:from|import)\s*\(?\s*["'])\./(?P<name>[\w-]+\.js)(?P<stamp>\?\w+)?(?P<end>["'])"""
)
# Any file that a page names, its stamp or the hash in its name apart; and the version of the
# scripts of the search. As in worker.js.
NAMED = re.compile(
    r'(="[^"?#]*?)(assets/[\w./-]+?)(?:\.[0-9a-f]{8})?(\.(?:css|js|json|woff2))(?:\?\w+)?"'
)
VERSION = re.compile(r'(data-version=")\w+(")')
LENGTH = 16
# In an address, where no one attacks it, a shorter one tells two versions apart.
STAMP = 8


def content_hash(content: bytes) -> str:
    """Return what stands for a content: the first 64 bits of its SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()[:LENGTH]


def stamp_of(file: Path) -> str:
    """Return what follows the ? in the address of a file."""
    return content_hash(file.read_bytes())[:STAMP]


def stamp_site(site: Path) -> None:
    """Stamp the fonts in style sheets and the imports in modules, then what pages load."""
    for sheet in sorted(site.rglob("*.css")):
        _rewrite(sheet, stamp_fonts(sheet.read_text("utf-8"), sheet.parent))
    known = {f"assets/{name}": stamp for name, stamp in stamp_modules(site / "assets").items()}
    for page in sorted(site.rglob("*.html")):
        _rewrite(page, stamp_page(page.read_text("utf-8"), site, known))


def stamp_modules(folder: Path) -> dict[str, str]:
    """Stamp the imports of the modules of a folder; return name → `?stamp` of each.

    They share one stamp, since they may import each other in a circle.
    """
    texts = {
        path.name: IMPORT.sub(r"\g<start>./\g<name>\g<end>", path.read_text("utf-8"))
        for path in sorted(folder.glob("*.js"))
    }
    imported = {match["name"] for text in texts.values() for match in IMPORT.finditer(text)}
    modules = [name for name, text in texts.items() if name in imported or IMPORT.search(text)]
    stamp = content_hash("".join(texts[name] for name in modules).encode())[:STAMP]
    for name in modules:
        to = rf"\g<start>./\g<name>?{stamp}\g<end>"
        _rewrite(folder / name, IMPORT.sub(to, texts[name]))
    return dict.fromkeys(modules, f"?{stamp}")


def stamp_fonts(css: str, folder: Path) -> str:
    """Return a style sheet of a folder with stamped fonts."""

    def stamped(match: re.Match[str]) -> str:
        file = folder / match["name"]
        if not file.is_file():
            return match[0]
        quote = match["quote"]
        return f"url({quote}{match['name']}?{stamp_of(file)}{quote})"

    return IN_CSS.sub(stamped, css)


def stamp_page(html: str, site: Path, known: dict[str, str]) -> str:
    """Return a page with stamped addresses; `known` holds the hashes by name, and grows."""

    def stamped(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in known:
            file = site / name
            known[name] = f"?{stamp_of(file)}" if file.is_file() else ""
        return f'{match["start"]}{name}{known[name]}"'

    return LOADED.sub(stamped, html)


def loaded_by(html: str) -> tuple[str, ...]:
    """Return the addresses of the style sheets, scripts and fonts that a stamped page names."""
    found = (match["name"] + match["stamp"] for match in LOADED.finditer(html) if match["stamp"])
    return tuple(sorted(set(found)))


def without_stamps(html: str) -> str:
    """Return a page without what changes whenever another file does.

    Two versions of a page that are equal so far need not be fetched twice: the worker writes the
    stamps of its own version into what it kept (`withStamps` in worker.js).
    """
    return VERSION.sub(r"\1\2", NAMED.sub(r'\1\2\3"', html))


def _rewrite(path: Path, text: str) -> None:
    if path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
