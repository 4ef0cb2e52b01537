"""Spelling is advice: unknown words are told with their place, and the list holds no dead word."""

import shutil

import pytest

from dabt.text.prose import markdown_prose
from tools import spelling
from tools.spelling import check, found_in, main, plain

needs_hunspell = pytest.mark.skipif(not shutil.which("hunspell"), reason="hunspell is missing")


def words(text: str, language: str) -> list[str]:
    return [word for _, word in found_in(markdown_prose(text, "x.md", language))]


def test_words_are_taken_as_dictionaries_have_them():
    assert words("L’ajustement de `code` aujourd’hui.", "fr") == ["ajustement", "de", "aujourd'hui"]
    assert words("دُرِّب LoRA وQLoRA على `x`", "ar") == ["درب", "على"]
    assert plain("مَعْلَمات") == "معلمات"


def test_places_lead_to_the_word():
    text = "Un mot bizzare."
    places = dict((word, start) for start, word in found_in(markdown_prose(text, "x.md", "fr")))
    assert text[places["bizzare"] :].startswith("bizzare")


@needs_hunspell
def test_an_unknown_word_and_a_dead_one_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(spelling, "ROOT", tmp_path)
    known = tmp_path / "fr.txt"
    known.write_text("LoRA\nQLoRA\n")
    texts = [markdown_prose("LoRA est bizzare, la perte non.\n", "docs/fr/x.md", "fr")]
    try:
        problems, learnt = check("fr", texts, known)
    except spelling.subprocess.CalledProcessError:
        pytest.skip("hunspell has no French dictionary")
    told = [(one.file, one.line, one.column, one.severity) for one in problems]
    assert told == [("docs/fr/x.md", 1, 10, "warning"), ("fr.txt", 1, 1, "warning")]
    assert learnt == {"LoRA", "bizzare"}


def test_without_hunspell_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    assert main([]) == 0
    assert "hunspell is not installed" in capsys.readouterr().out
