"""Quiz files: every defect is told at its place with its cure, and a good file gives the data."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from dabt import yamlsource
from dabt.course import read_course
from dabt.languages import load_languages
from dabt.problems import DabtError, report
from dabt.quiz.load import load_quizzes

DEFECTS = yaml.safe_load(Path(__file__).with_name("defects.yml").read_text(encoding="utf-8"))
QUIZ_FILE = "docs/_data/quizzes/lora.yml:"


def read(course: Path) -> str:
    problems = read_course(course / "docs")[1]
    return "\n".join(str(one) for one in sorted(set(problems)))


def test_good_course_has_no_problem(course: Path) -> None:
    assert read(course) == ""


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect["name"])
def test_defect_is_told_at_its_place(
    defect: dict[str, str], course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil(defect["old"], defect["new"])
    assert read(course).replace(QUIZ_FILE, "") == defect["problems"]


def test_all_problems_are_told_together_and_sorted(
    course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil("value: 16", "value: seize")
    spoil("title: {fr: LoRA, ar: LoRA}", "title: {fr: LoRA}")
    languages = load_languages(course / "docs" / "_data" / "languages.yml")
    with pytest.raises(DabtError) as caught:
        load_quizzes(course / "docs" / "_data" / "quizzes", languages)
    assert [(p.line, p.code) for p in caught.value.problems] == [
        (2, "missing-language"),
        (18, "number"),
    ]
    assert str(caught.value) == report(caught.value.problems)


def test_the_same_id_in_two_quizzes_is_an_error(course: Path) -> None:
    quizzes = course / "docs" / "_data" / "quizzes"
    text = (quizzes / "lora.yml").read_text(encoding="utf-8")
    for name in ("trained-weights", "frozen", "steps", "printed", "saved"):
        text = text.replace(f"id: {name}", f"id: q-{name}")
    (quizzes / "qlora.yml").write_text(text.replace("quiz: lora", "quiz: qlora"), encoding="utf-8")
    problems = [p for p in read_course(course / "docs")[1] if p.severity == "error"]
    assert [(p.file, p.line, p.code, p.message) for p in problems] == [
        (
            "docs/_data/quizzes/qlora.yml",
            15,
            "duplicate-id",
            "the id 'rank' is already in the quiz 'lora'",
        )
    ]


def test_file_that_is_not_utf8(course: Path) -> None:
    path = course / "docs" / "_data" / "quizzes" / "lora.yml"
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9"))
    assert f"{QUIZ_FILE}1:1: error: the file cannot be read" in read(course)
    assert "mend: save the file as UTF-8" in read(course)


def test_empty_file(course: Path) -> None:
    (course / "docs" / "_data" / "quizzes" / "lora.yml").write_text("# rien\n", encoding="utf-8")
    assert f"{QUIZ_FILE}1:1: error: the file is empty [empty]" in read(course)


def test_data_of_each_type(course: Path) -> None:
    languages = load_languages(course / "docs" / "_data" / "languages.yml")
    (quiz,) = load_quizzes(course / "docs" / "_data" / "quizzes", languages)
    by_id = {question.id: question for question in quiz.questions}
    assert [band.percent for band in quiz.bands] == [80, 0]
    assert [option.right for option in by_id["trained-weights"].options] == [True, False]
    assert by_id["trained-weights"].review.section == "idea"
    assert by_id["rank"].number.value == Decimal(16)
    assert by_id["rank"].number.tolerance == Decimal("0.5")
    assert [option.right for option in by_id["frozen"].options] == [True, False]
    assert by_id["steps"].items[0]["fr"] == "Passe avant"
    assert by_id["printed"].right[0].text == {"ar": "1.9", "fr": "1.9"}
    assert len(by_id["saved"].right) == 2


@pytest.mark.parametrize(("written", "expected"), [("1%", "0.16"), ("2.5 %", "0.4"), ("2", "2")])
def test_tolerance(
    written: str, expected: str, course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil("tolerance: 0.5", f"tolerance: {written}")
    quizzes = read_course(course / "docs")[0].quizzes
    assert quizzes["lora"].questions[1].number.tolerance == Decimal(expected)


@pytest.mark.parametrize("word", ["no", "07", "12:30", "~", "1e3", "null", "0x1F"])
def test_scalars_stay_as_typed(word: str, course: Path, spoil: Callable[[str, str], None]) -> None:
    spoil("fr: Tout le modèle", f"fr: {word}")
    quizzes = read_course(course / "docs")[0].quizzes
    assert quizzes["lora"].questions[0].options[1].text["fr"] == word


@pytest.mark.parametrize("loader", [yaml.BaseLoader, getattr(yaml, "CBaseLoader", None)])
def test_both_yaml_loaders_give_the_same_places(loader: type | None) -> None:
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    findings = yamlsource.Findings("x.yml")
    root = yamlsource.compose("عنوان: نص\nب: {ar: كم؟, fr: &a b}\nب: 2\n", findings, loader)
    values = yamlsource.entries(root, findings, ("عنوان", "ب"))
    assert values["عنوان"].start_mark.column == 7
    told = [(p.line, p.column, p.code) for p in sorted(findings.problems)]
    assert told == [(2, 18, "yaml"), (3, 1, "duplicate-key")]


@pytest.mark.parametrize("loader", [yaml.BaseLoader, getattr(yaml, "CBaseLoader", None)])
@pytest.mark.parametrize(
    ("text", "place", "cure"),
    [
        ("a:\n  fr: Combien : 1\n", (2, 15), "holds ': ' needs quotes"),
        ("a:\n  fr: `x`\n", (2, 7), "begins with one of"),
        ("a:\n\tb: 1\n", (2, 1), "indent with spaces"),
        ("a: \x07\n", (1, 4), "invisible character"),
    ],
)
def test_syntax_errors_have_a_place_and_a_cure(
    loader: type | None, text: str, place: tuple[int, int], cure: str
) -> None:
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    findings = yamlsource.Findings("x.yml")
    assert yamlsource.compose(text, findings, loader) is None
    (problem,) = findings.problems
    assert (problem.line, problem.column, problem.code) == (*place, "yaml")
    assert cure in problem.mend


@pytest.mark.parametrize("name", ["qlora.yaml", "qlora.YML"])
def test_a_file_with_another_ending_is_not_skipped_in_silence(course: Path, name: str) -> None:
    folder = course / "docs" / "_data" / "quizzes"
    (folder / name).write_text("quiz: qlora\n", encoding="utf-8")
    assert read(course) == (
        f"docs/_data/quizzes/{name}:1:1: error: a file that ends in '{name[5:]}' is not read"
        " [file-name]\n  mend: rename it qlora.yml"
    )
