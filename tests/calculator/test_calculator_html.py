"""The directive `::: calculator memory`: a table to read, and a form for the script."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from dabt.calculator import read_calculator, render_calculator
from dabt.course import DIRECTIVES
from dabt.directives import Place
from dabt.languages import load_languages
from dabt.problems import DabtError
from dabt.ui import load_ui

ROOT = Path(__file__).parents[2]
LANGUAGES = load_languages(ROOT / "docs/_data/languages.yml")
UI = load_ui(ROOT / "docs/_data", LANGUAGES)
DATA = read_calculator(ROOT / "examples")
every_language = pytest.mark.parametrize("language", [one.code for one in LANGUAGES])


def render(language: str, argument: str = "memory", data=DATA) -> str:
    return render_calculator(argument, Place("docs/page.md", 7, language), data, UI)


def told(html: str) -> dict:
    text = re.search(r'<template class="dabt-calc__told">(.*?)</template>', html, re.S)[1]
    return json.loads(unescape(text))


@every_language
def test_the_table_is_there_without_a_script(language: str) -> None:
    html = render(language)
    assert "calculator" in DIRECTIVES and "<form hidden" in html
    point = "," if language == "fr" else "."
    for row in DATA["table"]:
        needs = [f"{row[method] / 2**30:.1f}".replace(".", point) for method in DATA["methods"]]
        cells = "".join(f"<td>{need}</td>" for need in needs)
        assert f"<bdi>{DATA['names'][row['model']]}</bdi></th>{cells}" in html


@every_language
def test_every_field_has_its_label_and_the_place_of_its_fault(language: str) -> None:
    html = render(language)
    names = re.findall(r'<(?:input|select) [^>]*id="memory-([a-z_]+)"', html)
    assert len(names) == len(set(names)) == 19
    for name in names:
        assert html.count(f'<label for="memory-{name}">') == 1
    for name in re.findall(r'aria-describedby="([^"]+)"', html):
        assert html.count(f'id="{name}"') == 1
    assert set(DATA["defaults"]) <= set(names)


@every_language
def test_the_script_is_told_everything_but_the_table(language: str) -> None:
    found = told(render(language))
    assert found["data"] == {key: value for key, value in DATA.items() if key != "table"}
    script = (ROOT / "docs/assets/calculator.js").read_text("utf-8")
    asked = set(re.findall(r'say\(\s*"(\w+)"', script)) | {"faulty", "huge", "answer_none"}
    assert asked <= set(found["strings"])
    assert not re.search(r"(?<!u)\d{4,}", script), "a constant is written a second time"


@pytest.mark.parametrize(
    ("argument", "data", "rule", "mend"),
    [
        ("memori", DATA, "unknown-calculator", "did you mean 'memory'?"),
        ("memory", {}, "no-calculator", "run python examples/memory --record"),
    ],
)
def test_what_cannot_be_rendered_is_said_at_its_place(argument, data, rule, mend) -> None:
    with pytest.raises(DabtError) as raised:
        render("fr", argument, data)
    (problem,) = raised.value.problems
    assert (problem.file, problem.line, problem.code) == ("docs/page.md", 7, rule)
    assert mend in problem.mend
