"""The skip link comes first and works. Tab through each page: test_every_page.py."""

import pytest
from playwright.sync_api import Page


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
