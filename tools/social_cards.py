"""Draw the pictures that cannot be SVG: the card of a shared link, in each language, and the icons.

Chromium shapes the Arabic with the site's own fonts. The results are committed; run it again when
the title, the mark or the colours change. Needs playwright 1.65.2 and a Chromium:

    PYTHONPATH=hooks python tools/social_cards.py [--chromium /usr/bin/chromium]
"""

import argparse
import html
import struct
from pathlib import Path
from string import Template

from playwright.sync_api import Browser, sync_playwright

from dabt.languages import load_languages
from dabt.quiz.inline import typeset
from dabt.ui import load_ui

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
DATA = ASSETS.parent / "_data"
CARD = (1200, 630)
PAGE = Template("""<!doctype html><html lang="$language" dir="$direction"><meta charset="utf-8">
<link rel="stylesheet" href="site.css">
<style>
html, body { margin: 0; font-size: 20px }
body { box-sizing: border-box; width: 1200px; height: 630px; padding: 72px 84px 0;
  font-family: var(--md-text-font-family); color: var(--dabt-ink); background: var(--dabt-paper);
  position: relative; overflow: hidden }
img { width: 150px; height: 150px; display: block; margin-block-end: 32px }
h1 { margin: 0; font-size: 66px; font-weight: 600; line-height: 1.3; text-wrap: balance }
p { margin: 20px 0 0; font-size: 31px; line-height: 1.6; color: var(--dabt-ink-soft) }
b { position: absolute; top: 110px; inset-inline-end: 84px; font-size: 52px; font-weight: 600;
  color: var(--dabt-mark) }
i { position: absolute; inset-inline: 0; bottom: 0; height: 44px;
  background: var(--dabt-scale) 0 0 / 80px 100% }
</style><body data-md-color-scheme="default">
<img src="logo.svg" alt=""><b>$name</b><h1>$title</h1><p>$promise</p><i></i>""")
ICON = Template("""<!doctype html><style>html, body { margin: 0; background: $background }
img { display: block; width: ${inner}px; height: ${inner}px; margin: ${margin}px }</style>
<img src="favicon.svg" alt="">""")


def shoot(browser: Browser, text: str, size: tuple[int, int], clear: bool = False) -> bytes:
    """Return the PNG of a page that lies, for a moment, beside the files it uses."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
    source = ASSETS / "picture.tmp.html"
    try:
        source.write_text(text, "utf-8")
        page.goto(source.as_uri())
        page.evaluate("document.fonts.ready")
        return page.screenshot(omit_background=clear)
    finally:
        source.unlink()
        page.close()


def draw_cards(browser: Browser) -> None:
    """Write social/<language>.png, 1200 × 630."""
    languages = load_languages(DATA / "languages.yml")
    ui = load_ui(DATA, languages)
    for one in languages:
        values = {"language": one.code, "direction": one.direction}
        for name in ("name", "title", "promise"):
            values[name] = html.escape(typeset(ui.text(f"card.{name}", one.code), one.code))
        target = ASSETS / "social" / f"{one.code}.png"
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(shoot(browser, PAGE.substitute(values), CARD))


def draw_icon(browser: Browser, side: int, background: str, margin: int = 0) -> bytes:
    """Return the favicon as a PNG of `side` pixels."""
    text = ICON.substitute(background=background, inner=side - 2 * margin, margin=margin)
    return shoot(browser, text, (side, side), clear=background == "transparent")


def draw_app_icons(browser: Browser) -> None:
    """Write icons/: for the web app manifest, as it is and to be cut by a mask.

    A mask keeps the inner circle, 80 % of the side: the mark stays inside it.
    """
    folder = ASSETS / "icons"
    folder.mkdir(exist_ok=True)
    for side in (192, 512):
        kinds = {"icon": side // 10, "icon-maskable": side // 4}
        for name, margin in kinds.items():
            target = folder / f"{name}-{side}.png"
            target.write_bytes(draw_icon(browser, side, "#fbf8f2", margin))


def pack_ico(pictures: dict[int, bytes]) -> bytes:
    """Pack PNG pictures, by side, in one ICO file (PNG entries: all browsers since 2008)."""
    start = 6 + 16 * len(pictures)
    entries, data = b"", b""
    for side, picture in pictures.items():
        place = start + len(data)
        entries += struct.pack("<4B2H2I", side, side, 0, 0, 1, 32, len(picture), place)
        data += picture
    return struct.pack("<3H", 0, 1, len(pictures)) + entries + data


def main() -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chromium", help="a browser other than Playwright's own")
    options = parser.parse_args()
    flags = ["--allow-file-access-from-files", "--no-sandbox"]
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=options.chromium, args=flags)
        draw_cards(browser)
        icons = {side: draw_icon(browser, side, "transparent") for side in (16, 32, 48)}
        (ASSETS / "favicon.ico").write_bytes(pack_ico(icons))
        touch = draw_icon(browser, 180, "#fbf8f2", margin=24)
        (ASSETS / "apple-touch-icon.png").write_bytes(touch)
        draw_app_icons(browser)
        browser.close()


if __name__ == "__main__":
    main()
