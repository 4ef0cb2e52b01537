"""The program of chapter full/compute-requirements: what it predicts is what it measures."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from common import guard
from common.programs import EXAMPLES, load
from memory import PRESETS, RECIPES, Run, count_parameters, predict, read_config
from memory.activations import layer_bytes
from tiny import BASE

budget = load("full/compute-requirements/budget.py")
plan = load("full/compute-requirements/plan.py")
FOLDER = EXAMPLES / "full/compute-requirements"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
SHAPE = read_config(json.loads((BASE / "config.json").read_text("utf-8")))
CARD = guard.Card("CPU", 0, "fp32")
LENGTH = RECORD["settings"]["length"]


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def close(new: list[dict], old: list[dict], rel: float = 0.0) -> None:
    """Compare the numbers of two lists of rows, and their names."""
    for one, other in zip(new, old, strict=True):
        assert one.keys() == other.keys()
        for key, value in one.items():
            near = value if isinstance(value, str) else pytest.approx(value, rel=rel)
            assert other[key] == near, (one, key)


# Bytes


def test_static_bytes_are_exact() -> None:
    rows = budget.static_rows(SHAPE, "cpu")
    close(rows, RECORD["static"])
    assert [row["id"] for row in rows] == [recipe.id for recipe in RECIPES]
    for row, recipe in zip(rows, RECIPES, strict=True):
        if row["id"] == "bf16-8bit":  # norms are too small for 8 bits; embeddings keep 32
            assert row["total"] == pytest.approx(row["formula"], rel=0.002)
        else:
            assert row["total"] == row["formula"]
            assert row["per_parameter"] == recipe.total
    assert text("static.txt") == budget.static_table(rows) + "\n"


def test_master_weights_learn_what_plain_fp32_learns() -> None:
    torch.manual_seed(1)
    start = torch.rand(1000).bfloat16()
    plain, rounded = (
        torch.nn.Parameter(start.to(kind, copy=True)) for kind in (torch.float32, torch.bfloat16)
    )
    theirs = torch.optim.AdamW([plain], lr=1e-5)
    ours = budget.MasterAdamW([rounded], lr=1e-5)
    for _ in range(50):
        plain.grad, rounded.grad = torch.ones(1000), torch.ones(1000).bfloat16()
        theirs.step()
        ours.step()
    assert torch.equal(rounded, plain.bfloat16())
    assert not torch.equal(rounded, start), "fifty steps too small for bf16 add up"


def test_what_is_kept_and_the_logits_are_what_the_formulas_say() -> None:
    rows = budget.kept_rows(SHAPE, "cpu", LENGTH)
    close(rows, RECORD["kept"], rel=1e-3)
    for row in rows[:-1]:
        assert row["measured"] == pytest.approx(row["formula"], rel=0.01), row["id"]
    assert rows[-1]["measured"] == pytest.approx(rows[-1]["formula"] * 16 / 12, rel=0.01)
    assert text("kept.txt") == budget.kept_table(RECORD["kept"]) + "\n"


def test_peaks_are_what_was_predicted(monkeypatch) -> None:
    """The large shape is left to the record: its step alone takes 2.4 GB."""
    monkeypatch.setitem(budget.PRESETS, "smollm2-135m", replace(SHAPE, layers=8))
    rows = budget.peak_rows(SHAPE, CARD, RECORD["settings"]["rows"], LENGTH)
    close(rows[:-1], RECORD["peaks"][:-1], rel=0.01)
    for row in (*rows, RECORD["peaks"][-1]):
        assert row["measured"] == pytest.approx(row["predicted"], rel=0.02)
        assert row["predicted"] == max(row["at_loss"], row["at_step"])
    short, *_, large = RECORD["peaks"]
    assert large["parameters"] == 134_515_008
    for row in (short, large):
        assert row["at_step"] > row["at_loss"], "few tokens: the gradients weigh more"
    assert text("peaks.txt") == budget.peak_table(RECORD["peaks"]) + "\n"


def test_gradients_that_wait_come_on_top_of_the_loss() -> None:
    """A second piece finds the gradients of the first."""
    alone, waiting = (row for row in RECORD["peaks"][2:4])
    assert waiting["accumulate"] and not alone["accumulate"]
    gradients = 4 * RECORD["parameters"]
    assert waiting["measured"] - alone["measured"] == pytest.approx(gradients, rel=0.01)


def test_the_peak_is_the_larger_of_two_moments() -> None:
    rows = budget.moment_rows(SHAPE, "cpu")
    close(rows, RECORD["moments"], rel=0.01)
    for row in rows:
        assert row["measured"] == pytest.approx(max(row["at_loss"], row["at_step"]), rel=0.02)
    first, last = rows[0], rows[-1]
    assert first["at_step"] > first["at_loss"] and last["at_loss"] > last["at_step"]


def test_a_checkpoint_is_twelve_bytes_a_parameter() -> None:
    rows = budget.checkpoint_files(SHAPE, CARD)
    found = {row["id"]: row for row in rows}
    for row in RECORD["files"]:
        assert found[row["id"]]["per_parameter"] == pytest.approx(row["per_parameter"], abs=0.01)
    assert found["optimizer.pt"]["per_parameter"] == pytest.approx(8, abs=0.05)
    assert found["model.safetensors"]["per_parameter"] == pytest.approx(4, abs=0.05)
    assert sum(row["per_parameter"] for row in rows) == pytest.approx(12, abs=0.1)
    assert text("checkpoint.txt") == budget.file_table(RECORD["files"]) + "\n"


# Operations and time


def test_every_operation_is_counted() -> None:
    rows = budget.operation_rows(SHAPE, "cpu", (128, 512))
    assert rows == RECORD["operations"]
    for row in rows:
        assert row["whole"] == row["counted"], "each product of matrices, to the last one"
    short, long = (row["rule"] / row["counted"] for row in rows if not row["recompute"])
    assert 1 > short > long, "attention grows with the length; 6PT does not see it"
    assert text("operations.txt") == budget.operation_table(rows) + "\n"


def test_for_a_large_model_the_rule_is_enough() -> None:
    shape = PRESETS["llama-3.1-8b"]
    rule = 6 * budget.matrix_parameters(count_parameters(shape)) * 2048
    assert budget.attention_operations(shape, 1, 2048) < 0.08 * rule


def test_time_is_measured_and_predicted(monkeypatch) -> None:
    monkeypatch.setattr(budget, "matrix_speed", lambda *_: 1e12)
    row = budget.time_row(replace(SHAPE, layers=1), CARD, 1, 16)
    assert row["tokens"] == 16 * row["steps"]
    assert row["mfu"] == pytest.approx(row["operations_per_second"] / 1e12, abs=1e-4)
    assert row["predicted_seconds"] == pytest.approx(
        row["tokens"] / row["tokens_per_second"], abs=0.01
    )
    assert text("time.txt") == budget.time_table(RECORD["time"]) + "\n"
    assert 0 < RECORD["time"]["mfu"] < 1


# On paper


def test_the_plan_is_what_its_page_shows(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(plan, "HERE", tmp_path)
    plan.main(["--record"])
    new, shown = (json.loads((f / "plan.json").read_text("utf-8")) for f in (tmp_path, FOLDER))
    assert {**new, "versions": 0} == {**shown, "versions": 0}
    printed = capsys.readouterr().out
    for name in ("settings.txt", "activations.txt", "fits.txt", "hours.txt"):
        assert text(name) in printed
        assert (tmp_path / "outputs" / name).read_text("utf-8") == text(name)


def test_a_card_is_the_smallest_that_holds_the_run() -> None:
    tiny = Run(PRESETS["smollm2-135m"])
    assert plan.smallest_card(tiny) == 16
    assert plan.smallest_card(replace(tiny, rows=4096)) == 0
    run = Run(PRESETS["tinyllama-1.1b"])
    assert predict(run).total > 16e9 and plan.smallest_card(run) == 24


def test_the_rule_gives_the_hours_of_the_chapter() -> None:
    rows = {row["id"]: row for row in plan.hour_rows()}
    large = rows["llama-3.1-8b"]
    assert large["operations"] == pytest.approx(0.65e18, rel=0.01)
    assert large["recomputed"] * 6 == large["operations"] * 8
    assert plan.plan_hours(8, 10**18, 1e15, recompute=False) == pytest.approx(120_000 / 3600)


def test_activations_of_the_chapter() -> None:
    rows = {row["id"]: row for row in plan.activation_rows(PRESETS["llama-3.1-8b"], 2048)}
    assert rows["bf16, sdpa"]["per_token"] == layer_bytes(PRESETS["llama-3.1-8b"], 2048, "bf16")
    assert rows["autocast, sdpa"]["per_token"] / rows["fp32, sdpa"]["per_token"] == pytest.approx(
        0.66, abs=0.005
    )


# Refusals, numbers, markers


def refusal(*arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        budget.main(list(arguments))
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


def test_refusals(monkeypatch) -> None:
    assert "--rows is 0" in refusal("--tiny", "--rows", "0")
    with pytest.raises(SystemExit, match="--length is 1"):
        plan.main(["--length", "1"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "no GPU found" in refusal()
    small = SimpleNamespace(name="small", total_memory=int(6e9))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: small)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert "small has 6.0 GB\n  mend: lower --rows or --length" in refusal()


def test_the_numbers_of_the_docstring() -> None:
    said = " ".join(budget.__doc__.split())
    for name, rows, length in (
        ("smollm2-135m", 8, 512),
        ("tinyllama-1.1b", 8, 128),
        ("llama-3.2-1b", 16, 512),
    ):
        run = Run(PRESETS[name], precision="fp32", recompute=False, rows=rows, length=length)
        assert f"{predict(run).total / 1e9:.1f} GB" in said, name


def test_the_markers_of_each_region_count_from_one() -> None:
    source = "".join((FOLDER / name).read_text("utf-8") for name in ("budget.py", "plan.py"))
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", source, re.DOTALL)
    names = ["static", "activations", "peak", "checkpoint", "operations", "time"]
    names += ["settings", "fits", "hours"]
    assert [name for name, _ in regions] == names
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)), name
