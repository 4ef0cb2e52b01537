"""The command line: `PYTHONPATH=hooks python -m dabt check [--root FOLDER]`."""

import argparse
import sys
from pathlib import Path

from dabt.course import lint_course, read_course
from dabt.problems import errors, report


def check(root: Path) -> int:
    """Check languages, interface strings, quizzes and pages; print all problems; 1 on errors."""
    course, problems = read_course(root / "docs")
    if not errors(problems):
        problems += lint_course(course)
    if problems:
        print(report(problems))
    count = sum(len(quiz.questions) for quiz in course.quizzes.values())
    wrong = len(errors(set(problems)))
    warned = len(set(problems)) - wrong
    read = f"{len(course.languages)} languages, {len(course.quizzes)} quizzes, {count} questions"
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
