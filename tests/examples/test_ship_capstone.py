"""The project of chapter ship/capstone: every step really done on the tiny model."""

import json
import re
import tomllib

import pytest
from program import EXAMPLES, load
from transformers import TrainerCallback

from common import guard

capstone = load("ship/capstone/run.py")
FOLDER = EXAMPLES / "ship/capstone"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
CARD = guard.Card("CPU", 0, "fp32")


def config(**train) -> dict:
    chosen = capstone.read_config_file(FOLDER / "capstone.toml", tiny=True)
    chosen["train"] |= train
    return chosen


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


class CutShort(Exception):
    """What a free machine does in the middle of a training."""


class Cut(TrainerCallback):
    """Ends a training at its eighth step."""

    def on_step_end(self, args, state, control, **kwargs) -> None:
        if state.global_step == 8:
            raise CutShort


def test_the_split_keeps_every_topic_and_no_question_twice(tmp_path) -> None:
    counted = capstone.prepare(config(), tmp_path)
    assert counted["train"]["rows"] + counted["validation"]["rows"] == 120
    assert counted["validation"] == {"rows": 32, "ar": 16, "fr": 16, "fact": 24, "refusal": 8}
    parts = [
        guard.read_jsonl(tmp_path / "data" / f"{name}.jsonl", capstone.COLUMNS)
        for name in ("train", "validation")
    ]
    asked = [{row["instruction"] for row in part} for part in parts]
    assert not asked[0] & asked[1]
    topics = [{(row["language"], row["topic"]) for row in part} for part in parts]
    assert topics[0] == topics[1] and len(topics[0]) == 28
    assert all(row["key"] in row["response"] for part in parts for row in part)


def test_marks_and_intervals() -> None:
    row = {"key": "cinq livres", "response": "Vous pouvez emprunter cinq livres."}
    assert capstone.mark(row, "Vous pouvez emprunter cinq livres.</s>", "</s>")["exact"]
    cut = capstone.mark(row, "Vous pouvez emprunter cinq livres.", "</s>")
    assert cut["right"] and not cut["exact"] and not cut["ended"]
    assert not capstone.mark(row, "Trois livres.</s>", "</s>")["right"]
    found = capstone.share([True] * 16 + [False] * 16)
    assert found["share"] == 0.5 and found["low"] == pytest.approx(0.336, abs=1e-3)
    assert capstone.share([True] * 4)["high"] <= 1


def test_the_whole_project_cut_and_resumed_then_one_section_changed(
    tmp_path, monkeypatch, capsys
) -> None:
    chosen = config(epochs=2)
    chosen["evaluate"]["limit"] = 1.0
    with monkeypatch.context() as patch:
        patch.setattr(guard, "StopOnNan", Cut)
        with pytest.raises(CutShort):
            capstone.run(chosen, tmp_path, "train", CARD)
    assert capstone.has_checkpoint(tmp_path / "adapter")
    state = capstone.run(chosen, tmp_path, "card", CARD)
    said = capsys.readouterr().out
    assert "prepare: done before" in said and "going on from checkpoint-" in said
    facts = {step: state[step]["facts"] for step in capstone.STEPS}
    assert facts["train"]["loss_after"] < facts["train"]["loss_before"]
    assert facts["evaluate"]["before"]["recall"] == 1.0 >= facts["evaluate"]["after"]["recall"]
    card = (tmp_path / "adapter" / "README.md").read_text("utf-8")
    assert f"{facts['train']['trained']:,} parameters" in card and "Fewer held-out" in card

    assert capstone.run(chosen, tmp_path, "card", CARD) == state
    assert capsys.readouterr().out.count("done before") == 4
    chosen["card"]["contact"] = "somebody@example.org"
    capstone.run(chosen, tmp_path, "card", CARD)
    assert capsys.readouterr().out.count("done before") == 3
    assert "somebody@example.org" in (tmp_path / "adapter" / "README.md").read_text("utf-8")


def test_the_record_is_of_this_configuration_and_says_what_the_outputs_show() -> None:
    assert RECORD["config"] == config()
    assert text("scores.txt") == capstone.score_table(RECORD) + "\n"
    assert RECORD["after"]["ended"]["share"] == 1.0 > RECORD["before"]["ended"]["share"]
    assert RECORD["loss_after"] < RECORD["loss_before"]
    assert RECORD["peak_memory_bytes"] > 0 < RECORD["predicted_memory_bytes"]
    assert capstone.score_table(RECORD) in text("card.txt")


def test_a_broken_configuration_is_refused(tmp_path) -> None:
    (tmp_path / "broken.toml").write_text("[prepare]\n", encoding="utf-8")
    for path in (tmp_path / "broken.toml", tmp_path / "none.toml"):
        with pytest.raises(SystemExit) as stopped:
            capstone.main(["--tiny", "--config", str(path)])
        assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)


def test_the_rubric_adds_up() -> None:
    criteria = tomllib.loads((FOLDER / "rubric.toml").read_text("utf-8"))["criteria"]
    assert sum(line["points"] for line in criteria) == 20
    assert len({line["id"] for line in criteria}) == len(criteria)
