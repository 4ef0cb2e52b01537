"""The quiz as a page: without JavaScript, on paper, on a narrow screen, by touch."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.quiz_page import (
    HOMES,
    LANGUAGES,
    QUIZ,
    QUIZZES,
    answer,
    answer_all,
    check,
    check_all,
    first,
    go_to,
    open_quiz,
    tab_into,
)
from tests.browser.test_axe import AXE, NEUTRAL, RUN

both = pytest.mark.parametrize("language", LANGUAGES)
KINDS = {"single", "multiple", "truefalse", "numeric", "order", "output"}
each_quiz = pytest.mark.parametrize("path", QUIZZES)


@pytest.fixture
def bare_page(browser: Browser, browser_context_args: dict) -> Iterator[Page]:
    """A page in a browser whose JavaScript is off."""
    context = browser.new_context(**browser_context_args, java_script_enabled=False)
    yield context.new_page()
    context.close()


@both
def test_without_javascript_everything_is_readable(bare_page: Page, language: str):
    bare_page.goto(f"{HOMES[language]}{QUIZ}")
    quiz = bare_page.locator(".dabt-quiz")
    questions = quiz.locator(".dabt-q")
    assert questions.count() > 5
    expect(quiz.locator("button:visible")).to_have_count(0)
    expect(quiz.locator(".dabt-quiz__exam:visible")).to_have_count(0)
    expect(quiz.locator(".dabt-quiz__bands")).to_be_visible()
    question = questions.first
    expect(question.locator("legend")).to_be_visible()
    expect(question.locator("input").first).to_be_visible()
    expect(question.locator(".dabt-q__right")).to_be_hidden()
    question.locator(".dabt-q__answer > summary").click()
    expect(question.locator(".dabt-q__right")).to_be_visible()
    expect(question.locator(".dabt-q__explain")).to_be_visible()


@both
def test_paper_shows_questions_and_neither_answers_nor_choices(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "single")
    answer(question)
    check(question)
    page.emulate_media(media="print")
    expect(question.locator("legend")).to_be_visible()
    expect(question.locator("label").first).to_be_visible()
    hidden = ".dabt-q__answer, .dabt-q__verdict, .dabt-q__mark, .dabt-quiz__tools, .dabt-quiz__key"
    expect(quiz.locator(f":is({hidden}, button):visible")).to_have_count(0)
    row = question.locator(".dabt-q__option[data-right]")
    other = question.locator(".dabt-q__option:not([data-right])").first
    look = """(node) => {
      const {backgroundColor, boxShadow, border} = getComputedStyle(node);
      return [backgroundColor, boxShadow, border];
    }"""
    assert row.evaluate(look) == other.evaluate(look)
    drawn = "(node) => getComputedStyle(node.querySelector('input')).appearance"
    assert row.evaluate(drawn) == "none"


@both
@pytest.mark.parametrize(("button", "with_key"), [("print", False), ("print-key", True)])
def test_the_key_is_printed_on_demand(page: Page, language: str, button: str, with_key: bool):
    page.add_init_script(
        "window.print = () => (window.printed = document.documentElement.className)"
    )
    quiz = open_quiz(page, language)
    quiz.locator(f".dabt-quiz__{button}").click()
    assert ("dabt-print-key" in page.evaluate("window.printed")) == with_key
    page.emulate_media(media="print")
    key = quiz.locator(".dabt-quiz__key")
    assert key.is_visible() == with_key
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(key).to_be_hidden()


@both
@each_quiz
def test_a_narrow_screen_needs_no_sideways_scroll(page: Page, language: str, path: str):
    page.set_viewport_size({"width": 320, "height": 700})
    quiz = open_quiz(page, language, path=path)
    answer_all(quiz, 0)
    check_all(quiz)
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert sticking_out(quiz) == []


def sticking_out(quiz: Locator) -> list[str]:
    """Return the parts of the questions that leave the box of the quiz."""
    box = quiz.bounding_box()
    outside = """(nodes, [start, end]) => nodes.filter((node) => {
      const {left, right, width} = node.getBoundingClientRect();
      return width && (left < start - 1 || right > end + 1);
    }).map((node) => node.outerHTML.slice(0, 120))"""
    parts = quiz.locator(".dabt-q__ask, .dabt-q__body > *, .dabt-q__option, .dabt-q__order > li")
    return parts.evaluate_all(outside, [box["x"], box["x"] + box["width"]])


@both
def test_a_finger_finds_everything(page: Page, language: str):
    page.set_viewport_size({"width": 390, "height": 800})
    quiz = open_quiz(page, language)
    small = "(nodes, least) => nodes.filter((n) => n.getBoundingClientRect().height < least).length"
    rows = quiz.locator(".dabt-q__option > label, .dabt-q__order > li")
    assert rows.evaluate_all(small, 44) == 0
    others = quiz.locator("button:visible, summary:visible, select, .dabt-q__number-input")
    assert others.evaluate_all(small, 24) == 0


@both
def test_the_focus_and_the_native_choices_are_visible(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "single")
    choice = question.locator("input").first
    assert choice.bounding_box()["width"] >= 15
    assert choice.evaluate("(node) => getComputedStyle(node).appearance") != "none"
    go_to(page, question)
    tab_into(page, question, "input")
    outline = "(node) => getComputedStyle(node).outlineStyle"
    assert question.locator(".dabt-q__option:has(input:focus)").evaluate(outline) == "solid"
    button = question.locator(".dabt-q__check")
    button.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert button.evaluate(outline) == "solid"


@both
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_accepts_verdicts_marks_and_score(page: Page, language: str, scheme: str):
    page.emulate_media(color_scheme=scheme)
    quiz = open_quiz(page, language)
    kinds = quiz.locator(".dabt-q").evaluate_all("all => all.map((one) => one.dataset.type)")
    assert set(kinds) == KINDS
    answer_all(quiz, 15)
    check_all(quiz)
    page.evaluate(NEUTRAL)
    page.evaluate(AXE)
    found = page.evaluate(RUN.replace("axe.run(document", "axe.run('.dabt-quiz'"), True)
    assert found["violations"] == []
    assert found["contrast"] > 300


@both
@each_quiz
def test_the_quiz_runs_without_errors(page: Page, language: str, path: str):
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    quiz = open_quiz(page, language, path=path)
    total = quiz.locator(".dabt-q").count()
    for right in (0, total):
        answer_all(quiz, right)
        assert check_all(quiz) == ["right" if right else "wrong"] * total
    texts = quiz.inner_text()
    assert "undefined" not in texts
    assert "{" not in quiz.locator(".dabt-quiz__result").inner_text()
    assert errors == []
