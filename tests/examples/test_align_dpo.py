"""The programs of chapter align/dpo, by what they really do on the tiny model."""

import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from common import guard
from common.programs import EXAMPLES, load
from full.traditional import train as full

dpo = load("align/dpo/train.py")
FOLDER = EXAMPLES / "align/dpo"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
COMPARE = json.loads((FOLDER / "compare.json").read_text("utf-8"))
CARD = guard.Card("CPU", 0, "fp32")


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / "data" / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> SimpleNamespace:
    """The model that answers in two manners, and the pairs."""
    dpo.hush()
    settings = replace(dpo.TINY, output=tmp_path_factory.mktemp("dpo"))
    full.set_seed(settings.seed)
    start = dpo.demonstrate(settings)
    tokenizer, model = full.load(replace(settings, model=str(start)))
    parts = dpo.read_pairs(settings, tokenizer)
    return SimpleNamespace(**locals())


def train(run, reference: str) -> tuple:
    """Six steps with TRL; returns the trainer and the loss of each step."""
    settings = replace(run.settings, reference=reference)
    full.set_seed(settings.seed)
    parts = [run.parts[0], run.parts[1][:16]]
    trainer = dpo.make_trainer(run.start, settings, CARD, parts, run.tokenizer)
    trainer.args.max_steps, trainer.args.logging_steps = 6, 1
    trainer.args.save_strategy = trainer.args.eval_strategy = "no"
    trainer.train()
    return trainer, [e["loss"] for e in dpo.history(trainer.state.log_history)]


# The pairs


def test_the_pairs_are_what_the_script_writes(tmp_path, monkeypatch) -> None:
    pairs = load("align/dpo/pairs.py")
    monkeypatch.setattr(pairs, "DATA", tmp_path)
    pairs.main()
    for name in ("demonstrations.jsonl", "train.jsonl", "validation.jsonl"):
        assert (tmp_path / name).read_bytes() == (FOLDER / "data" / name).read_bytes()


def test_no_request_that_is_held_out_was_seen() -> None:
    asked = [
        {row["prompt"][0]["content"] for row in rows(f"{n}.jsonl")} for n in ("train", "validation")
    ]
    assert not asked[0] & asked[1]
    assert not asked[1] & {row["instruction"] for row in rows("demonstrations.jsonl")}
    assert all(row["chosen"] != row["rejected"] for row in rows("train.jsonl"))


# The loss


def test_before_training_the_loss_is_ln_2(run) -> None:
    same = dpo.score(run.model, run.parts[1][:8], run.tokenizer)
    assert torch.allclose(dpo.dpo_loss(same, same, 0.1), torch.full((8,), math.log(2)))


def test_three_references_give_the_losses_that_were_recorded_and_ours_is_trls(run) -> None:
    losses = {}
    for reference in dpo.REFERENCES:
        trainer, losses[reference] = train(run, reference)
    assert losses["copy"] == pytest.approx(losses["adapter-off"], abs=1e-5)
    assert losses["precomputed"] == pytest.approx(losses["adapter-off"], abs=1e-5)
    for way in COMPARE["ways"]:
        if way["rank"]:
            assert losses[way["reference"]] == pytest.approx(way["losses"], abs=2e-3)

    pairs = run.parts[1][:16]
    with trainer.model.disable_adapter():
        reference = dpo.score(trainer.model, pairs, run.tokenizer)
    policy = dpo.score(trainer.model, pairs, run.tokenizer)
    ours = dpo.dpo_loss(policy, reference, run.settings.beta).mean().item()
    assert ours < math.log(2) - 1e-3
    assert trainer.evaluate()["eval_loss"] == pytest.approx(ours, abs=1e-4)


def test_a_higher_beta_asks_for_a_smaller_change() -> None:
    policy, reference = torch.tensor([[-1.0, -4.0]]), torch.tensor([[-1.0, -2.0]])
    assert dpo.dpo_loss(policy, reference, 0.5) < dpo.dpo_loss(policy, reference, 0.1)


def test_a_reference_costs_its_weights_when_it_is_a_copy() -> None:
    ways = {(way["rank"], way["reference"]): way for way in COMPARE["ways"]}
    for rank, other in ((8, "adapter-off"), (8, "precomputed"), (0, "precomputed")):
        copy, saved = ways[rank, "copy"], ways[rank, other]
        assert copy["weights"] - saved["weights"] == 4 * 951_424
        assert copy["losses"] == pytest.approx(saved["losses"], abs=1e-5)
        assert copy["peak"] > saved["peak"]


