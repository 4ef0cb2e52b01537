"""The switch between the languages keeps the page and the section, in both ways."""

import pytest
from playwright.sync_api import Page

SECTION = "memory-budget"
WAYS = [("", "fr/", "fr"), ("fr/", "", "ar")]


@pytest.mark.parametrize(("here", "there", "code"), WAYS)
def test_page_and_section_are_kept(page: Page, site_address, here, there, code):
    page.goto(f"{here}full/traditional/#{SECTION}")
    switch(page, code)
    page.wait_for_url(f"{site_address}{there}full/traditional/#{SECTION}")
    top = page.locator(f"#{SECTION}").evaluate("e => e.getBoundingClientRect().top")
    assert 0 <= top < 400
    assert page.evaluate("document.documentElement.lang") == code


@pytest.mark.parametrize(("here", "there", "code"), WAYS)
def test_the_page_is_kept_without_javascript(new_context, site_address, here, there, code):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{here}full/traditional/")
    switch(page, code)
    page.wait_for_url(f"{site_address}{there}full/traditional/")


def switch(page: Page, code: str) -> None:
    page.locator(f"header a[hreflang={code}]").click()
