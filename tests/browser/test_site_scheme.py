"""Light and dark: as the system asks, as the reader chooses, and kept."""

import pytest
from playwright.sync_api import Page

SCHEME = "document.body.dataset.mdColorScheme"
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.mark.parametrize("path", ["", "fr/"])
@pytest.mark.parametrize(("asked", "scheme"), [("light", "default"), ("dark", "slate")])
def test_the_wish_of_the_system_is_followed(new_context, path, asked, scheme):
    page = new_context(color_scheme=asked).new_page()
    page.goto(path)
    assert page.evaluate(SCHEME) == scheme


@pytest.mark.parametrize("path", ["full/traditional/", "fr/full/traditional/"])
def test_the_choice_of_the_reader_is_kept(new_context, path):
    page = new_context(color_scheme="light").new_page()
    page.goto(path)
    light = page.evaluate(PAPER)
    page.locator(".dabt-scheme").click()
    page.wait_for_function(f"{SCHEME} === 'slate'")
    page.wait_for_function(f"{PAPER} !== '{light}'")
    page.reload()
    assert page.evaluate(SCHEME) == "slate"
    page.locator(".dabt-scheme").click()
    page.wait_for_function(f"{SCHEME} === 'default'")


def test_the_button_is_reached_and_pressed_by_keyboard(page: Page):
    page.goto("")
    before = page.evaluate(SCHEME)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.dabt-scheme')"):
            break
    else:
        pytest.fail("Tab does not reach the button")
    page.keyboard.press("Enter")
    page.wait_for_function(f"{SCHEME} !== '{before}'")
