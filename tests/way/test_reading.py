"""Reading time: words at the pace of the language, lines of code at one pace."""

from pathlib import Path

from dabt.way.reading import LINES_A_MINUTE, WORDS_A_MINUTE, minutes

NOWHERE = Path("/nowhere")


def test_words_are_read_at_the_pace_of_their_language() -> None:
    words = "كلمة " * 1380
    assert minutes(words, "ar", NOWHERE) == 1380 / WORDS_A_MINUTE["ar"] == 10
    assert minutes(words, "fr", NOWHERE) == 7


def test_what_is_not_shown_takes_no_time() -> None:
    matter = "---\ntitle: " + "mot " * 900 + "\n---\n"
    unseen = "\n".join(['<span class="a b c d">x</span>', "::: quiz a b c", "[x](y.md){ .a .b }"])
    assert minutes(matter + unseen * 20, "fr", NOWHERE) == 1


def test_code_counts_its_lines_and_an_include_those_it_brings(tmp_path: Path) -> None:
    lines = "x = 1\n" * 3 * LINES_A_MINUTE
    (tmp_path / "a.py").write_text(
        f"{lines}# --8<-- [start:part]\n{lines}{lines}# --8<-- [end:part]\n"
    )
    assert minutes(f"```python\n{lines}```", "fr", tmp_path) == 3
    assert minutes('```python\n--8<-- "a.py:part"\n```', "fr", tmp_path) == 6
    assert minutes(f'```python\n--8<-- "a.py:1:{LINES_A_MINUTE}"\n```', "fr", tmp_path) == 1
    assert minutes('```python\n--8<-- "a.py"\n```', "fr", tmp_path) == 9
