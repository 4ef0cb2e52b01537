"""A reader's way: what is finished, where he stopped, the page of his progress."""

import json

from playwright.sync_api import Page, expect

CHAPTER, SECTION = "peft/lora", "alpha"
FORBID = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("forbidden", "SecurityError") } })"""


def kept(page: Page, key: str = "dabt:way") -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{key}')") or "{}")


def state_of(page: Page, slug: str):
    return page.locator(f'[data-slug="{slug}"] .dabt-progress__state')


def answer_first(page: Page) -> str:
    """Answer the first question of a page; return its id."""
    question = page.locator(".dabt-q").first
    question.locator("label").first.click()
    question.locator(".dabt-q__check").click()
    return question.get_attribute("data-question") or ""


def test_a_tick_marks_the_chapter_in_every_menu_and_can_be_taken_back(page: Page):
    page.goto(f"{CHAPTER}/")
    name = answer_first(page)
    box = page.get_by_label("أتممتُ هذا الفصل")
    box.check()
    page.goto(f"fr/{CHAPTER}/")
    mark = page.locator(".md-nav--primary .dabt-done")
    expect(mark).to_have_count(1)
    expect(mark).to_have_attribute("aria-label", "terminé")
    page.goto("fr/progress/")
    expect(page.locator(".dabt-progress__sum")).to_contain_text("1 sur")
    expect(state_of(page, CHAPTER)).to_contain_text("terminé · vérification rapide")
    expect(state_of(page, "quizzes/lora")).to_contain_text("1 sur 30")
    expect(state_of(page, "peft/qlora")).to_have_text("pas encore terminé")
    # An answer to what the question was before is none to what it is now.
    page.evaluate(
        """name => { const all = JSON.parse(localStorage["dabt:answers"]);
        all[name][0] = "older"; localStorage["dabt:answers"] = JSON.stringify(all) }""",
        name,
    )
    page.reload()
    expect(state_of(page, "quizzes/lora")).to_have_text("pas encore commencé")
    page.goto(f"{CHAPTER}/")
    expect(box).to_be_checked()
    box.uncheck()
    expect(page.locator(".dabt-done")).to_have_count(0)


def test_the_home_leads_back_to_the_section_and_past_a_finished_chapter(page: Page):
    page.goto(f"{CHAPTER}/#{SECTION}")
    title = page.locator(f"#{SECTION}").evaluate("e => e.firstChild.textContent.trim()")
    page.goto("")
    link = page.locator(".dabt-resume a")
    expect(link).to_contain_text(title)
    link.click()
    page.wait_for_url(f"**/{CHAPTER}/#{SECTION}")
    page.get_by_label("أتممتُ هذا الفصل").check()
    page.goto("fr/")
    expect(link).to_have_attribute("href", "/course/fr/quizzes/lora/")


def test_a_copy_brings_back_what_was_erased(page: Page, tmp_path):
    page.goto(f"{CHAPTER}/")
    page.get_by_label("أتممتُ هذا الفصل").check()
    name = answer_first(page)
    page.goto("progress/")
    with page.expect_download() as download:
        page.locator("[data-do=export]").click()
    copy = tmp_path / "copy.json"
    download.value.save_as(copy)
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("[data-do=reset]").click()
    expect(state_of(page, CHAPTER)).to_have_text("لم تتمّه بعد")
    expect(page.locator(".dabt-done")).to_have_count(0)
    assert kept(page) == kept(page, "dabt:answers") == {}
    (tmp_path / "other.json").write_text('{"dabt:way": []}')
    page.locator("input[type=file]").set_input_files(tmp_path / "other.json")
    expect(page.locator(".dabt-progress__sum")).to_contain_text("لم يتغيّر شيء")
    page.locator("input[type=file]").set_input_files(copy)
    expect(state_of(page, CHAPTER)).to_contain_text("أتممتَه")
    assert kept(page)["done"] == {CHAPTER: 1}
    assert name in kept(page, "dabt:answers")


def test_what_cannot_be_kept_is_said(page: Page):
    page.add_init_script(FORBID)
    page.goto("fr/progress/")
    expect(page.locator(".dabt-progress__sum")).to_contain_text("n’autorise pas")
    expect(page.locator(".dabt-progress__tools")).to_be_hidden()
    page.goto(f"fr/{CHAPTER}/")
    page.locator(".dabt-finish input").check()
    expect(page.locator(".dabt-finish")).to_contain_text("n’autorise pas")


def test_without_a_script_the_list_is_there(new_context):
    page = new_context(java_script_enabled=False).new_page()
    page.goto("progress/")
    assert page.locator(".dabt-progress__list a").count() >= 17
    expect(page.locator(".dabt-progress__plain")).to_be_visible()
    page.goto(f"{CHAPTER}/")
    expect(page.locator(".dabt-finish")).to_be_hidden()


def test_a_heading_has_a_link_with_a_name_and_paper_is_white(page: Page):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{CHAPTER}/")
    link = page.locator(f"#{SECTION} .headerlink")
    expect(link).to_have_accessible_name("رابط إلى هذا القسم")
    link.focus()
    expect(link).to_have_css("opacity", "1")
    link.press("Enter")
    page.wait_for_url(f"**/{CHAPTER}/#{SECTION}")
    page.emulate_media(media="print")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    for hidden in ("header.md-header", ".dabt-finish", ".md-code__nav >> nth=0", ".md-footer"):
        expect(page.locator(hidden)).to_be_hidden()
    # An explanation of code, closed on the screen, stands below it with its number.
    note = page.locator(".dabt-notes > li").first
    expect(note).to_be_visible()
    expect(note).to_have_css("overflow", "visible")
    assert (
        note.bounding_box()["width"] > page.locator(".dabt-notes").first.bounding_box()["width"] / 2
    )
