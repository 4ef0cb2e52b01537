"""What the host answers where there is no page."""

import pytest
from playwright.sync_api import Page


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
