"""A page shown in another language than its own: the reader's choice of which is remembered."""

import pytest
from playwright.sync_api import Page, Route

from tools.environment import ROOT

SCRIPT = (ROOT / "docs/assets/site.js").read_text(encoding="utf-8")
# A page as hooks/dabt/translation/fallback.py writes it, and the two that it leads to.
STANDING_IN = """<!doctype html><html lang="es"><title>es</title><body>
<p class="dabt-elsewhere" data-shown="fr">
<a href="../fr/a/" lang="fr" data-dabt-choice="fr">Français</a>
<a href="../a/" lang="ar" data-dabt-choice="ar">العربية</a></p>
<script>SCRIPT</script>"""


@pytest.fixture
def here(page: Page, site_address: str) -> str:
    """The address of the page, which only this test has."""

    def answer(route: Route) -> None:
        standing = "/es-" in route.request.url
        body = STANDING_IN.replace("SCRIPT", SCRIPT) if standing else "<!doctype html><p>x"
        route.fulfill(body=body, content_type="text/html; charset=utf-8")

    for pattern in ("**/es-*/", "**/fr/a/", "**/course/a/"):
        page.route(pattern, answer)
    return site_address


def test_the_choice_is_followed_on_the_next_page_with_its_section(page: Page, here: str):
    page.goto(f"{here}es-one/")
    page.locator("[lang=ar]").click()
    page.wait_for_url(f"{here}a/")
    page.goto(f"{here}es-two/#alpha")
    page.wait_for_url(f"{here}a/#alpha")


def test_without_a_choice_or_with_the_one_shown_the_page_stays(page: Page, here: str):
    page.goto(f"{here}es-one/")
    assert page.url == f"{here}es-one/"
    page.locator("[lang=fr]").click()
    page.wait_for_url(f"{here}fr/a/")
    page.goto(f"{here}es-two/")
    page.wait_for_function("document.readyState === 'complete'")
    assert page.url == f"{here}es-two/"
