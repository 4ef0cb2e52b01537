"""The command line, with PYTHONPATH=hooks.

python -m dabt check                          # data files, pages, words
python -m dabt fix [FILE ...]                 # mend spaces, marks and digits in texts
python -m dabt status [--all]                 # what to translate or to review next
python -m dabt confirm peft/lora#alpha        # read in all languages: they teach the same
python -m dabt confirm --all                  # the whole course
python -m dabt confirm --unchanged peft/lora  # what changed was a typo: nothing to follow
python -m dabt addresses                      # add new pages and sections to those to keep
python -m dabt new es --name Español          # add a language
"""

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from dabt.addresses import lint_addresses, record_addresses
from dabt.course import Course, lint_course, lint_words, read_course
from dabt.languages import Language, direction, load_languages
from dabt.pages import read_pages
from dabt.problems import DabtError, errors, report, shown
from dabt.text.check import fix_file, lint_texts, readable
from dabt.translation.confirm import confirm as confirm_units
from dabt.translation.new import Wanted, add_language, closest
from dabt.translation.status import NEXT, render_chapters, render_status


def check(root: Path) -> int:
    """Check data files, pages and the words of all texts; print all problems; 1 on errors."""
    course, problems = read_course(root / "docs")
    if not errors(problems):
        all_pages = tuple(read_pages(root / "docs", course.languages))
        problems += (*lint_course(course), *lint_words(course, root, all_pages))
        problems += lint_texts(root, course.languages)
        problems += tuple(lint_addresses(root / "docs/_data", all_pages))
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
    print(render_status(course.translation))
    print(f"dabt: {read}: {wrong} errors, {warned} warnings")
    return 1 if wrong else 0


def fix(root: Path, files: list[Path]) -> int:
    """Mend how texts are written, where no judgement is needed; the given files, or all."""
    known = dict(readable(root, load_languages(root / "docs/_data/languages.yml")))
    wanted = {path.resolve() for path in files}
    changed = [
        path
        for path, codes in known.items()
        if (not wanted or path.resolve() in wanted) and fix_file(path, codes)
    ]
    for path in changed:
        print(f"mended: {shown(path)}")
    print(f"fix: {len(changed)} files changed")
    return 0


def status(root: Path, everything: bool) -> int:
    """Print how far each language is, and its next tasks; never an error."""
    course = _read(root)
    if chapters := render_chapters(course.translation):
        print(f"{chapters}\n")
    print(render_status(course.translation, 0 if everything else NEXT))
    return 0


def confirm(root: Path, chosen: argparse.Namespace) -> int:
    """Write down what was read as confirmed; 2 when nothing is named."""
    if bool(chosen.names) == chosen.all:
        print("error: name what you read, or say --all\n  mend: confirm peft/lora#alpha")
        return 2
    course = _read(root)
    languages = [code for one in chosen.language for code in one.split(",")]
    count = confirm_units(
        root / "docs/_data", course.translation, chosen.names, languages, chosen.unchanged
    )
    print(f"confirmed: {count}")
    return 0


def addresses(root: Path) -> int:
    """Add new pages and sections to the list of those that never vanish."""
    languages = load_languages(root / "docs/_data/languages.yml")
    count = record_addresses(root / "docs/_data", read_pages(root / "docs", languages))
    print(f"addresses: {count} pages are kept")
    return 0


def new(root: Path, chosen: argparse.Namespace) -> int:
    """Add a language and print what to do next."""
    languages = load_languages(root / "docs/_data/languages.yml")
    way = chosen.dir or direction(chosen.code)
    fallback = chosen.fallback or closest(languages, way)
    language = Language(chosen.code, chosen.name, way, fallback=fallback)
    theme = find_spec("material")
    folders = theme.submodule_search_locations if theme else ()
    themes = [root / "overrides", *(Path(one, "templates") for one in folders or ())]
    print(add_language(root, Wanted(language, chosen.site_name), themes))
    return 0


def _read(root: Path) -> Course:
    """The course, when its languages and records can be read; other problems are for `check`."""
    course, problems = read_course(root / "docs")
    if fatal := [one for one in problems if not course.languages or one.code == "record"]:
        raise DabtError(fatal)
    return course


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, do what they ask, return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m dabt",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="check the data files and pages of the course")
    fixing = commands.add_parser("fix", help="mend how texts are written, where that is plain")
    fixing.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all")
    telling = commands.add_parser("status", help="what to translate or to review next")
    telling.add_argument("--all", action="store_true", help="all tasks, not the next five")
    confirming = commands.add_parser("confirm", help="say that the languages teach the same")
    confirming.add_argument("names", nargs="*", metavar="NAME", help="peft/lora or peft/lora#alpha")
    confirming.add_argument("--all", action="store_true", help="the whole course")
    confirming.add_argument(
        "--language", action="append", default=[], help="only these, of more than two: ar,fr"
    )
    confirming.add_argument(
        "--unchanged", action="store_true", help="only a typo changed: nothing to follow"
    )
    keeping = commands.add_parser("addresses", help="add what is new to the addresses to keep")
    adding = commands.add_parser("new", help="add a language")
    adding.add_argument("code", help="two letters: es")
    adding.add_argument("--name", required=True, help="in the language itself: Español")
    adding.add_argument("--dir", choices=("ltr", "rtl"), help="default: that of the language")
    adding.add_argument("--fallback", default="", help="shown for what it lacks")
    adding.add_argument("--site-name", default="Dabt", help="the course in this language")
    for one in (checking, fixing, telling, confirming, keeping, adding):
        one.add_argument("--root", type=Path, default=Path(), help="the project's folder")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "fix":
            return fix(chosen.root, chosen.files)
        if chosen.command == "status":
            return status(chosen.root, chosen.all)
        if chosen.command == "confirm":
            return confirm(chosen.root, chosen)
        if chosen.command == "addresses":
            return addresses(chosen.root)
        if chosen.command == "new":
            return new(chosen.root, chosen)
        return check(chosen.root)
    except DabtError as error:
        print(error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
