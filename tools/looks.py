"""Compares how pages look with pictures that somebody looked at and kept.

    python -m tools.looks            # takes pictures, prints what differs; .build/looks shows it
    python -m tools.looks --bless    # keeps the new pictures: look at each of them first

The catalogue is cut at its sections, so that one that grows does not move the others; of the other
pages the first screens are taken. Both languages, a phone and a desk, light and dark. Pictures are
kept at a third of their size and in 16 colours: small enough for the repository, and a number that
changes places with its unit is still seen.

Other versions of the browser or of the fonts draw other letters. What differs fails (exit status 1)
only where they are those of the kept pictures; elsewhere it is a report.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from itertools import pairwise, product

from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page, sync_playwright

from dabt.languages import load_languages
from dabt.links import served as served_at
from tools.browser import ensure_chromium
from tools.build_site import build_if_stale
from tools.environment import ROOT
from tools.host import served
from tools.stages import ADDRESS, HOSTED

KEPT = ROOT / "tests/looks"
SHOWN = ROOT / ".build/looks"
MADE_WITH = KEPT / "made-with.json"
KNOWN = load_languages(ROOT / "docs/_data/languages.yml")
LANGUAGES = {one.code: served_at("index.md", one) for one in KNOWN}
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
CATALOGUE = "contribute/catalogue/"
PAGES = {"home": "", "chapter": "start/choose/", "quiz": "quizzes/lora/", "progress": "progress/"}
SCREENS = 2400
SMALLER = 3
COLOURS = 16
# A colour of 16 is off by up to this much from the colour that it stands for.
THRESHOLD = 64
# A square of the small picture, and the share of it that may differ: 10 pixels of 1,024.
SQUARE = 32
TOLERANCE = 0.01
# What a commit or another page changes, and what sticks to the edge of the screen.
STILL = """.dabt-line, .dabt-lag { display: none !important }
.md-header, .dabt-calc__answer { position: static !important }"""
# Where the sections of the catalogue begin, and where the last one ends.
SECTIONS = """() => {
  const at = (e) => Math.round(e.getBoundingClientRect().top + scrollY);
  const found = [...document.querySelectorAll("article h2[id]")].map((e) => [e.id, at(e)]);
  const end = document.querySelector("article").getBoundingClientRect().bottom + scrollY;
  return [["top", 0], ...found, ["", Math.round(end)]];
}"""


@dataclass(frozen=True)
class Difference:
    """How far a new picture is from the kept one: the worst square's share, and why if told."""

    share: float
    note: str = ""

    @property
    def is_seen(self) -> bool:
        """Whether it is more than the tolerance."""
        return self.share > TOLERANCE


