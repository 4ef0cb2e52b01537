"""Make the five fonts of the site from their npm packages, the same bytes each time.

The course ships subsets, under names of its own: "Plex" is a reserved font name, so a modified
version may not bear it (SIL Open Font License 1.1, section 3). Needs fonttools 4.68.0 and brotli
1.2.1. In an empty folder, then at the root of the project:

    npm install --ignore-scripts @ibm/plex-sans-arabic@1.1.0 @ibm/plex-sans@1.1.0 \\
        @ibm/plex-mono@2.5.0
    python tools/subset_fonts.py THAT_FOLDER/node_modules          # writes docs/assets/fonts
    python tools/subset_fonts.py THAT_FOLDER/node_modules --check  # compares, writes nothing
"""

import argparse
import hashlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FONTS = Path(__file__).parents[1] / "docs" / "assets" / "fonts"

# Letters, tashkeel, both sets of digits and the punctuation of modern Arabic, the Persian letters
# used for foreign sounds (پ چ ڤ گ), and the two joining controls.
ARABIC = [
    *(0x060C, 0x061B, 0x061F, 0x0640),
    *range(0x0621, 0x063B),
    *range(0x0641, 0x0656),
    *range(0x0660, 0x066E),
    *(0x0670, 0x0671, 0x067E, 0x0686, 0x06A4, 0x06AF, 0x06CC, 0x200C, 0x200D),
]
# Latin-1, œ Œ Ÿ, quotation marks, dashes, the narrow no-break space, arrows, mathematics and the
# Greek letters of formulas.
LATIN = [
    *range(0x20, 0x7F),
    *range(0xA0, 0x100),
    *(0x0152, 0x0153, 0x0178, 0x02B3, 0x02E2, 0x1D48, 0x1D49),
    *(0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x202F, 0x2030),
    *(0x2039, 0x203A, 0x20AC, 0x2190, 0x2191, 0x2192, 0x2193, 0x2212, 0x221A, 0x221E),
    *(0x2211, 0x2248, 0x2260, 0x2264, 0x2265, 0x2202, 0x2206, 0x2713),
    *(0x03B1, 0x03B2, 0x03B5, 0x03B7, 0x03B8, 0x03BB, 0x03BC, 0x03C3),
]
# Code is ASCII; its strings and what it prints are French too.
CODE = [code for code in LATIN if code < 0x0370 or code > 0x2000]
PLACING = ["ccmp", "locl", "kern", "mark", "mkmk"]
JOINING = ["isol", "init", "medi", "fina", "rlig", "calt", "liga", "curs"]


@dataclass(frozen=True)
class Face:
    """One font to make: its new name, its source in node_modules and the characters it keeps."""

    file: str
    family: str
    style: str
    source: str
    sha256: str
    characters: tuple[int, ...]


_ARABIC = "@ibm/plex-sans-arabic/fonts/complete/woff2/IBMPlexSansArabic-"
_LATIN = "@ibm/plex-sans/fonts/complete/woff2/IBMPlexSans-"
_MONO = "@ibm/plex-mono/fonts/complete/woff2/IBMPlexMono-"
FACES = (
    Face(
        "dabt-arabic-400.woff2",
        "Dabt Arabic",
        "Regular",
        _ARABIC + "Regular.woff2",
        "74112e1b7bf2e2c547989a4e947a60cba6cd1f9156e0065670134636e717199d",
        tuple(ARABIC),
    ),
    Face(
        "dabt-arabic-600.woff2",
        "Dabt Arabic",
        "SemiBold",
        _ARABIC + "SemiBold.woff2",
        "869b2acd0a9660607a2025f0fe1c640110bf23d33417509328f07722922b8063",
        tuple(ARABIC),
    ),
    Face(
        "dabt-latin-400.woff2",
        "Dabt Latin",
        "Regular",
        _LATIN + "Regular.woff2",
        "ba711a3085ff9f27440b6b9c4550cfc47c97bf36591d5da958b975bb3add8c1a",
        tuple(LATIN),
    ),
    Face(
        "dabt-latin-600.woff2",
        "Dabt Latin",
        "SemiBold",
        _LATIN + "SemiBold.woff2",
        "f78048030eab62e860efa39a0df79e2e5581bf122eb95b9bc42c0b8a4988d205",
        tuple(LATIN),
    ),
    Face(
        "dabt-mono-400.woff2",
        "Dabt Mono",
        "Regular",
        _MONO + "Regular.woff2",
        "ba204497f16b6d334cee9d1e963a831b73e3a56e1d6300a8489d18df7214b350",
        tuple(CODE),
    ),
)
# Bytes that a page of each direction may load.
BUDGET = {"rtl": 60 * 1024, "ltr": 35 * 1024}
LOADED = {"rtl": ("arabic", "latin", "mono"), "ltr": ("latin", "mono")}


def read_source(packages: Path, face: Face) -> TTFont:
    """Open a package's font; another version of the package is refused by its digest."""
    data = (packages / face.source).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != face.sha256:
        raise SystemExit(f"{face.source}: digest {found}, expected {face.sha256}")
    return TTFont(io.BytesIO(data), recalcTimestamp=False)


def rename(font: TTFont, face: Face) -> None:
    """Give the subset its own name; copyright and licence (0, 13, 14) stay as they are."""
    names = font["name"]
    names.names = [record for record in names.names if record.nameID in (0, 13, 14)]
    full = f"{face.family} {face.style}"
    postscript = full.replace(" ", "-", 1).replace(" ", "")
    for number, value in ((1, face.family), (2, face.style), (3, full), (4, full), (6, postscript)):
        names.setName(value, number, 3, 1, 0x409)
    names.setName("Subset, modified from IBM's original", 5, 3, 1, 0x409)


def subset(font: TTFont, characters: tuple[int, ...]) -> None:
    """Keep the characters and what shapes them; hinting goes (a third of the bytes)."""
    options = Options()
    options.hinting = False
    options.layout_features = [*PLACING, *JOINING]
    options.name_IDs = ["*"]
    options.notdef_outline = True
    worker = Subsetter(options)
    worker.populate(unicodes=characters)
    worker.subset(font)


def make(packages: Path, face: Face) -> bytes:
    """Return the bytes of one font."""
    font = read_source(packages, face)
    subset(font, face.characters)
    rename(font, face)
    font.flavor = "woff2"
    buffer = io.BytesIO()
    font.save(buffer)
    return buffer.getvalue()


def over_budget(sizes: dict[str, int]) -> list[str]:
    """Say which direction loads more bytes of fonts than it may, and print what each loads."""
    found = []
    for way, parts in LOADED.items():
        total = sum(size for name, size in sizes.items() if name.split("-")[1] in parts)
        print(f"{way}: {total} of {BUDGET[way]} bytes")
        if total > BUDGET[way]:
            found.append(f"{way}: {total} bytes of fonts, {BUDGET[way]} allowed")
    return found


def main() -> int:
    """Write or compare the five fonts; 1 when a budget is passed or a file differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", type=Path, help="the node_modules folder")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    wrong, sizes = [], {}
    for face in FACES:
        data = make(options.packages, face)
        sizes[face.file] = len(data)
        target = FONTS / face.file
        if not options.check:
            target.write_bytes(data)
        elif not target.is_file() or target.read_bytes() != data:
            wrong.append(f"{target}: differs from what its package gives; run without --check")
        print(f"{face.file}: {len(data)} bytes, {len(face.characters)} characters")
    wrong += over_budget(sizes)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
