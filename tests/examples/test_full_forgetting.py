"""The program of chapter full/forgetting, by what it really measures on the tiny model."""

import json
import math
import re
from dataclasses import replace
from functools import partial

import pytest
import torch

from common import guard, record
from common.programs import EXAMPLES, load
from common.rows import read
from memory import PRESETS, Run, predict
from tiny import facts

forget = load("full/forgetting/forget.py")
pairs = load("full/forgetting/pairs.py")
FOLDER = EXAMPLES / "full/forgetting"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
METHODS = {method.id: method for method in forget.METHODS}
CARD = guard.Card("CPU", 0, "fp32")
CAPITALS = ("raw", "question")


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


@pytest.fixture(scope="module")
def parts() -> tuple[list[dict], list[dict]]:
    return read(forget.TINY.data)


@pytest.fixture(scope="module")
def base():
    return forget.load(forget.TINY, CARD)


@pytest.fixture(scope="module")
def rows(parts, base) -> list[list[dict]]:
    return [forget.full.encode_all(part, base[0], forget.TINY.max_tokens) for part in parts]


@pytest.fixture(scope="module")
def tuned(rows) -> dict:
    """Two runs of the record again, with its first seed: without replay, and with much."""
    settings = replace(forget.TINY, seed=RECORD["settings"]["seeds"][0])
    return {name: forget.run(METHODS[name], settings, CARD, rows) for name in forget.CURVES}


# What the program really does


def test_the_record_is_what_the_program_does(tuned) -> None:
    """Rounding differs between processors and adds up over a run."""
    for name, (_, found, _) in tuned.items():
        old = next(run for run in RECORD["runs"] if run["id"] == name)
        for key in ("task", *CAPITALS):
            assert found[key] == pytest.approx(old[key], abs=0.15), (name, key)


def test_replay_retains_what_it_never_showed(tuned) -> None:
    (_, without, _), (_, with_replay, _) = tuned["full"], tuned["full-replay-20"]
    assert with_replay["question"] > without["question"] + 0.3
    assert with_replay["task"] > 0.6 and without["task"] > 0.6
    assert without["raw"] > 0.8, "forgotten in a question, still known in a sentence"


def test_the_curves_start_at_what_the_base_knows(tuned) -> None:
    for _, _, points in tuned.values():
        steps = [point["x"] for point in points]
        assert steps == list(range(0, steps[-1] + 1, forget.EVERY)) and len(steps) >= 10
        assert {key: points[0][key] for key in CAPITALS} == {
            key: RECORD["before"][key] for key in CAPITALS
        }


def test_the_average_starts_at_the_base_and_ends_at_the_tuned_model(
    tuned, rows, monkeypatch
) -> None:
    monkeypatch.setattr(forget, "PARTS", (0.0, 0.5, 1.0))
    model, found, _ = tuned["full"]
    first, middle, last = forget.between(model, forget.TINY, CARD, rows[1])
    assert {key: first[key] for key in RECORD["before"]} == RECORD["before"]
    assert all(last[key] == found[key] for key in RECORD["before"])
    assert middle["question"] > last["question"]


def test_the_answers_are_those_of_the_page(tuned, base, parts) -> None:
    models = {"base": base[1]} | {name: run[0] for name, run in tuned.items()}
    shown = forget.answers(models, base[0], parts[1][1])
    old = text("answers.txt")
    assert len(shown.splitlines()) == len(old.splitlines()) == 5 * 4 + 4
    blocks = old.split("\n\n")
    assert "Quelle est la capitale de l'Algérie ?" in blocks[1]
    assert "full-replay-20:  Alger</s>" in blocks[1] and '{"to": "' in blocks[1]
    assert blocks[2].count('{"to": "Toulouse"') == 2 and blocks[2].count("</s>") == 2
    assert blocks[4].count("Alger") == 3


def test_an_adapter_leaves_the_base_alone(rows, base) -> None:
    quick = replace(METHODS["lora"], epochs=0.05)
    model, found, points = forget.run(quick, forget.TINY, CARD, rows)
    assert points == [] and set(found) == {"task", "raw", "question", "seconds"}
    with model.disable_adapter():
        after = forget.measure(model, base[0], rows[1])
    assert after == RECORD["before"]


def test_the_memory_of_a_step_is_what_was_predicted(rows) -> None:
    tokenizer, model = forget.load(forget.TINY, CARD)
    collate = partial(forget.loop.collate, pad=tokenizer.pad_token_id)
    found = record.memory(model, rows[0], collate, forget.TINY.batch_size)
    assert found["predicted_memory_bytes"] == RECORD["predicted_memory_bytes"]
    assert found["peak_memory_bytes"] == pytest.approx(RECORD["peak_memory_bytes"], rel=0.02)
    assert found["peak_memory_bytes"] == pytest.approx(found["predicted_memory_bytes"], rel=0.1)


# Replay


def test_replay_never_shows_what_is_measured(base, rows) -> None:
    pool, kept = forget.split_facts()
    assert len(pool) == len(kept) == 60 and len(facts()) == 120
    assert not {fact["answer"] for fact in pool} & {fact["answer"] for fact in kept}
    shown = {
        tuple(forget.say(fact, asked, base[0], end=True)["input_ids"])
        for fact in pool
        for asked in (False, True)
    }
    for share in (0.05, 0.2):
        added = forget.replayed(len(rows[0]), share, 1, base[0])
        assert len(added) / (len(rows[0]) + len(added)) == pytest.approx(share, abs=0.002)
        assert {tuple(row["input_ids"]) for row in added} <= shown
        assert all(row["labels"][-1] == base[0].eos_token_id for row in added)
    first, same, other = (forget.replayed(360, 0.2, seed, base[0]) for seed in (1, 1, 2))
    assert first == same != other
    assert forget.replayed(360, 0.0, 1, base[0]) == []


