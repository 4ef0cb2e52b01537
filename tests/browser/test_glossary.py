"""Definitions of terms by mouse, keyboard, finger and without scripts; the filter of the page."""

import re

import pytest
from playwright.sync_api import Page, expect

CHAPTERS = ["full/traditional/", "fr/full/traditional/"]
WIDTHS = [390, 1280]
SETTLED = 400  # milliseconds: longer than the delays of terms.js


def first_mark(page: Page):
    return page.locator("#memory-budget ~ ul a.dabt-term").first


def tip(page: Page):
    return page.locator(".dabt-tip")


def assert_whole(page: Page) -> None:
    """The definition lies inside the window, and widens nothing."""
    box = tip(page).bounding_box()
    size = page.viewport_size
    assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"], box
    assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"], box
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)


@pytest.mark.parametrize("path", CHAPTERS)
def test_hover(page: Page, path):
    page.goto(path)
    mark = first_mark(page)
    mark.hover()
    expect(tip(page)).to_be_visible()
    assert_whole(page)
    # It stays while the pointer is on it, so that its link can be followed and its text copied.
    tip(page).hover()
    page.wait_for_timeout(SETTLED)
    expect(tip(page)).to_be_visible()
    page.mouse.move(1, 1)
    expect(tip(page)).to_be_hidden()
    mark.hover()
    expect(tip(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip(page)).to_be_hidden()


@pytest.mark.parametrize("path", CHAPTERS)
def test_keyboard(page: Page, path):
    page.goto(path)
    mark = first_mark(page)
    page.locator("#memory-budget .headerlink").focus()
    page.keyboard.press("Tab")
    for _ in range(10):
        if mark.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(tip(page)).to_be_visible()
    described = page.locator(f"#{mark.get_attribute('aria-describedby')}")
    assert described.text_content() in tip(page).text_content()
    page.keyboard.press("Escape")
    expect(tip(page)).to_be_hidden()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(tip(page)).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"glossary/#term-"))


@pytest.mark.parametrize("path", CHAPTERS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tap(new_context, path, scheme):
    context = new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True, color_scheme=scheme
    )
    page = context.new_page()
    page.goto(path)
    mark = first_mark(page)
    mark.tap()
    expect(tip(page)).to_be_visible()
    assert_whole(page)
    assert "glossary" not in page.url
    page.locator("#memory-budget").tap(position={"x": 60, "y": 30})
    expect(tip(page)).to_be_hidden()
    mark.tap()
    expect(tip(page)).to_be_visible()
    mark.tap()
    page.wait_for_url(re.compile(r"glossary/#term-"))
    context.close()


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_definition_is_whole_on_a_phone(new_context, path):
    page = new_context(viewport={"width": 390, "height": 800}).new_page()
    page.goto(path)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    marks = page.locator("a.dabt-term")
    assert marks.count() > 20
    for index in range(0, marks.count(), 5):
        page.mouse.move(1, 1)
        expect(tip(page)).to_be_hidden()
        mark = marks.nth(index)
        mark.hover()
        shown = tip(page).locator("a")
        expect(shown).to_have_attribute("href", mark.evaluate("e => e.href"))
        expect(shown).to_be_visible()
        assert_whole(page)
    page.context.close()


@pytest.mark.parametrize("path", CHAPTERS)
def test_without_scripts_a_mark_is_a_link_to_its_term(new_context, path):
    page = new_context(java_script_enabled=False).new_page()
    page.goto(path)
    mark = first_mark(page)
    name = mark.get_attribute("href").rpartition("#")[2]
    expect(page.locator(".dabt-terms")).to_be_hidden()
    mark.click()
    assert page.url.endswith(f"glossary/#{name}")
    expect(page.locator(f"#{name}")).to_be_in_viewport()
    expect(page.locator(".dabt-glossary__filter")).to_be_hidden()
    page.context.close()


@pytest.mark.parametrize(
    ("path", "wanted", "term"),
    [
        ("glossary/", "لورا", "lora"),
        ("glossary/", "حقبة", "epoch"),
        ("glossary/", "warmup", "warmup"),
        ("fr/glossary/", "ECHAUFFEMENT", "warmup"),
        ("fr/glossary/", "affinage", "fine-tuning"),
    ],
)
def test_filter(page: Page, path, wanted, term):
    page.goto(path)
    entries = page.locator(".dabt-entry:visible")
    before = entries.count()
    box = page.locator(".dabt-glossary__filter input")
    box.fill(wanted)
    expect(page.locator(f"#term-{term}")).to_be_visible()
    assert 0 < entries.count() < before / 4
    assert page.locator(".dabt-letter:visible").count() <= entries.count()
    expect(page.locator(".dabt-glossary__filter [role=status]")).to_have_text(str(entries.count()))
    box.fill("zzzz")
    assert entries.count() == 0
    expect(page.locator(".dabt-glossary__filter [role=status]")).not_to_be_empty()
    box.fill("")
    assert entries.count() == before


def test_axe_with_an_open_definition(page: Page):
    from test_axe import run_axe_on

    page.goto("full/traditional/")
    first_mark(page).hover()
    expect(tip(page)).to_be_visible()
    assert run_axe_on(page)["violations"] == []
