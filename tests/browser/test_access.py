"""What axe does not see: larger letters, small screens, no colours, no motion, notes, figures.

One visit of the catalogue in each language, since it holds every element that chapters use.
"""

import pytest
from playwright.sync_api import Page

from tests.browser.test_every_page import FITS, TOO_WIDE

CATALOGUES = ("contribute/catalogue/", "fr/contribute/catalogue/")
# WCAG 1.4.12: what a reader may set without losing text.
SPACING = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important; } p { margin-block-end: 2em !important; }"""
CUT = """() => [...document.querySelectorAll("article *, header *, nav *")].filter((e) => {
  const style = getComputedStyle(e);
  const hides = ["hidden", "clip"].includes(style.overflowY) && e.clientHeight > 1;
  return hides && e.textContent.trim() && e.scrollHeight > e.clientHeight + 4;
}).map((e) => `${e.tagName.toLowerCase()}.${e.className}`)"""
MOVES = """() => [...document.querySelectorAll("*")].filter((e) => ["", "::before", "::after"]
  .some((part) => {
    const style = getComputedStyle(e, part || null);
    const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0);
    return lasts(style.transitionDuration) || style.animationName !== "none";
  })).map((e) => `${e.tagName.toLowerCase()}.${e.className}`)"""
# A figure says in words what it shows, and gives its numbers or its tokens as text.
SPEECHLESS = """() => [...document.querySelectorAll("figure.dabt-figure")].filter((figure) => {
  const drawing = figure.querySelector("svg:not([aria-hidden])");
  const name = (drawing?.getAttribute("aria-label") || drawing?.textContent || "").trim();
  const told = figure.querySelector("figcaption")?.textContent.trim().length > 40;
  const data = figure.querySelector("table td, .dabt-tokens li");
  return !told || !data || (drawing && name.length < 10);
}).map((figure) => figure.id)"""
OUTLINE = """() => {
  const e = document.activeElement;
  const around = [e, e.closest("label"), e.closest("li"), e.nextElementSibling].filter(Boolean);
  const marked = around.map((one) => getComputedStyle(one))
    .some((style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
  return marked ? "" : `${e.tagName.toLowerCase()}.${e.className}`;
}"""
NAMELESS = """() => {
  const all = [...document.querySelectorAll("nav, aside, section[aria-label]")];
  const names = all.map((e) => e.getAttribute("aria-label")
    || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent || "");
  return names.filter((name, at) => !name.trim() || names.indexOf(name) !== at);
}"""
TABS = 25


def too_wide(page: Page) -> list[str]:
    return [] if page.evaluate(FITS) else page.evaluate(TOO_WIDE)


@pytest.mark.parametrize("url", CATALOGUES)
def test_a_reader_who_changes_the_page_loses_nothing(page: Page, url):
    page.emulate_media(reduced_motion="reduce")
    page.goto(url)
    found = {
        "moves though motion is unwanted": page.evaluate(MOVES),
        "figures without words": page.evaluate(SPEECHLESS),
        "landmarks without a name of their own": page.evaluate(NAMELESS),
    }
    # 1280 px at 200 %, and 400 %.
    for width, height in ((640, 400), (320, 256)):
        page.set_viewport_size({"width": width, "height": height})
        found[f"too wide at {width} px"] = too_wide(page)
        high = page.locator(".md-header").evaluate("e => e.getBoundingClientRect().height")
        found[f"header too high at {height} px"] = [high] if high > height / 4 else []
    found["wider with a note open"] = widened_by_notes(page)
    page.set_viewport_size({"width": 390, "height": 800})
    page.add_style_tag(content=SPACING)
    found["too wide with spacing"] = too_wide(page)
    found["cut by spacing"] = page.evaluate(CUT)
    assert not {name: faults for name, faults in found.items() if faults}


def widened_by_notes(page: Page) -> list[str]:
    """Open the first explanation of code as a keyboard does; return what then sticks out."""
    note = page.locator(".dabt-note").first
    note.focus()
    page.keyboard.press("Enter")
    opened = page.locator(":popover-open")
    opened.wait_for()
    box = opened.bounding_box()
    outside = [] if box["x"] >= 0 and box["x"] + box["width"] <= 320 else [f"the note: {box}"]
    found = [*too_wide(page), *outside]
    page.keyboard.press("Escape")
    return found


def test_focus_is_seen_where_the_system_chooses_the_colours(page: Page):
    page.emulate_media(forced_colors="active")
    page.goto(CATALOGUES[0])
    faults = []
    for _ in range(TABS):
        page.keyboard.press("Tab")
        faults.append(page.evaluate(OUTLINE))
    assert not [one for one in faults if one]


def test_the_answer_of_the_calculator_stays_in_sight_on_a_phone(page: Page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(CATALOGUES[0])
    page.locator("#memory-model").focus()
    box = page.locator(".dabt-calc__answer").bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 800
    page.locator("#memory-rows").focus()
    field = page.locator("#memory-rows").bounding_box()
    answer = page.locator(".dabt-calc__answer").bounding_box()
    assert field["y"] + field["height"] <= answer["y"], "the answer covers the field with the focus"
