"""The project of chapter ship/capstone: every step really done on the tiny model."""

import json
import re
import tomllib
from types import SimpleNamespace

import pytest
from transformers import TrainerCallback

from common import guard
from common.programs import EXAMPLES, load

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


def refusal(*argv: str) -> str:
    """Give the message of a program that must refuse: one line, and its cure."""
    with pytest.raises(SystemExit) as stopped:
        capstone.main(["--tiny", *argv])
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


BROKEN = [  # what is written instead of what, and the message
    ("rank = 16", "rankk = 16", "[train] lacks or should not have: rank, rankk"),
    ('contact = "write your address here"', "", "[card] lacks or should not have: contact"),
    ("[tiny.train]", "[tiny.trian]", "[trian] lacks or should not have: batch_size"),
    ("epochs = 12", 'epochs = "x"', "epochs of [train] is 'x'"),
    ("batch_size = 8", "batch_size = 0", "--batch-size is 0"),
    ("learning_rate = 5e-3", "learning_rate = nan", "--learning-rate is nan"),
    ("rank = 16\nbatch_size = 8", "rank = 0\nbatch_size = 8", "rank is 0"),
    ("data/library.jsonl", "data/none.jsonl", "none.jsonl was not found"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_a_broken_configuration_is_refused(tmp_path, old: str, new: str, message: str) -> None:
    path, whole = tmp_path / "broken.toml", (FOLDER / "capstone.toml").read_text("utf-8")
    assert old in whole
    path.write_text(whole.replace(old, new), encoding="utf-8")
    assert message in refusal("--config", str(path), "--output", str(tmp_path / "output"))
    assert not (tmp_path / "output").exists()


def test_no_configuration_no_folder_and_no_state_are_refused(tmp_path) -> None:
    (tmp_path / "state.json").write_text("{")
    assert "none.toml" in refusal("--config", str(tmp_path / "none.toml"))
    assert "state.json is not a folder" in refusal("--output", str(tmp_path / "state.json"))
    assert "state.json is not JSON" in refusal("--output", str(tmp_path))


def test_a_training_with_other_choices_does_not_go_on(tmp_path) -> None:
    def keeps(name: str) -> bool:
        capstone.leave_other_runs(tmp_path, name)
        return checkpoint.exists()

    checkpoint = tmp_path / "checkpoint-4"
    assert not keeps("one")
    checkpoint.mkdir()
    assert keeps("one") and not keeps("other")


def test_the_length_of_an_answer_is_the_one_asked_for(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(capstone.full, "generate", lambda *args: asked.append(args[3]) or "</s>")
    monkeypatch.setattr(capstone, "general_loss", lambda *_: 0.0)
    monkeypatch.setattr(capstone, "recall", lambda *_: 0.0)
    row = {"language": "fr", "kind": "fact", "key": "x", "response": "y"}
    tokenizer = SimpleNamespace(decode=lambda _: "</s>", eos_token_id=2)
    chosen = config()
    chosen["evaluate"]["most_tokens"] = 7
    capstone.measure(None, tokenizer, [row], chosen)
    assert asked == [7]


def test_the_rubric_adds_up() -> None:
    criteria = tomllib.loads((FOLDER / "rubric.toml").read_text("utf-8"))["criteria"]
    assert sum(line["points"] for line in criteria) == 20
    assert len({line["id"] for line in criteria}) == len(criteria)
