"""The commands: staleness is told and never blocks; what cannot be done says why."""

import pytest

from dabt.__main__ import main

LANGUAGES = """- {code: ar, name: العربية, direction: rtl, default: true}
- {code: fr, name: Français, direction: ltr}
"""


@pytest.fixture
def root(course, monkeypatch):
    (course.docs / "_data/languages.yml").write_text(LANGUAGES)
    monkeypatch.chdir(course.docs.parent)
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    return course


def test_status_tells_what_lags_and_succeeds(root, capsys):
    assert main(["status"]) == 0
    told = capsys.readouterr().out
    assert "peft/lora ar 66 % fr 100 %" in " ".join(told.split())
    assert "ar: peft/lora#idea: review: fr changed since it was confirmed" in told
    assert "(docs/ar/peft/lora.md:10)" in told


def test_confirming_one_section_puts_it_in_step(root, capsys):
    assert main(["confirm", "peft/lora#idea"]) == 0
    assert capsys.readouterr().out == "confirmed: 1\n"
    assert root.open() == set()


def test_confirming_needs_a_name_or_all(root, capsys):
    assert main(["confirm"]) == 2
    assert main(["confirm", "--all", "peft/lora"]) == 2
    assert root.open() == {"ar peft/lora#idea review"}
    assert main(["confirm", "--all"]) == 0
    assert root.open() == set()


def test_an_unknown_name_fails_with_its_cure(root, capsys):
    assert main(["confirm", "peft/lara"]) == 1
    assert "did you mean 'peft/lora'?" in capsys.readouterr().out


def test_a_broken_record_is_not_overwritten(root, capsys):
    root.edit("_data/translation/peft/lora.yml", "idea:", "<<<<<<< ours\nidea:")
    before = (root.docs / "_data/translation/peft/lora.yml").read_text()
    assert main(["confirm", "--all"]) == 1
    assert (root.docs / "_data/translation/peft/lora.yml").read_text() == before
