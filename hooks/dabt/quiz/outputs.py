"""The programs of `output` questions, run: what they print must be the right answer."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator

from dabt.problems import Problem
from dabt.quiz.model import Question, Quiz
from dabt.quiz.numbers import is_accepted

SECONDS = 10


def run_output_questions(quiz: Quiz, seconds: float = SECONDS) -> tuple[Problem, ...]:
    """Run every program of a quiz's `output` questions; the problems of those that differ.

    Each runs alone, in an empty folder, in a Python that ignores the environment and user packages.
    """
    asked = (question for question in quiz.questions if question.type == "output")
    return tuple(problem for question in asked for problem in _run_question(question, seconds))


def _run_question(question: Question, seconds: float) -> Iterator[Problem]:
    printed, failure = run_program(question.code.text if question.code else "", seconds)
    if failure:
        message, mend = f"the program of '{question.id}' fails: {failure}", "mend the program"
    elif _is_right(question, printed):
        return
    else:
        message = f"the program of '{question.id}' prints {printed!r}, not the right answer"
        mend = "correct the answer or the program"
    yield Problem(question.at.file, question.at.line, question.at.column, message, "output", mend)


def _is_right(question: Question, printed: str) -> bool:
    if question.number:
        return is_accepted(printed, question.number.value, question.number.tolerance)
    return any(printed in option.text.values() for option in question.right)


def run_program(text: str, seconds: float = SECONDS) -> tuple[str, str]:
    """What a Python program prints, stripped, and why it failed (empty when it did not)."""
    command = [sys.executable, "-I", "-X", "utf8", "-c", text]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "", f"still running after {seconds:g} s"
    if done.returncode:
        return "", (done.stderr.strip().splitlines() or ["no message"])[-1]
    return done.stdout.strip(), ""
