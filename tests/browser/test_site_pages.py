"""Every page in Chromium: nothing is missing, nothing is asked of others, nothing sticks out."""

import pytest
from playwright.sync_api import Page, TimeoutError

WIDTHS = (320, 390, 1280)

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"

# The way to the element without which the page would fit. Boxes would not do: what sticks out may
# be a pseudo-element, and what lies outside may be meant to (the menu that slides in).
TOO_WIDE = """() => {
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  const fitsWithout = (element) => {
    const before = element.getAttribute("style");
    element.style.setProperty("display", "none", "important");
    const answer = fits();
    before === null ? element.removeAttribute("style") : element.setAttribute("style", before);
    return answer;
  };
  const way = [];
  let at = document.body;
  while ((at = [...at.children].find(fitsWithout))) way.push(at);
  return way.map((e) => e.tagName.toLowerCase() + [...e.classList].map((c) => `.${c}`).join(""));
}"""

# Labels of a drawing that leave it: they are cut off, and no other check sees it.
CUT_LABELS = """() => [...document.querySelectorAll(".dabt-figure svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map((text) => text.textContent);
})"""


def test_a_page_asks_the_site_only_and_gets_everything(page: Page, site_address, any_page):
    foreign, failed, said = [], [], []
    page.on("request", lambda r: foreign.append(r.url) if is_foreign(r.url, site_address) else None)
    page.on("response", lambda r: failed.append((r.status, r.url)) if r.status >= 400 else None)
    page.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    answer = page.goto(any_page)
    assert answer and answer.status == 200
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_load_state("networkidle")
    assert (foreign, failed, said) == ([], [], [])


def is_foreign(url: str, site_address: str) -> bool:
    return not url.startswith((site_address, "data:", "blob:"))


def test_nothing_sticks_out_at_any_width(page: Page, any_page):
    page.emulate_media(reduced_motion="reduce")
    page.goto(any_page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        try:
            page.wait_for_function(FITS, timeout=2000)
        except TimeoutError:
            pytest.fail(
                f"too wide at {width} px: {' > '.join(page.evaluate(TOO_WIDE))}", pytrace=False
            )


def test_no_label_of_a_figure_is_cut_off(page: Page, any_page):
    page.goto(any_page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(CUT_LABELS) == [], f"at {width} px"


def test_direction_follows_the_language(page: Page, any_page):
    page.goto(any_page)
    wanted = ("fr", "ltr") if any_page.startswith("fr/") else ("ar", "rtl")
    direction = page.locator("article").evaluate("e => getComputedStyle(e).direction")
    assert (page.evaluate("document.documentElement.lang"), direction) == wanted


def test_every_annotation_of_code_is_a_named_button(page: Page, any_page):
    """The theme turns `# (1)!` into buttons; one that stays text, or has no name, is a defect."""
    page.goto(any_page)
    marked = "[...document.querySelectorAll('pre')].some(e => /\\(\\d+\\)!/.test(e.textContent))"
    page.wait_for_function(f"!({marked})", timeout=5000)
    unnamed = page.evaluate(
        "[...document.querySelectorAll('.md-annotation__index:not([aria-label])')].length"
    )
    assert unnamed == 0


@pytest.mark.parametrize("prefix", ["", "fr/"])
def test_a_page_that_is_not_there_answers_in_both_languages(page: Page, site_address, prefix):
    failed = []
    page.on("response", lambda r: failed.append(r.url) if r.status >= 400 else None)
    answer = page.goto(f"{prefix}nothing/here/")
    assert answer and answer.status == 404
    page.wait_for_load_state("networkidle")
    assert failed == [page.url]
    for code, direction, home in (("ar", "rtl", ""), ("fr", "ltr", "fr/")):
        part = page.locator(f"main [lang={code}][dir={direction}]").first
        assert part.is_visible()
        assert part.evaluate("e => getComputedStyle(e).direction") == direction
        assert part.locator("a").first.evaluate("a => a.href") == site_address + home
