"""Programs of questions are run, and what they print is compared with the answer."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.course import read_course
from dabt.languages import load_languages
from dabt.problems import report
from dabt.quiz.load import read_quizzes
from dabt.quiz.model import Quiz
from dabt.quiz.outputs import run_output_questions, run_program

DATA = Path(__file__).parents[2] / "docs" / "_data"
QUIZZES = read_quizzes(DATA / "quizzes", load_languages(DATA / "languages.yml"))[0]
OPTIONS = """\
    options:
      - right: "1.9"
      - wrong: "2.1"
        why: {fr: On soustrait., ar: نطرح.}
"""


@pytest.mark.parametrize("quiz", QUIZZES, ids=lambda quiz: quiz.slug)
def test_programs_of_the_course_print_their_answers(quiz: Quiz) -> None:
    assert report(run_output_questions(quiz)) == ""


def problems(course: Path, seconds: float = 10) -> list[tuple[int, str]]:
    quiz = read_course(course / "docs")[0].quizzes["lora"]
    return [(problem.line, problem.message) for problem in run_output_questions(quiz, seconds)]


def test_right_answer(course: Path) -> None:
    assert problems(course) == []


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print(2.1)", "the program of 'printed' prints '2.1', not the right answer"),
        ("1 / 0", "the program of 'printed' fails: ZeroDivisionError: division by zero"),
        ("while True: pass", "the program of 'printed' fails: still running after 1 s"),
        ("import sys; sys.exit(3)", "the program of 'printed' fails: no message"),
        ("input()", "the program of 'printed' fails: EOFError: EOF when reading a line"),
    ],
)
def test_other_prints_and_failures(
    program: str, message: str, course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil("print(2.0 - 0.1)", program)
    assert problems(course, 1) == [(35, message)]


@pytest.mark.parametrize(
    ("value", "right"),
    [("1.9", True), ("1.90", True), ("2", False), ("2\n    tolerance: 0.1", True)],
)
def test_typed_number(
    value: str, right: bool, course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil(OPTIONS, f"    value: {value}\n")
    assert (problems(course) == []) == right


def test_arabic_is_printed_as_utf8() -> None:
    assert run_program("print('مرحبا')") == ("مرحبا", "")
