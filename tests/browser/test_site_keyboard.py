"""The pages by keyboard alone: the skip link, the order of Tab, the mark of what has the focus."""

import pytest
from playwright.sync_api import Page

STEPS = 60
# What has the focus may show it on the label or the row around it; the theme hides the input of
# the scheme and shows the label that follows. Order is judged step by step: the theme adds
# annotations to the page while it is read.
FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body || e === window.first) return null;
  window.first ??= e;
  const forward = !window.before || window.before.compareDocumentPosition(e) & 4;
  window.before = e;
  const seen = e.matches("input.md-option") ? e.nextElementSibling : e;
  const around = [seen, e.closest("label"), e.closest("li")].filter(Boolean).map(getComputedStyle);
  const box = seen.getBoundingClientRect();
  return {
    name: `${e.tagName.toLowerCase()}.${e.className}#${e.id} ${e.textContent.trim().slice(0, 30)}`,
    marked: around.some((style) => style.boxShadow !== "none"
      || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)),
    shown: box.width > 0 && box.height > 0 && getComputedStyle(seen).visibility === "visible",
    forward: Boolean(forward),
  };
}"""


@pytest.mark.parametrize("path", ["full/traditional/", "fr/full/traditional/"])
def test_the_skip_link_comes_first_and_leads_to_the_content(page: Page, path):
    page.goto(path)
    page.keyboard.press("Tab")
    skip = page.locator(".md-skip")
    assert skip.evaluate("e => e === document.activeElement")
    page.wait_for_function("getComputedStyle(document.querySelector('.md-skip')).opacity === '1'")
    target = skip.get_attribute("href") or ""
    page.keyboard.press("Enter")
    assert page.url.endswith(target)
    page.keyboard.press("Tab")
    inside = "document.querySelector('article').contains(document.activeElement)"
    assert page.evaluate(inside), "after the skip link, Tab reaches the text"


def test_tab_goes_on_and_shows_where_it_is(page: Page, any_page):
    page.goto(any_page)
    seen = []
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is None:
            break
        seen.append(found)
    assert len(seen) > 5
    assert names(seen, "shown") == [], "the focus is on what is not shown"
    assert names(seen, "marked") == [], "nothing marks the focus"
    assert names(seen, "forward") == [], "Tab goes back in the page"


def names(seen: list[dict], quality: str) -> list[str]:
    """Return the elements that lack a quality."""
    return [one["name"] for one in seen if not one[quality]]