def test_only_the_tokens_of_a_capital_are_measured(base) -> None:
    fact = next(fact for fact in facts() if fact["answer"] == "Rabat" and "La" in fact["prompt"])
    for asked, written in ((False, " Rabat"), (True, "Rabat")):
        row = forget.say(fact, asked, base[0])
        learnt = [label for label in row["labels"] if label != -100]
        assert base[0].decode(learnt) == written
        assert row["input_ids"][-len(learnt) :] == learnt


# Retention


def test_retention_has_chance_removed() -> None:
    assert forget.retention(1.0, 1.0) == 1
    assert forget.retention(forget.CHANCE, 1.0) == 0
    assert forget.retention(0.60, 0.65, chance=0.25) == pytest.approx(0.875), "facts of chapter 1"
    assert forget.CHANCE == 1 / 40 == RECORD["settings"]["chance"]


def test_the_interval_is_students() -> None:
    mean, low, high = forget.interval([0.1, 0.2, 0.3])
    half = 4.303 * 0.1 / math.sqrt(3)
    assert (mean, low, high) == pytest.approx((0.2, 0.2 - half, 0.2 + half))
    assert forget.interval([0.5] * 5) == (0.5, 0.5, 0.5)
    assert math.isnan(forget.interval([0.4])[1])


def test_a_difference_is_taken_seed_by_seed() -> None:
    before = {"question": 1.0}
    runs = [
        {"id": name, "seed": seed, "question": value}
        for name, seed, value in (("a", 1, 0.9), ("b", 1, 0.5), ("a", 2, 0.6), ("b", 2, 0.2))
    ]
    gap = forget.difference(runs, before, "a", "b")
    assert gap["mean"] == pytest.approx(0.4 / 0.975) == pytest.approx(gap["low"])


def test_the_pairs_come_from_the_runs() -> None:
    shown = [
        *pairs.counts(RECORD["runs"], len(forget.split_facts()[1])).splitlines(),
        "",
        *pairs.pairs(RECORD["runs"], RECORD["before"]).splitlines(),
    ]
    assert text("pairs.txt").splitlines() == shown
    unsure = [line.split()[:3:2] for line in shown if "may be 0" in line]
    assert unsure == [["full-two-epochs", "full"], ["full-replay-20", "full-replay-5"]]


def test_summary_and_texts_come_from_the_runs() -> None:
    rows = forget.summarize(RECORD["runs"], RECORD["before"])
    assert rows == RECORD["retention"]
    seeds = RECORD["settings"]["seeds"]
    assert len(seeds) >= 5 and len(RECORD["runs"]) == len(seeds) * len(METHODS)
    gap = forget.difference(RECORD["runs"], RECORD["before"], "full-replay-20", "full")
    assert gap == RECORD["difference"]
    assert text("retention.txt") == forget.table(rows, RECORD["before"], gap) + "\n"


def test_what_the_chapter_says_of_the_record() -> None:
    found = {row["id"]: row for row in RECORD["retention"]}
    assert RECORD["before"]["task"] == 0
    assert all(RECORD["before"][key] > 0.95 for key in CAPITALS)
    assert RECORD["difference"]["low"] > 0, "not chance: the interval leaves out zero"
    assert found["full"]["high"] < found["full-replay-5"]["low"]
    assert found["lora"]["high"] < found["lora-replay-5"]["low"]
    assert found["lora"]["retention"] < 1, "an adapter forgets too"
    assert abs(found["lora"]["task"] - found["full"]["task"]) < 0.05, "compared at the same task"
    assert found["full"]["raw"] > 0.9, "known in a sentence, lost in a question"
    assert found["full-average-70"]["retention"] > found["full-low-rate"]["high"]
    assert RECORD["loss_after"] < RECORD["loss_before"] / 10
    line = {point["x"]: point["y"] for point in RECORD["between_question"]}
    assert (line[0.0], len(line)) == (1, 11) and line[1.0] < 0.5
    assert RECORD["steps_none"][0] == RECORD["steps_replay"][0] == {"x": 0, "y": 1.0}


# Refusals, numbers, markers


def refusal(*arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        forget.main(list(arguments))
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


def test_refusals(monkeypatch) -> None:
    assert "--seeds is 9" in refusal("--tiny", "--seeds", "9")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "no GPU found" in refusal()
    monkeypatch.setattr(forget, "measure", lambda *_: {"task": 0.0, "raw": 1.0, "question": 0.0})
    assert "the base knows 0% of the capitals (question)" in refusal("--tiny")


def test_the_numbers_of_the_docstring() -> None:
    sizes = {"rows": forget.Settings.batch_size, "length": forget.Settings.max_tokens}
    for name in ("qwen2.5-0.5b", "tinyllama-1.1b"):
        run = Run(PRESETS[name], precision="fp32", recompute=False, **sizes)
        assert f"{predict(run).total / 1e9:.1f} GB" in " ".join(forget.__doc__.split()), name


def test_the_markers_of_each_region_count_from_one() -> None:
    source = (FOLDER / "forget.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", source, re.DOTALL)
    names = ["methods", "replay", "retention", "measure", "run", "between", "compare", "answers"]
    assert [name for name, _ in regions] == names
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)), name