def reduced(picture: bytes) -> Image.Image:
    """Return a screenshot as it is kept."""
    full = Image.open(BytesIO(picture)).convert("RGB")
    size = (max(1, full.width // SMALLER), max(1, full.height // SMALLER))
    small = full.resize(size, Image.Resampling.BOX)
    # This method keeps rare colours, such as those of series and of boxes.
    method = Image.Quantize.MAXCOVERAGE
    return small.quantize(COLOURS, method, dither=Image.Dither.NONE)


def compare(kept: Image.Image, new: Image.Image) -> Difference:
    """Return the difference of two pictures; another size is a difference of the whole."""
    if kept.size != new.size:
        return Difference(1.0, f"{'×'.join(map(str, kept.size))} → {'×'.join(map(str, new.size))}")
    marked = _marks(kept, new)
    worst, place = 0.0, (0, 0)
    for x, y in product(range(0, new.width, SQUARE), range(0, new.height, SQUARE)):
        count = marked.crop((x, y, x + SQUARE, y + SQUARE)).histogram()[255]
        if count / SQUARE**2 > worst:
            worst, place = count / SQUARE**2, (x * SMALLER, y * SMALLER)
    return Difference(worst, f"at {place[0]}, {place[1]}" if worst else "")


def _marks(kept: Image.Image, new: Image.Image) -> Image.Image:
    """Return what differs in white on black; the larger picture is cut."""
    size = (min(kept.width, new.width), min(kept.height, new.height))
    frames = [one.convert("RGB").crop((0, 0, *size)) for one in (kept, new)]
    bands = ImageChops.difference(*frames).split()
    most = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    return most.point(lambda value: 255 if value > THRESHOLD else 0)


def show(kept: Image.Image, new: Image.Image) -> Image.Image:
    """Return the kept picture, the new one, and what differs, side by side."""
    parts = [kept.convert("RGB"), new.convert("RGB"), _marks(kept, new).convert("RGB")]
    sheet = Image.new("RGB", (sum(one.width + 8 for one in parts), max(p.height for p in parts)))
    left = 0
    for part in parts:
        sheet.paste(part, (left, 0))
        left += part.width + 8
    return sheet


def take_all(browser: Browser, address: str) -> Iterator[tuple[str, Image.Image]]:
    """Yield name → picture for each language, width and scheme."""
    for (code, prefix), width, scheme in product(LANGUAGES.items(), WIDTHS, SCHEMES):
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        view = f"{code}-{width}-{scheme}"
        for name, picture in _take(page, address + prefix):
            yield f"{view}/{name}", reduced(picture)
        page.close()


def _take(page: Page, home: str) -> Iterator[tuple[str, bytes]]:
    _open(page, home + CATALOGUE)
    sections = page.evaluate(SECTIONS)
    for (name, top), (_, bottom) in pairwise(sections):
        yield f"catalogue-{name}", _clip(page, top, bottom)
    for name, path in PAGES.items():
        _open(page, home + path)
        end = page.evaluate("document.documentElement.scrollHeight")
        yield name, _clip(page, 0, min(end, SCREENS))


def _open(page: Page, address: str) -> None:
    page.goto(address, wait_until="networkidle")
    page.add_style_tag(content=STILL)
    page.evaluate("document.fonts.ready")


def _clip(page: Page, top: int, bottom: int) -> bytes:
    width = page.viewport_size["width"]
    area = {"x": 0, "y": top, "width": width, "height": bottom - top}
    return page.screenshot(clip=area, full_page=True)


def made_with(browser: Browser) -> dict[str, str]:
    """Return what decides how letters are drawn: the browser, our fonts, those of the system."""
    ours = sorted((ROOT / "docs/assets/fonts").glob("*.woff2"))
    listed = shutil.which("fc-list") and subprocess.run(
        ["fc-list", "--format", "%{file|basename} %{fontversion}\n"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    system = "\n".join(sorted(listed.stdout.splitlines())) if listed else ""
    return {
        "browser": browser.version,
        "fonts of the course": _short(b"".join(one.read_bytes() for one in ours)),
        "fonts of the system": _short(system.encode()),
    }


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:12]


def keep(pictures: dict[str, Image.Image], versions: dict[str, str]) -> None:
    """Replace the kept pictures by new ones."""
    shutil.rmtree(KEPT, ignore_errors=True)
    for name, picture in pictures.items():
        path = KEPT / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path, optimize=True)
    MADE_WITH.write_text(json.dumps(versions, indent=2) + "\n", "utf-8")
    size = sum(path.stat().st_size for path in KEPT.rglob("*.png"))
    print(f"{len(pictures)} pictures kept, {size // 1000} kB")


def judge(pictures: dict[str, Image.Image]) -> list[tuple[str, Difference]]:
    """Compare with the kept pictures; write what differs into .build/looks."""
    shutil.rmtree(SHOWN, ignore_errors=True)
    found = []
    for name, picture in pictures.items():
        path = KEPT / f"{name}.png"
        kept = Image.open(path) if path.is_file() else None
        difference = compare(kept, picture) if kept else Difference(1.0, "no picture is kept")
        if difference.is_seen:
            found.append((name, difference))
            out = SHOWN / f"{name}.png"
            out.parent.mkdir(parents=True, exist_ok=True)
            (show(kept, picture) if kept else picture).save(out)
    gone = {p.relative_to(KEPT).with_suffix("").as_posix() for p in KEPT.rglob("*.png")}
    gone -= pictures.keys()
    return [*found, *((name, Difference(1.0, "is no longer taken")) for name in sorted(gone))]


def report(found: list[tuple[str, Difference]], number: int) -> str:
    """Return what differs as a table, the sharpest first, then the line that counts it."""
    rows = [
        f"{difference.share:6.1%}  {name:<40} {difference.note}"
        for name, difference in sorted(found, key=lambda one: -one[1].share)
    ]
    counted = f"{number} pictures, {len(found)} differ by more than {TOLERANCE:.0%} of a square"
    return "\n".join([*rows, f"looks: {counted}"])


def main(argv: list[str] | None = None) -> int:
    """Take, then keep or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bless", action="store_true", help="keep the new pictures")
    wanted = parser.parse_args(argv)
    build_if_stale(ROOT / HOSTED, ADDRESS)
    with sync_playwright() as playwright, served(ROOT / HOSTED) as address:
        browser = playwright.chromium.launch(
            executable_path=ensure_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        versions = made_with(browser)
        pictures = dict(take_all(browser, address))
        browser.close()
    if wanted.bless:
        keep(pictures, versions)
        return 0
    found = judge(pictures)
    print(report(found, len(pictures)))
    if found:
        print(f"  mend: look at {SHOWN.relative_to(ROOT)}; what is meant: make looks BLESS=1")
    known = json.loads(MADE_WITH.read_text("utf-8")) if MADE_WITH.is_file() else {}
    others = [name for name, version in versions.items() if known.get(name) != version]
    if others:
        print(f"  a report only: other {', '.join(others)} than the kept pictures were made with")
    return 1 if found and not others else 0


if __name__ == "__main__":
    sys.exit(main())
