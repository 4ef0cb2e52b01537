"""The whole course: pages, links, and the command line."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.__main__ import main
from dabt.course import read_course
from dabt.links import relative_link
from dabt.pages import section_titles

HOOKS = Path(__file__).parents[2] / "hooks"


@pytest.mark.parametrize(
    ("source", "target", "section", "link"),
    [
        ("quizzes/lora.md", "peft/lora.md", "idea", "../../peft/lora/#idea"),
        ("peft/lora.md", "peft/lora.md", "idea", "#idea"),
        ("peft/lora.md", "peft/qlora.md", "", "../qlora/"),
        ("index.md", "peft/lora.md", "idea", "peft/lora/#idea"),
        ("peft/lora.md", "index.md", "goals", "../../#goals"),
        ("peft/index.md", "peft/lora.md", "", "lora/"),
        ("peft/lora.md", "peft/index.md", "", "../"),
        ("index.md", "index.md", "", "./"),
    ],
)
def test_relative_links(source: str, target: str, section: str, link: str) -> None:
    assert relative_link(source, target, section) == link


def test_section_titles() -> None:
    text = (
        "# Titre\n\n## L'idée de `LoRA` { #idea }\n\n```\n## Non { #no }\n```\n\n"
        "### Suite { .x #next data-a=b } ##\n\n## Sans identifiant\n\n"
        "<!--\n## Non { #hidden }\n-->\n"
    )
    assert section_titles(text) == {"": "Titre", "idea": "L'idée de `LoRA`", "next": "Suite"}


def test_page_problems_are_told_with_quiz_problems(course: Path) -> None:
    page = course / "docs" / "ar" / "peft" / "lora.md"
    page.write_text("## x { #idea }\n\n::: quiz lora#rank\n\n::: quiz lora\n", encoding="utf-8")
    (problem,) = read_course(course / "docs")[1]
    assert (problem.file, problem.line, problem.code) == ("docs/ar/peft/lora.md", 5, "shown-twice")
    assert problem.message == "the question 'rank' is already shown from line 3"


def test_missing_page_is_told_once_for_each_language(
    course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil("    review: peft/lora.md#idea\n", "    review: peft/qlora.md#idea\n")
    spoil("    value: 16\n", "    value: 16\n    review: peft/qlora.md#other\n")
    found = [(p.line, p.message) for p in read_course(course / "docs")[1]]
    assert found == [(14, f"no page 'peft/qlora.md' in '{code}'") for code in ("ar", "fr")]


def test_quiz_that_no_page_shows_is_a_warning(course: Path) -> None:
    for code in ("ar", "fr"):
        page = course / "docs" / code / "peft" / "lora.md"
        page.write_text("## x { #idea }\n", encoding="utf-8")
    (problem,) = read_course(course / "docs")[1]
    assert (problem.line, problem.code, problem.severity) == (1, "orphan", "warning")


def test_quiz_that_cannot_be_read_is_not_called_unknown(course: Path) -> None:
    path = course / "docs" / "_data" / "quizzes" / "lora.yml"
    path.write_text("quiz: [\n", encoding="utf-8")
    assert {problem.code for problem in read_course(course / "docs")[1]} == {"yaml"}


def test_broken_languages_stop_the_rest(course: Path) -> None:
    (course / "docs" / "_data" / "languages.yml").write_text("- {code: ar}\n", encoding="utf-8")
    files = {problem.file for problem in read_course(course / "docs")[1]}
    assert files == {"docs/_data/languages.yml"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dabt", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONPATH": str(HOOKS)},
        check=False,
    )


def test_command_line_says_all_is_well(course: Path) -> None:
    # The course is typed as a keyboard gives it: the spaces and apostrophes of French come here.
    assert run("fix", "--root", str(course)).returncode == 0
    done = run("check", "--root", str(course))
    last = done.stdout.splitlines()[-1]
    assert last == "dabt: 2 languages, 1 quizzes, 6 questions, 0 terms: 0 errors, 0 warnings"
    assert "error:" not in done.stdout
    assert done.returncode == 0


def test_command_line_tells_errors_and_fails(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = course / "docs" / "_data" / "quizzes" / "lora.yml"
    path.write_text(path.read_text(encoding="utf-8").replace("value: 16", "value: x"), "utf-8")
    assert main(["check"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "docs/_data/quizzes/lora.yml:18:12: error: 'x' is not a number [number]"
    assert told[-1].endswith("1 errors, 0 warnings")


def test_command_line_fails_over_budget(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = course / "docs" / "_data" / "quizzes" / "lora.yml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("    explain: {fr: Oui., ar: نعم.}\n", ""), "utf-8")
    assert main(["check", "--root", str(course)]) == 1
    assert "'no-explanation' warns 1 times" in capsys.readouterr().out


def test_the_course_itself_has_no_fault_in_its_quizzes() -> None:
    _, problems = read_course(HOOKS.parent / "docs")
    assert [str(p) for p in problems if p.file.startswith("docs/_data/quizzes")] == []
