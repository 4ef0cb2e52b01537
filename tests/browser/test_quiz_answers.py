"""One question at a time, by keyboard, in both languages."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.quiz_page import (
    LANGUAGES,
    answer,
    check,
    first,
    go_to,
    open_quiz,
    result,
    strings,
    tab_into,
    verdict,
)

both = pytest.mark.parametrize("language", LANGUAGES)


@both
@pytest.mark.parametrize("kind", ["single", "truefalse", "multiple"])
def test_only_enter_checks_a_choice_and_the_focus_stays(page: Page, language: str, kind: str):
    question = first(open_quiz(page, language), kind)
    go_to(page, question)
    choice = tab_into(page, question, "input")
    page.keyboard.press("Space")
    if kind != "multiple":
        page.keyboard.press("ArrowDown")
        choice = question.locator("input:focus")
        expect(choice).to_be_checked()
    assert result(question) == ""
    region = question.locator(".dabt-q__verdict")
    expect(region).to_be_empty()
    # What is announced must be in the page before its text comes.
    assert region.evaluate("(node) => getComputedStyle(node).display") != "none"

    address = page.url.partition("#")[0]
    page.keyboard.press("Enter")
    expect(region).to_have_attribute("role", "status")
    expect(region).to_have_attribute("aria-live", "polite")
    expect(region).not_to_be_empty()
    expect(choice).to_be_focused()
    assert result(question) in ("right", "wrong")
    assert page.url.partition("#")[0] == address


@both
def test_a_click_chooses_and_the_button_checks(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "single")
    question.locator("[data-right] label").click()
    assert result(question) == ""
    button = question.locator(".dabt-q__check")
    button.focus()
    page.keyboard.press("Enter")
    assert result(question) == "right"
    expect(button).to_be_focused()
    assert strings(quiz)["right"] in verdict(question)
    mark = question.locator("[data-right] .dabt-q__mark")
    expect(mark).to_have_text(strings(quiz)["mark_right"])
    expect(question.locator(".dabt-q__answer")).to_have_attribute("open", "")


@both
def test_each_wrong_option_gives_its_own_reason(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "single", ".dabt-q__why")
    reasons = question.locator(".dabt-q__why").evaluate_all(
        "nodes => nodes.map((node) => [node.dataset.option, node.textContent.trim()])"
    )
    assert len(reasons) > 1
    for option, reason in reasons:
        question.locator(f"input[value='{option}']").check()
        assert check(question) == "wrong"
        said = question.locator(".dabt-q__verdict").text_content()
        assert strings(quiz)["wrong"] in said
        assert [other for _, other in reasons if other in said] == [reason]
        chosen = question.locator(f"[data-option='{option}']:is(li)")
        expect(chosen.locator(".dabt-q__mark")).to_have_text(strings(quiz)["mark_wrong"])


@both
def test_a_new_choice_takes_the_verdict_away(page: Page, language: str):
    question = first(open_quiz(page, language), "single")
    answer(question, right=False)
    assert check(question) == "wrong"
    answer(question, right=True)
    assert result(question) == ""
    expect(question.locator(".dabt-q__mark")).to_have_count(0)
    assert verdict(question) == ""


@both
def test_nothing_chosen_is_said_and_not_counted(page: Page, language: str):
    quiz = open_quiz(page, language)
    for kind, said in (("single", "choose"), ("numeric", "type_number"), ("order", "place_all")):
        question = first(quiz, kind)
        assert check(question) == "ask"
        assert verdict(question) == strings(quiz)[said]
        expect(question.locator(".dabt-q__answer")).not_to_have_attribute("open", "")


# value, what is typed
SAME_NUMBER = [
    ("16", "16"),
    ("16", "16,0"),
    ("16", "16.0"),
    ("16", "١٦"),
    ("16", "١٦٫٠"),
    ("16", "۱۶"),
    ("16", " 16 "),
    ("16", "\u200e16\u200f"),
    ("16", "\u206616\u2069"),
    ("16", "+16"),
    ("16", "16%"),
    ("16", "16 ٪"),
    ("16", "16\u00a0Go"),
    ("16", "١٦Go"),
    ("16", "1.6e1"),
    ("-2.5", "-2,5"),
    ("-2.5", "\u22122.5"),
    ("-2.5", "\u200f-٢٫٥"),
    ("-2.5", "-٢،٥"),
    ("0.5", ",5"),
    ("1000", "1 000"),
    ("1000", "1\u00a0000"),
    ("1000", "1\u202f000"),
    ("1000", "1\u2009000"),
    ("1000", "1,000"),
    ("1000", "1.000"),
    ("1000", "1'000"),
    ("1000", "١٬٠٠٠"),
    ("1234567.5", "1 234 567,5"),
    ("1234567.5", "1,234,567.5"),
    ("1234567.5", "1.234.567,5"),
    ("1234567.5", "١٬٢٣٤٬٥٦٧٫٥"),
    ("0.3", "0.30000000000000004"),
    ("3.75", "3,750"),
]
OTHER_NUMBER = [
    ("125", "0,125"),
    ("16", "16.6"),
    ("16", "-16"),
    ("16", "1 6 0"),
    ("16", "0,16"),
    ("1000", "1"),
]
NO_NUMBER = ["", "  ", "seize", "ستة عشر", "16 Mo", "1.2.3", "1-2", "Go 16", "--16", ".", "٫"]


@pytest.fixture
def number(page: Page):
    """A numeric question whose unit is Go and whose value the test sets."""
    question = first(open_quiz(page, "ar"), "numeric")
    field = question.locator(".dabt-q__number-input")

    def graded(value: str, text: str) -> str:
        key = {"value": value, "tolerance": "0", "unit": "Go"}
        field.evaluate("(field, key) => Object.assign(field.dataset, key)", key)
        field.fill(text)
        field.press("Enter")
        expect(field).to_be_focused()
        return result(question)

    return graded


def test_a_number_is_read_as_people_type_it(number):
    read = [(value, text, number(value, text)) for value, text in SAME_NUMBER]
    assert [each for each in read if each[2] != "right"] == []


def test_another_number_is_wrong(number):
    assert [number(value, text) for value, text in OTHER_NUMBER] == ["wrong"] * len(OTHER_NUMBER)


def test_what_is_not_a_number_is_asked_again(number):
    assert [text for text in NO_NUMBER if number("16", text) != "ask"] == []


@both
def test_a_double_click_on_check_answers_nothing_else(page: Page, language: str):
    """The verdict moves the page: the second click lands where the last options are."""
    question = first(open_quiz(page, language), "single")
    answer(question, right=False)
    chosen = question.locator("input:checked").get_attribute("value")
    button = question.locator(".dabt-q__check")
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 2
    page.mouse.dblclick(x, y)
    assert result(question) == "wrong"
    assert question.locator("input:checked").get_attribute("value") == chosen


@both
def test_the_tolerance_of_the_question_is_used(page: Page, language: str):
    question = first(open_quiz(page, language), "numeric")
    field = question.locator(".dabt-q__number-input")
    field.evaluate("(field) => Object.assign(field.dataset, {value: '112', tolerance: '0.5'})")
    field.fill("١١٢٫٥")
    assert check(question) == "right"
    field.fill("112,51")
    assert check(question) == "wrong"
    expect(question.locator(".dabt-q__answer")).to_have_attribute("open", "")


@both
def test_an_order_is_given_by_keyboard(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "order")
    places = question.locator(".dabt-q__order > li")
    go_to(page, question)
    for item in places.all():
        tab_into(page, question, "select")
        page.keyboard.press(item.get_attribute("data-position"))
    assert result(question) == ""
    button = tab_into(page, question, "button")
    page.keyboard.press("Space")
    assert result(question) == "right"
    expect(button).to_be_focused()
    expect(places.first.locator(".dabt-q__mark")).to_have_text(strings(quiz)["placed"])


@both
def test_a_place_given_twice_is_named(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "order")
    answer(question)
    question.locator("li[data-position='3'] select").select_option("2")
    assert check(question) == "ask"
    assert verdict(question) == strings(quiz)["twice"].replace("{place}", "2")


@both
def test_a_wrong_order_tells_each_place(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "order")
    answer(question)
    for item, place in (("1", "2"), ("2", "1")):
        question.locator(f"li[data-position='{item}'] select").select_option(place)
    assert check(question) == "wrong"
    marks = question.locator("li[data-mark=wrong]")
    expect(marks).to_have_count(2)
    total = question.locator(".dabt-q__order > li").count()
    forms = strings(quiz)["in_place"].values()
    said = [form.format(count=total - 2, total=total) for form in forms]
    assert any(text in verdict(question).replace("\xa0", " ") for text in said)


@both
def test_a_set_must_be_exact_and_a_part_of_it_reveals_nothing(page: Page, language: str):
    quiz = open_quiz(page, language)
    question = first(quiz, "multiple")
    right = question.locator(".dabt-q__option[data-right] input")
    wrong = question.locator(".dabt-q__option:not([data-right]) input")
    right.first.check()
    wrong.first.check()
    assert check(question) == "wrong"
    assert re.search(r"2", verdict(question))
    expect(question.locator(".dabt-q__mark")).to_have_count(0)
    expect(question.locator(".dabt-q__answer")).not_to_have_attribute("open", "")
    answer(question, right=True)
    assert check(question) == "right"
    expect(question.locator(".dabt-q__answer")).to_have_attribute("open", "")
    for each in wrong.all():
        each.check()
    assert check(question) == "wrong"


@both
def test_an_output_is_chosen_among_programs_outputs(page: Page, language: str):
    quiz = open_quiz(page, language)
    for question in quiz.locator(".dabt-q[data-type=output]").all():
        answer(question, right=False)
        assert check(question) == "wrong"
        answer(question, right=True)
        assert check(question) == "right"


@both
def test_a_link_to_a_question_moves_the_focus_there(page: Page, language: str):
    name = open_quiz(page, language).locator(".dabt-q").nth(4).get_attribute("id")
    page.goto("about:blank")
    question = open_quiz(page, language, f"#{name}").locator(f"#{name}")
    expect(question).to_be_focused()
    expect(question).to_be_in_viewport()
    header = page.locator(".md-header")
    covered = header.bounding_box()["height"] if header.count() else 0
    assert question.bounding_box()["y"] >= covered - 1


@both
def test_the_verdict_comes_into_view_on_a_phone(page: Page, language: str):
    """Enter is pressed while the field stands at the lower edge of the screen."""
    page.set_viewport_size({"width": 390, "height": 844})
    question = first(open_quiz(page, language), "numeric")
    field = question.locator(".dabt-q__number-input")
    field.focus()
    field.evaluate("one => one.scrollIntoView({block: 'end'})")
    for text in ("", field.get_attribute("data-value")):
        field.fill(text)
        field.press("Enter")
        expect(question.locator(".dabt-q__verdict")).to_be_in_viewport(ratio=0.9)
