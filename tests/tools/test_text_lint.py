"""Characters that deceive are named; those that a language needs are left alone."""

import pytest

from tools.text_lint import problems_of

BAD = {
    "override of direction": ("a.py", "x = 1 \u202e# 2", "bidi-control", 7),
    "isolate": ("a.md", "LoRA\u2069", "bidi-control", 5),
    "right-to-left mark": ("a.md", "ضبط\u200f", "bidi-control", 4),
    "zero width space": ("a.yml", "a\u200bb", "invisible", 2),
    "byte order mark": ("a.md", "\ufeff# x", "invisible", 1),
    "joiner": ("a.md", "مي\u200cشود", "invisible", 3),
    "no-break space in code": ("a.py", "x\u00a0= 1", "odd-space", 2),
    "no-break space in a Makefile": ("Makefile", "x\u00a0= 1", "odd-space", 2),
    "presentation form": ("a.md", "\ufe8f", "presentation-form", 1),
    "Persian ya": ("a.md", "ف\u06cc", "lookalike", 2),
    "control": ("a.md", "a\x08b", "control", 2),
}


@pytest.mark.parametrize(("name", "text", "code", "column"), BAD.values(), ids=BAD)
def test_a_deceiving_character_is_named_with_its_place(name, text, code, column):
    [problem] = problems_of(name, f"first line\n{text}\n".encode())
    assert (problem.line, problem.column, problem.code) == (2, column, code)
    assert "U+" in problem.message


GOOD = {
    "Arabic with vowels": ("a.md", "الضَّبْطُ الدَّقيقُ، كم بايتًا؟ ٪ ـ"),
    "French spaces in prose": ("a.md", "16\u00a0Go\u202f!"),
    "escapes in code": ("a.py", 'mark = "\\u200f"'),
    "tab in a Makefile": ("Makefile", "\techo"),
    "arrows and signs": ("a.md", "→ ≤ × · — … « »"),
}


@pytest.mark.parametrize(("name", "text"), GOOD.values(), ids=GOOD)
def test_what_a_language_needs_is_left_alone(name, text):
    assert list(problems_of(name, text.encode())) == []


def test_other_encodings_and_line_ends_are_named():
    assert [p.code for p in problems_of("a.md", "é".encode("latin-1"))] == ["encoding"]
    assert "line-end" in {p.code for p in problems_of("a.md", b"a\r\n")}
