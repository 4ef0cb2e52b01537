"""The search answers in both languages, and leads to a page of the same language."""

import pytest
from playwright.sync_api import Page

QUERIES = [("", "التدريب"), ("fr/", "apprentissage")]


@pytest.mark.parametrize(("home", "query"), QUERIES)
def test_a_query_finds_pages_of_this_site(page: Page, site_address, home, query):
    page.goto(home)
    page.keyboard.press("/")
    field = page.locator(".md-search__input")
    field.wait_for(state="visible")
    page.keyboard.insert_text(query)
    # Inserted text sends no keyup, and the search waits for one.
    page.keyboard.press("Shift")
    found = page.locator(".md-search-result__link").first
    found.wait_for(state="visible", timeout=10_000)
    assert found.evaluate("a => a.href").startswith(site_address)
