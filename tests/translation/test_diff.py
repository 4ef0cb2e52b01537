"""Which words changed, and where the old text comes from."""

import subprocess
from pathlib import Path

import pytest

from dabt.translation.diff import changed_words, confirmed_text, section_text
from dabt.translation.fingerprint import fingerprint
from tools.translation_diff import main


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("un deux trois", "un quatre trois", "un [-deux-] {+quatre+} trois"),
        ("un deux", "un", "un [-deux-]"),
        ("un", "un deux", "un {+deux+}"),
        ("مُدرَّب كبير", "مدرب صغير", "مدرب [-كبير-] {+صغير+}"),
        ('"oui" non', "“oui” si", "“oui” [-non-] {+si+}"),
    ],
)
def test_words(before, after, shown):
    assert changed_words(before, after) == shown


def test_what_is_far_from_a_change_is_left_out():
    words = " ".join(f"m{number}" for number in range(40))
    shown = changed_words(f"{words} a {words}", f"{words} b {words}")
    assert shown.split() == [
        "…", *words.split()[-8:], "[-a-]", "{+b+}", *words.split()[:8], "…",
    ]  # fmt: skip


def test_the_confirmed_text_is_found_by_its_fingerprint():
    pages = ["# A { #a }\n\nun deux\n", "# A { #a }\n\nun\n", "# B { #b }\n"]
    texts = [section_text(page, "a") for page in pages]
    assert confirmed_text(texts, fingerprint(texts[1])) == texts[1]
    assert confirmed_text(texts[:1], fingerprint(texts[1])) is None
    assert texts[2] == ""


def git(root: Path, *arguments: str) -> None:
    setting = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *setting, *arguments], cwd=root, check=True, capture_output=True)


LANGUAGES = """- {code: ar, name: العربية, direction: rtl, default: true}
- {code: fr, name: Français, direction: ltr}
"""


def test_the_command_reads_the_history(course, capsys, monkeypatch):
    root = course.docs.parent
    monkeypatch.chdir(root)
    (course.docs / "_data/languages.yml").write_text(LANGUAGES)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a")
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    git(root, "commit", "-qam", "b")
    course.edit("fr/peft/lora.md", "Un début", "Un beau début")
    course.edit("_data/quizzes/lora.yml", "كم؟", "كم عددها؟")
    assert main(["peft/lora"], root) == 0
    told = capsys.readouterr().out
    assert "[-Le produit-] {+La somme+} de deux matrices." in told
    assert "{+beau+}" in told
    assert main(["_data/quizzes/lora#rank"], root) == 0
    assert "[-كم؟-] {+كم عددها؟+}" in capsys.readouterr().out
    assert main(["peft/lora#nex"], root) == 1


def test_without_history_the_command_says_so(course, capsys, monkeypatch):
    monkeypatch.chdir(course.docs.parent)
    (course.docs / "_data/languages.yml").write_text(LANGUAGES)
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    assert main([], course.docs.parent) == 0
    assert "not in this history" in capsys.readouterr().out
