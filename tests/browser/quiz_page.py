"""What the quiz tests share: where quizzes are, and how to answer a question by its own key.

Nothing here knows a question: ids, answers and reasons are read from the page, so that writing
questions breaks no test.
"""

from playwright.sync_api import Locator, Page

from tools.stages import ROOT

QUIZ = "quizzes/full-fine-tuning/"
# The pages of quizzes, each by its source in one of the languages.
QUIZZES = tuple(f"quizzes/{path.stem}/" for path in sorted((ROOT / "docs/fr/quizzes").glob("*.md")))
HOMES = {"ar": "", "fr": "fr/"}
LANGUAGES = tuple(HOMES)
KEY = "dabt:answers"

# Puts a right or a wrong answer into a question as a reader would, the event included.
ANSWER = """(question, right) => {
  const told = (input) => input.dispatchEvent(new Event("input", {bubbles: true}));
  const number = question.querySelector(".dabt-q__number-input");
  if (number) {
    number.value = right ? number.dataset.value : "987654321";
    return told(number);
  }
  const items = [...question.querySelectorAll(".dabt-q__order > li")];
  for (const item of items) {
    const place = Number(item.dataset.position);
    const select = item.querySelector("select");
    select.value = right ? place : items.length + 1 - place;
    told(select);
  }
  for (const option of question.querySelectorAll(".dabt-q__option")) {
    const input = option.querySelector("input");
    const wanted = ("right" in option.dataset) === right;
    if (input.checked !== wanted && (wanted || input.type === "checkbox")) input.click();
  }
}"""


def open_quiz(page: Page, language: str, anchor: str = "", path: str = QUIZ) -> Locator:
    """Open a full quiz in a language and return it."""
    page.goto(f"{HOMES[language]}{path}{anchor}")
    quiz = page.locator(".dabt-quiz[data-part=false]")
    quiz.locator(".dabt-quiz__tools").wait_for()
    return quiz


def first(quiz: Locator, kind: str, having: str = ".dabt-q__body") -> Locator:
    """The first question of a kind that holds something."""
    return quiz.locator(f".dabt-q[data-type={kind}]:has({having})").first


def go_to(page: Page, question: Locator) -> None:
    """Follow a link to a question: the focus goes there."""
    page.goto(f"{page.url.partition('#')[0]}#{question.get_attribute('id')}")


def answer(question: Locator, right: bool = True) -> None:
    """Give an answer; nothing is checked yet."""
    question.evaluate(ANSWER, right)


def answer_all(quiz: Locator, right: int) -> None:
    """Answer every question, the first `right` ones rightly."""
    each = f"(questions, right) => questions.forEach((one, at) => ({ANSWER})(one, at < right))"
    quiz.locator(".dabt-q").evaluate_all(each, right)


def check_all(quiz: Locator) -> list[str]:
    """Check every question at once and return the verdicts."""
    quiz.locator(".dabt-q__check").evaluate_all("buttons => buttons.forEach((one) => one.click())")
    return quiz.locator(".dabt-q").evaluate_all("all => all.map((one) => one.dataset.result)")


def check(question: Locator) -> str:
    """Press the button and return the verdict: right, wrong or ask."""
    question.locator(".dabt-q__check").click()
    return result(question)


def result(question: Locator) -> str:
    """The verdict that a question bears, empty when it was not checked."""
    return question.get_attribute("data-result") or ""


def verdict(question: Locator) -> str:
    """The text of the live region."""
    return question.locator(".dabt-q__verdict").inner_text()


def tab_into(page: Page, question: Locator, control: str) -> Locator:
    """Press Tab until the focus is on a control of the question."""
    for _ in range(12):
        page.keyboard.press("Tab")
        focused = question.locator(f"{control}:focus")
        if focused.count():
            return focused
    raise AssertionError(f"Tab never reaches {control}")


def strings(quiz: Locator) -> dict:
    """The strings that the page gives to the script."""
    return quiz.locator(".dabt-quiz__strings").evaluate(
        "node => JSON.parse(node.content.textContent)"
    )


def kept(page: Page) -> dict:
    """The answers that the browser keeps."""
    return page.evaluate(f"JSON.parse(localStorage.getItem('{KEY}') ?? '{{}}')")
