"""The schema for editors accepts and refuses the same structures as the loader."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from dabt.languages import load_languages
from dabt.quiz.lint import RULES
from dabt.quiz.model import TYPES

DATA = Path(__file__).parents[2] / "docs" / "_data"
SCHEMA = json.loads((DATA / "quiz.schema.json").read_text(encoding="utf-8"))
DEFECTS = yaml.safe_load(Path(__file__).with_name("defects.yml").read_text(encoding="utf-8"))


def refusals(path: Path) -> list[str]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load(path.read_text(encoding="utf-8"), loader)
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(data)]


def test_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_good_quiz_is_accepted(course: Path) -> None:
    assert refusals(course / "docs" / "_data" / "quizzes" / "lora.yml") == []


@pytest.mark.parametrize("path", sorted(DATA.glob("quizzes/*.yml")), ids=lambda path: path.stem)
def test_quizzes_of_the_course_are_accepted(path: Path) -> None:
    assert refusals(path) == []


@pytest.mark.parametrize(
    "defect", [one for one in DEFECTS if one["structure"]], ids=lambda defect: defect["name"]
)
def test_defect_of_structure_is_refused(
    defect: dict[str, str], course: Path, spoil: Callable[[str, str], None]
) -> None:
    spoil(defect["old"], defect["new"])
    assert refusals(course / "docs" / "_data" / "quizzes" / "lora.yml")


def test_schema_knows_the_languages_types_and_rules() -> None:
    languages = load_languages(DATA / "languages.yml")
    codes = {language.code for language in languages if not language.fallback}
    assert set(SCHEMA["$defs"]["text"]["required"]) == codes
    assert tuple(SCHEMA["$defs"]["question"]["properties"]["type"]["enum"]) == TYPES
    assert set(SCHEMA["properties"]["budget"]["properties"]) == set(RULES)
