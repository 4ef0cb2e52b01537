"""The command line: `PYTHONPATH=hooks python -m dabt check [--root FOLDER]`."""

import argparse
import sys
from pathlib import Path

from dabt.course import lint_course, lint_words, read_course
from dabt.problems import errors, report


def check(root: Path) -> int:
    """Check data files, pages and the words of all texts; print all problems; 1 on errors."""
    course, problems = read_course(root / "docs")
    if not errors(problems):
        problems += (*lint_course(course), *lint_words(course, root / "docs"))
    if problems:
        print(report(problems))
    count = sum(len(quiz.questions) for quiz in course.quizzes.values())
    wrong = len(errors(set(problems)))
    warned = len(set(problems)) - wrong
    terms = len(course.glossary.terms)
    read = (
        f"{len(course.languages)} languages, {len(course.quizzes)} quizzes, "
        f"{count} questions, {terms} terms"
    )
    print(f"dabt: {read}: {wrong} errors, {warned} warnings")
    return 1 if wrong else 0


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, do what they ask, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dabt", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="check the data files and pages of the course")
    checking.add_argument("--root", type=Path, default=Path(), help="the project's folder")
    chosen = parser.parse_args(arguments)
    return check(chosen.root)


if __name__ == "__main__":
    sys.exit(main())
