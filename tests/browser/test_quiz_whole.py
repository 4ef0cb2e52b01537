"""The whole quiz: score, submission, review, reset, and what the browser keeps."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.quiz_page import (
    HOMES,
    KEY,
    LANGUAGES,
    answer,
    answer_all,
    check,
    first,
    kept,
    open_quiz,
    result,
    strings,
)

both = pytest.mark.parametrize("language", LANGUAGES)
CHAPTER = "full/traditional/"


def plain(text: str) -> str:
    """A text with ordinary spaces: French typography puts no-break ones."""
    return re.sub(r"[\u00a0\u202f]", " ", text)


def submit(quiz: Locator) -> None:
    quiz.locator(".dabt-quiz__submit").click()


def start_exam(quiz: Locator) -> None:
    quiz.locator(".dabt-quiz__exam").check()


@both
def test_the_unanswered_are_named_and_linked(page: Page, language: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    expect(quiz.locator(".dabt-q__check").first).to_be_hidden()
    expect(quiz.locator(".dabt-q__answer").first).to_be_hidden()
    answer_all(quiz, 30)
    left = [quiz.locator(".dabt-q").nth(index) for index in (1, 4)]
    for question in left:
        question.evaluate("(one) => one.querySelectorAll('input').forEach(i => i.checked = false)")
        question.evaluate(
            "(one) => one.querySelectorAll('input, select').forEach(i => i.value = '')"
        )
        question.locator("input, select").first.dispatch_event("input")
    submit(quiz)
    box = quiz.locator(".dabt-quiz__result")
    expect(box).to_have_attribute("role", "status")
    expect(box).to_have_attribute("aria-live", "polite")
    form = {"ar": "two", "fr": "other"}[language]
    said = strings(quiz)["unanswered"][form].replace("{count}", "2")
    expect(box).to_contain_text(said)
    links = box.locator("a")
    expect(links).to_have_text([strings(quiz)["question"].replace("{number}", n) for n in "25"])
    assert not quiz.locator(".dabt-q[data-result]").count()
    links.last.click()
    expect(left[1]).to_be_focused()


@both
def test_enter_checks_nothing_before_the_submission(page: Page, language: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    question = first(quiz, "numeric")
    question.locator(".dabt-q__number-input").fill("1")
    question.locator(".dabt-q__number-input").press("Enter")
    assert result(question) == ""


@both
def test_submitting_as_it_is_counts_the_unanswered_as_missed(page: Page, language: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    answer(quiz.locator(".dabt-q").first)
    submit(quiz)
    quiz.locator(".dabt-quiz__result button").click()
    form = strings(quiz)["score"]["one"]
    total = quiz.locator(".dabt-q").count()
    said = form.format(count=1, total=total, percent=round(100 / total))
    assert quiz.locator(".dabt-quiz__score").inner_text() == said
    expect(quiz.locator(".dabt-quiz__submit")).to_be_focused()
    expect(quiz.locator(".dabt-q__answer").first).to_be_visible()


# Plural forms by CLDR: Arabic 0 1 2 3-10 11-99, French 0-1 and the rest.
@pytest.mark.parametrize(
    ("language", "right", "form"),
    [
        ("ar", 0, "zero"),
        ("ar", 1, "one"),
        ("ar", 2, "two"),
        ("ar", 3, "few"),
        ("ar", 11, "many"),
        ("fr", 0, "one"),
        ("fr", 1, "one"),
        ("fr", 2, "other"),
    ],
)
def test_the_score_agrees_with_its_number(page: Page, language: str, right: int, form: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    total = quiz.locator(".dabt-q").count()
    answer_all(quiz, right)
    submit(quiz)
    said = strings(quiz)["score"][form]
    said = said.format(count=right, total=total, percent=round(100 * right / total))
    assert quiz.locator(".dabt-quiz__score").inner_text() == said


@both
def test_each_band_begins_where_the_table_says(page: Page, language: str):
    quiz = open_quiz(page, language)
    total = quiz.locator(".dabt-q").count()
    rows = quiz.locator(".dabt-quiz__bands tbody tr").evaluate_all(
        "rows => rows.map((row) => [row.dataset.from, row.lastElementChild.textContent.trim()])"
    )
    start_exam(quiz)
    band = quiz.locator(".dabt-quiz__band")
    for percent, label in rows:
        answer_all(quiz, -(-int(percent) * total // 100))
        submit(quiz)
        expect(band).to_have_text(strings(quiz)["band"].replace("{label}", label))
        expect(quiz.locator(".dabt-quiz__band--yours")).to_contain_text(label)


@both
def test_sections_to_review_are_those_of_what_was_missed(page: Page, language: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    answer_all(quiz, 30)
    missed = [quiz.locator(".dabt-q").nth(index) for index in (0, 2)]
    for question in missed:
        answer(question, right=False)
    submit(quiz)
    links = quiz.locator(".dabt-quiz__review li > a:first-child")
    reviews = [question.locator(".dabt-q__review a") for question in missed]
    expected = [review.get_attribute("href") for review in reviews]
    assert [link.get_attribute("href") for link in links.all()] == list(dict.fromkeys(expected))
    expect(links.first).to_have_text(reviews[0].text_content())
    numbers = quiz.locator(".dabt-quiz__review .dabt-quiz__link")
    expect(numbers).to_have_text([strings(quiz)["question"].replace("{number}", n) for n in "13"])


@both
def test_all_right_leaves_nothing_to_review(page: Page, language: str):
    quiz = open_quiz(page, language)
    start_exam(quiz)
    answer_all(quiz, 30)
    submit(quiz)
    expect(quiz.locator(".dabt-quiz__result")).to_contain_text(strings(quiz)["nothing_to_review"])
    expect(quiz.locator(".dabt-quiz__review")).to_have_count(0)


@both
def test_the_score_so_far_is_shown_and_not_read_aloud(page: Page, language: str):
    quiz = open_quiz(page, language)
    for question in quiz.locator(".dabt-q").all()[:2]:
        answer(question)
        check(question)
    box = quiz.locator(".dabt-quiz__result")
    total = quiz.locator(".dabt-q").count()
    form = strings(quiz)["checked"][{"ar": "two", "fr": "other"}[language]]
    expect(box).to_contain_text(form.format(count=2, total=total))
    expect(box).to_have_attribute("aria-live", "off")
    expect(box.locator(".dabt-quiz__band")).to_have_count(0)


@both
def test_reset_asks_first_and_forgets_this_quiz_only(page: Page, language: str):
    quiz = open_quiz(page, language)
    page.evaluate(f"localStorage.setItem('{KEY}', JSON.stringify({{elsewhere: ['r', [1], 1]}}))")
    page.reload()
    question = first(quiz, "single")
    answer(question)
    check(question)
    asked = []

    def decide(dialog):
        asked.append(dialog.message)
        dialog.accept() if len(asked) == 2 else dialog.dismiss()

    page.on("dialog", decide)
    reset = quiz.locator(".dabt-quiz__reset")
    reset.click()
    assert result(question) == "right"
    reset.click()
    assert asked == [strings(quiz)["reset_sure"]] * 2
    assert result(question) == ""
    expect(question.locator("input:checked")).to_have_count(0)
    expect(reset).to_be_focused()
    expect(quiz.locator(".dabt-quiz__result")).to_have_text(strings(quiz)["reset_done"])
    assert list(kept(page)) == ["elsewhere"]


def test_answers_are_shared_by_languages_and_pages(page: Page):
    page.goto(CHAPTER)
    copies = page.locator(".dabt-quiz[data-part=true] .dabt-q")
    copies.first.locator(".dabt-q__actions").wait_for()
    anchors = [copy.get_attribute("id") for copy in copies.all()]
    for copy, right in zip(copies.all(), (True, False), strict=False):
        answer(copy, right)
        check(copy)
    for language in LANGUAGES:
        quiz = open_quiz(page, language)
        assert result(quiz.locator(f"#{anchors[0]}")) == "right"
        assert result(quiz.locator(f"#{anchors[1]}")) == "wrong"
        expect(quiz.locator(f"#{anchors[0]} .dabt-q__verdict")).not_to_be_empty()
        expect(quiz.locator(f"#{anchors[0]} .dabt-q__verdict")).to_have_attribute(
            "aria-live", "off"
        )
        expect(quiz.locator(f"#{anchors[0]} .dabt-q__answer")).not_to_have_attribute("open", "")
    page.goto(f"{HOMES['fr']}{CHAPTER}")
    expect(page.locator(f"#{anchors[0]}[data-result=right]")).to_be_visible()


def test_a_unit_typed_in_one_language_is_understood_in_the_other(page: Page):
    """«112 Go» is kept as a number: the Arabic page calls the unit otherwise."""
    number = first(open_quiz(page, "fr"), "numeric")
    field = number.locator(".dabt-q__number-input")
    data = field.evaluate("field => ({...field.dataset})")
    field.fill(f"{data['value']} {data['unit']}")
    assert data["unit"] and check(number) == "right"
    again = first(open_quiz(page, "ar"), "numeric")
    assert again.locator(".dabt-q__number-input").input_value() == data["value"]
    assert result(again) == "right"


@pytest.mark.parametrize("kind", ["single", "multiple", "truefalse", "numeric", "order", "output"])
def test_every_kind_comes_back_after_a_reload(page: Page, kind: str):
    question = first(open_quiz(page, "ar"), kind)
    answer(question)
    page.reload()
    name = question.get_attribute("data-question")
    assert result(question) == ""
    assert len(kept(page)[name]) == 2
    assert check(question) == "right"
    revision, _, right = kept(page)[name]
    assert (revision, right) == (question.get_attribute("data-revision"), 1)
    page.reload()
    expect(question).to_have_attribute("data-result", "right")


def test_another_revision_drops_that_answer_only(page: Page):
    quiz = open_quiz(page, "fr")
    changed, same = first(quiz, "single"), first(quiz, "numeric")
    for question in (changed, same):
        answer(question)
        check(question)
    name = changed.get_attribute("data-question")
    page.evaluate(
        """([key, name]) => {
          const answers = JSON.parse(localStorage.getItem(key));
          answers[name][0] = "0ld";
          localStorage.setItem(key, JSON.stringify(answers));
        }""",
        [KEY, name],
    )
    page.reload()
    expect(same).to_have_attribute("data-result", "right")
    assert result(changed) == ""
    expect(changed.locator("input:checked")).to_have_count(0)
    assert list(kept(page)) == [same.get_attribute("data-question")]


def test_another_tab_is_followed(page: Page):
    question = first(open_quiz(page, "ar"), "single")
    other = page.context.new_page()
    twin = first(open_quiz(other, "fr"), "single")
    answer(twin)
    check(twin)
    expect(question).to_have_attribute("data-result", "right")
    answer(twin, right=False)
    expect(question).not_to_have_attribute("data-result", "right")


@both
@pytest.mark.parametrize("damaged", ["{oops", "null", "[]", "7", '"text"'])
def test_damaged_answers_are_told_once_and_replaced(page: Page, language: str, damaged: str):
    page.add_init_script(
        f"sessionStorage.done ??= (localStorage.setItem('{KEY}', {json.dumps(damaged)}), 1)"
    )
    quiz = open_quiz(page, language)
    note = page.locator(".dabt-quiz__note")
    expect(note).to_have_text(strings(quiz)["unreadable"])
    question = first(quiz, "single")
    answer(question)
    assert check(question) == "right"
    expect(note).to_have_count(1)
    page.reload()
    expect(question).to_have_attribute("data-result", "right")
    expect(note).to_have_count(0)


@pytest.mark.parametrize(
    "entry", ["7", "[]", '["{revision}"]', '["{revision}", 3, 1]', '["{revision}", [99], 1]', "{}"]
)
def test_a_damaged_answer_is_dropped_alone(page: Page, entry: str):
    question = first(open_quiz(page, "ar"), "single")
    name = question.get_attribute("data-question")
    entry = entry.replace("{revision}", question.get_attribute("data-revision"))
    page.evaluate(f'localStorage.setItem(\'{KEY}\', \'{{"{name}":{entry},"kept":["r",[1]]}}\')')
    page.reload()
    expect(question.locator(".dabt-q__check")).to_be_visible()
    assert result(question) == ""
    assert list(kept(page)) == ["kept"]
    expect(page.locator(".dabt-quiz__note")).to_have_count(0)


REFUSALS = {
    "denied": "Object.defineProperty(window, 'localStorage', {get() { throw Error('denied'); }})",
    "full": "Storage.prototype.setItem = () => { throw new Error('full'); }",
}


@both
@pytest.mark.parametrize("refusal", REFUSALS)
def test_without_storage_the_quiz_goes_on(page: Page, language: str, refusal: str):
    page.add_init_script(REFUSALS[refusal])
    quiz = open_quiz(page, language)
    for kind in ("single", "numeric"):
        question = first(quiz, kind)
        answer(question)
        assert check(question) == "right"
    expect(page.locator(".dabt-quiz__note")).to_have_text([strings(quiz)["not_kept"]])
    start_exam(quiz)
    answer_all(quiz, 30)
    submit(quiz)
    expect(quiz.locator(".dabt-quiz__score")).to_contain_text("100")
