"""The pages by keyboard alone: the skip link, the order of Tab, the mark of what has the focus."""

import pytest
from playwright.sync_api import Page

STEPS = 60
# The theme hides the input of the scheme and shows the label that follows it: the label is judged.
FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const seen = e.matches("input.md-option") ? e.nextElementSibling : e;
  const style = getComputedStyle(seen);
  const box = seen.getBoundingClientRect();
  const name = `${e.tagName.toLowerCase()}.${e.className} ${e.textContent.trim().slice(0, 30)}`;
  const marked = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
    || style.boxShadow !== "none";
  const shown = box.width > 0 && box.height > 0 && style.visibility === "visible";
  return {name, index: [...document.querySelectorAll("*")].indexOf(e), marked, shown};
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
        if found is None or (seen and found["index"] == seen[0]["index"]):
            break
        seen.append(found)
    assert len(seen) > 5
    assert [one["name"] for one in seen if not one["shown"]] == [], "focus on what is not shown"
    assert [one["name"] for one in seen if not one["marked"]] == [], "focus without a mark"
    places = [one["index"] for one in seen]
    assert places == sorted(places), "the order of Tab is not the order of the page"
