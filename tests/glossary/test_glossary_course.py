"""The glossary in a whole course: read with it, rendered in a page, checked by the command line."""

from pathlib import Path

import pytest

from dabt.__main__ import main
from dabt.course import GlossaryRenderer, read_course
from dabt.directives import Place
from dabt.problems import DabtError
from tests.glossary.small_glossary import ROOT, SMALL
from tests.quiz.small_course import write_course


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_course(tmp_path)
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "docs" / "_data"
    (data / "glossary.yml").write_text(SMALL, encoding="utf-8")
    (data / "ui.glossary.yml").write_bytes((ROOT / "docs/_data/ui.glossary.yml").read_bytes())
    for code in ("ar", "fr"):
        (tmp_path / f"docs/{code}/glossary.md").write_text("::: glossary\n", encoding="utf-8")
    return tmp_path / "docs"


def test_the_command_line_names_the_place_of_a_word(docs: Path, capsys):
    assert main(["fix"]) == 0
    assert main(["check"]) == 0
    page = docs / "ar" / "peft" / "lora.md"
    page.write_text(page.read_text("utf-8") + "\nوللتخصيص الدقيق.\n", encoding="utf-8")
    (docs.parent / "README.fr.md").write_text(
        "# Dabt { #dabt }\n\nIl recompute 16\u00a0GB.\n", encoding="utf-8"
    )
    assert main(["check"]) == 1
    told = [line for line in capsys.readouterr().out.split("\n") if "[term]" in line]
    assert told == [
        "README.fr.md:3:4: error: 'recompute': not French [term]",
        "README.fr.md:3:17: error: 'GB': French units [term]",
        "docs/ar/peft/lora.md:7:1: error: 'وللتخصيص الدقيق': another meaning [term]",
    ]


def test_a_word_does_not_stop_a_build(docs: Path):
    page = docs / "fr" / "peft" / "lora.md"
    page.write_text(page.read_text("utf-8") + "\n16 GB\n", encoding="utf-8")
    assert read_course(docs)[1] == ()


def test_faults_of_the_glossary_are_told_with_the_others(docs: Path):
    path = docs / "_data" / "glossary.yml"
    path.write_text(SMALL.replace("peft/lora#idea", "peft/lora#ideas"), encoding="utf-8")
    problems = read_course(docs)[1]
    assert {(problem.file, problem.code) for problem in problems} == {
        ("docs/_data/glossary.yml", "taught-target")
    }


def test_the_directive(docs: Path):
    course, _ = read_course(docs)
    render = GlossaryRenderer(course)
    assert 'id="term-loss"' in render("", Place("x.md", 1, "fr", "glossary.md"))
    with pytest.raises(DabtError, match="takes nothing after it"):
        render("loss", Place("x.md", 1, "fr", "glossary.md"))
