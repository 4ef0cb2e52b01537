"""Prompt, retrieve or fine-tune: what each way gives, and that the record is of such a run."""

import json
from pathlib import Path

import pytest

from start.choose import compare

FOLDER = Path(compare.__file__).parent
RECORD = json.loads((FOLDER / "compare.json").read_text("utf-8"))
EXAMPLE = {"instruction": "Do it.", "context": "Now.", "response": "{}"}


@pytest.fixture(scope="module")
def form() -> dict[str, dict]:
    """The ways for the form, on part of the held-out requests, without SmolLM2."""
    training, held_out = compare.read(compare.train.TINY.data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "read", lambda _: (training, held_out[:24]))
        patch.setattr(compare, "path_or_none", lambda: None)
        return {row["id"]: row for row in compare.compare_form(8, "cpu")}


def test_only_fine_tuning_teaches_the_tiny_base_the_form(form) -> None:
    assert form["tiny-zero-shot"]["right"] == form["tiny-few-shot"]["right"] == 0
    assert form["tiny-fine-tuned"]["right"] >= 0.8 and form["tiny-fine-tuned"]["json"] == 1


def test_examples_are_read_again_at_each_request(form) -> None:
    tokens = {name: row["tokens"] for name, row in form.items()}
    assert tokens["tiny-few-shot"] > 4 * tokens["tiny-fine-tuned"]
    assert tokens["tiny-fine-tuned"] < tokens["tiny-zero-shot"]


def test_the_record_is_of_these_ways(form) -> None:
    rows = {row["id"]: row for row in RECORD["form"]}
    assert [name for name in rows if name.startswith("tiny")] == list(form)
    assert rows["tiny-fine-tuned"]["right"] == pytest.approx(
        form["tiny-fine-tuned"]["right"], abs=0.15
    )
    assert rows["smollm2-few-shot"]["right"] > rows["smollm2-zero-shot"]["right"] + 0.5
    facts = {row["id"]: row["right"] for row in RECORD["facts"]}
    assert facts["with-note"] > facts["alone"] + 0.5


def test_examples_come_before_the_question_as_a_conversation() -> None:
    chat = compare.few_shot([EXAMPLE, EXAMPLE])(EXAMPLE)
    assert [turn["role"] for turn in chat] == ["user", "assistant"] * 2 + ["user"]
    assert chat[1]["content"] == "{}" and chat[-1]["content"] == "Do it.\nNow."


@pytest.mark.parametrize(("question", "expected"), compare.ASKED)
def test_the_search_finds_the_note_that_answers(question: str, expected: str) -> None:
    assert compare.holds(compare.retrieve(question, compare.NOTES), expected)


def test_a_question_does_not_give_its_answer_away() -> None:
    assert not [q for q, expected in compare.ASKED if compare.holds(q, expected)]


@pytest.mark.parametrize(
    ("text", "expected", "held"),
    [
        ("It opens at 9:40.", "9:40", True),
        ("It opens at 19:40.", "9:40", False),
        ("at most 6 books", "6", True),
        ("at most 16 books", "6", False),
        ("at 6:30", "6", False),
        ("at 16:50 in room 208", "208", True),
        ("room 2080", "208", False),
    ],
)
def test_a_number_inside_another_is_not_the_answer(text: str, expected: str, held: bool) -> None:
    assert compare.holds(text, expected) is held


@pytest.mark.parametrize(("text", "found"), [('{"a": 1}', {"a": 1}), ("[1]", None), ("so", None)])
def test_only_an_object_is_an_answer(text: str, found: dict | None) -> None:
    assert compare.read_json(text) == found


def test_half_a_record_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(compare, "path_or_none", lambda: None)
    with pytest.raises(SystemExit, match=r"^error: [^\n]+\n  mend: [^\n]+$"):
        compare.main(["--tiny", "--record"])