# What the records say


def test_the_record_shows_what_pairs_taught() -> None:
    before, after = RECORD["before"], RECORD["after"]
    assert RECORD["loss_before"] == pytest.approx(math.log(2), abs=1e-6)
    assert RECORD["loss_after"] < 0.55
    assert before["accuracy"] < 1 == after["accuracy"]
    assert after["length"] < before["length"] / 5
    assert after["preferred"] > before["preferred"]
    assert RECORD["peak_memory_bytes"] > 0 < RECORD["predicted_memory_bytes"]
    assert text("measures.txt") == dpo.measure_table({"before": before, "after": after}) + "\n"
    assert text("train.txt").count("\n") == 1 + len(RECORD["history"])


def test_length_follows_the_pairs_and_both_log_probabilities_can_fall() -> None:
    lessons, before = {row["lesson"]: row for row in COMPARE["lessons"]}, COMPARE["before"]
    assert lessons["long"]["length"] < before["length"] / 5
    assert lessons["longer"]["length"] > 1.3 * before["length"]
    assert abs(lessons["wrong"]["length"] - before["length"]) < 0.3 * before["length"]
    hard = lessons["hard"]
    assert hard["chosen"] < hard["chosen_before"] and hard["rejected"] < hard["rejected_before"]
    assert hard["accuracy"] > 0.9 and hard["right"] < before["right"]


def test_a_finished_run_leaves_no_checkpoint_behind(run, tmp_path, monkeypatch) -> None:
    """The same command must work twice: a checkpoint would be taken for an unfinished run."""
    monkeypatch.setattr(dpo, "demonstrate", lambda *_: run.start)
    monkeypatch.setattr(dpo, "measure", lambda *_: {"loss": 0.0})
    dpo.main(["--tiny", "--epochs", "0.05", "--output", str(tmp_path)])
    assert (tmp_path / "adapter_model.safetensors").exists()
    assert not list(tmp_path.glob("checkpoint-*"))


def test_the_model_that_answers_is_made_anew_unless_a_run_goes_on(tmp_path, monkeypatch) -> None:
    trained = []
    monkeypatch.setattr(dpo.loop, "fit", lambda *args: trained.append(args[2]) or iter(()))
    settings = replace(dpo.TINY, output=tmp_path, seed=7, learning_rate=1.0, epochs=1)
    (tmp_path / "sft").mkdir()
    (tmp_path / "sft/config.json").write_text("{", "utf-8")  # cut while it was saved
    dpo.demonstrate(settings, resume=True)
    dpo.demonstrate(settings, resume=True)
    assert len(trained) == 1
    dpo.demonstrate(settings)
    chosen = [(one.seed, one.learning_rate, one.epochs) for one in trained]
    assert chosen == 2 * [(7, dpo.TINY.learning_rate, 6)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "row 1 has no conversation in column 'prompt'"),
        ('{"prompt": "a", "chosen": "b", "rejected": "c"}', "column 'prompt'"),
        ('{"prompt": [{"role": "user", "content": "a"}], "chosen": []}', "column 'chosen'"),
    ],
)
def test_pairs_of_another_form_are_refused(run, tmp_path, line: str, message: str) -> None:
    for name in ("train", "validation"):
        (tmp_path / f"{name}.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        dpo.read_pairs(replace(run.settings, data=str(tmp_path)), run.tokenizer)


def test_what_is_impossible_is_refused() -> None:
    with pytest.raises(SystemExit) as stopped:
        dpo.main(["--tiny", "--beta", "0"])
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)


def test_a_copy_is_predicted_to_cost_its_weights() -> None:
    shape = json.loads((EXAMPLES / "tiny/base/config.json").read_text("utf-8"))
    beside, copy = (
        dpo.predicted_bytes(shape, CARD, replace(dpo.TINY, reference=name))
        for name in ("adapter-off", "copy")
    )
    assert copy - beside == 4 * 951_424


def test_the_record_keeps_preferred_and_rejected_apart(run, monkeypatch) -> None:
    """What is measured of two pairs whose log-probabilities are known."""
    now = torch.tensor([[-1.0, -3.0], [-2.0, -5.0]])
    monkeypatch.setattr(dpo, "score", lambda *_: now)
    monkeypatch.setattr(dpo.full, "generate", lambda *_: "x")
    found = dpo.measure(None, run.parts[1][:2], now - 1, run.tokenizer, 0.1)
    assert (found["chosen"], found["rejected"]) == (-1.5, -4.0) and found["accuracy"] == 1.0
