"""What site.js and the build do in place of the theme's script: each comfort once."""

import re

from playwright.sync_api import Page, expect

CHAPTER = "fr/full/traditional/"
ACTIVE = ".md-sidebar--secondary .md-nav__link--active"


def test_code_is_copied_as_it_can_be_run_and_it_is_said(new_context):
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(CHAPTER)
    block = page.locator(".annotate.highlight").first
    block.locator(".md-code__button").click()
    expect(page.locator(".md-dialog--active")).to_have_text("Copié")
    copied = page.evaluate("navigator.clipboard.readText()")
    lines = block.locator("code").inner_text().splitlines()
    assert copied.splitlines()[0] == lines[0].rstrip() and copied.endswith("\n")
    assert not re.search(r"[ \t]$|\(\d\)!", copied, re.MULTILINE)
    assert page.locator(".no-copy .md-code__button").count() == 0


def test_without_https_code_is_copied_too(page: Page):
    page.add_init_script("delete Navigator.prototype.clipboard")
    page.goto(CHAPTER)
    page.evaluate("addEventListener('copy', () => { window.copied = getSelection().toString(); })")
    page.locator(".md-code__button").first.click()
    expect(page.locator(".md-dialog--active")).to_have_text("Copié")
    assert page.evaluate("window.copied").strip()


def test_an_explanation_opens_by_key_and_closes_without_scripts(new_context):
    for scripts in (True, False):
        page = new_context(java_script_enabled=scripts).new_page()
        page.goto(CHAPTER)
        button = page.locator(".dabt-note").first
        note = page.locator(f"#{button.get_attribute('popovertarget')}")
        expect(note).to_be_hidden()
        button.focus()
        page.keyboard.press("Enter")
        expect(note).to_be_visible()
        box, place = note.bounding_box(), button.bounding_box()
        assert box and place and 0 <= box["y"] - place["y"] - place["height"] < 20
        page.keyboard.press("Escape")
        expect(note).to_be_hidden()


def test_explanations_are_printed_as_a_list(page: Page):
    page.goto(CHAPTER)
    page.emulate_media(media="print")
    expect(page.locator(".dabt-notes > li").first).to_be_visible()


def test_the_section_read_is_marked_in_the_contents_and_kept_in_the_address(page: Page):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(CHAPTER)
    assert page.locator(ACTIVE).count() == 0
    page.locator("#memory-budget").evaluate("e => e.scrollIntoView()")
    expect(page.locator(ACTIVE)).to_have_attribute("href", "#memory-budget")
    expect(page.locator(ACTIVE)).to_be_in_viewport()
    expect(page.locator(".md-header__title--active")).to_have_count(1)
    page.wait_for_function("location.hash === '#memory-budget'", timeout=5000)
    page.evaluate("scrollBy(0, -600)")
    page.locator(".md-top").click()
    page.wait_for_function("scrollY === 0 && location.hash === ''")
    expect(page.locator(ACTIVE)).to_have_count(0)
    assert page.locator(".md-top").get_attribute("hidden") is not None


def test_a_link_into_something_folded_opens_it(page: Page):
    page.goto(CHAPTER)
    page.locator("article details").first.evaluate(
        "e => { const p = document.createElement('p'); p.id = 'inside'; e.append(p); }"
    )
    page.evaluate("location.hash = '#inside'")
    expect(page.locator("#inside")).to_be_in_viewport()


def test_the_menu_of_a_phone_opens_and_closes(new_context):
    page = new_context(viewport={"width": 390, "height": 800}).new_page()
    page.goto(CHAPTER)
    menu = page.locator("#__drawer")
    link = page.locator(".md-nav--primary a[href$='compute-requirements/']")
    expect(link).not_to_be_in_viewport()
    page.locator("label[for=__drawer].md-header__button").click()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(link).not_to_be_in_viewport()
    page.evaluate("document.getElementById('__drawer').checked = true")
    page.evaluate("location.hash = '#goals'")
    expect(menu).not_to_be_checked()


def test_keys_turn_the_page_but_not_while_one_writes(page: Page):
    page.goto("fr/glossary/")
    page.locator(".dabt-glossary__filter input").press("n")
    page.wait_for_timeout(100)
    assert page.url.endswith("fr/glossary/")
    page.locator("h1").click()
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"fr/progress/$"))
    page.keyboard.press("n")
    page.wait_for_url(re.compile(r"fr/glossary/$"))
