"""The benchmark of one large card, run whole on the processor: its path, its sums, its refusals."""

import json
import re
from types import SimpleNamespace

import pytest
import torch
from bitsandbytes.nn import Linear4bit

from common import guard
from common.programs import load
from memory import PRESETS, count_parameters

gpu = load("../benchmarks/gpu.py")
H200 = guard.Card("NVIDIA H200", 150_000_000_000, "bf16")
OPTIONS = SimpleNamespace(minutes=9, steps=5)


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("gpu") / "gpu.json"
    gpu.main(["--tiny", "--steps", "1", "--json", str(path)])
    return json.loads(path.read_text("utf-8"))


def test_the_whole_path_runs(report) -> None:
    assert [row["method"] for row in report["cases"]] == list(gpu.METHODS)
    assert not any("skipped" in row for row in report["cases"])
    for row in report["cases"]:
        assert row["tokens_per_second"] == pytest.approx(2 * 64 / row["seconds"])
        assert row["loss"] == pytest.approx(8.3, abs=0.3), "a random model: ln 4096"


def test_the_peak_is_near_the_prediction(report) -> None:
    for row in report["cases"]:
        assert row["ratio"] == row["peak"] / row["predicted"]
        assert row["ratio"] == pytest.approx(1, abs=0.1), row["method"]
    full, lora, qlora = (row["peak"] for row in report["cases"])
    assert full > lora > qlora


def test_qlora_is_in_4_bits_and_learns_only_its_adapter() -> None:
    case = gpu.choose(tiny=True)[2]
    model = gpu.build(case, "cpu")
    layers = [m for m in model.modules() if isinstance(m, Linear4bit)]
    assert len([m for m in layers if type(m) is Linear4bit]) >= 7 * case.shape.layers
    assert {m.weight.quant_state.quant_type for m in layers} == {"nf4"}
    assert all(m.weight.quant_state.nested and m.weight.dtype == torch.uint8 for m in layers)
    learnt = [n for n, p in model.named_parameters() if p.requires_grad]
    assert learnt and all("lora_" in name for name in learnt)


def test_the_arithmetic_of_a_step() -> None:
    """8B, 4,096 tokens: 6 x 7.5 billion parameters in products, and attention's part."""
    shape = PRESETS["llama-3.1-8b"]
    full, lora, qlora = (gpu.Case("8b", shape, m, 4, 1024).flops for m in gpu.METHODS)
    counts = count_parameters(shape)
    products = counts.linear + counts.head
    attention = 12 * 32 * 4096 * 1024
    assert full == 4096 * (6 * products + attention)
    assert lora == qlora == 4096 * (4 * products + attention)
    assert full == pytest.approx(1.9e14, rel=0.05)


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("Tesla T4", 65),
        ("NVIDIA A100-SXM4-80GB", 312),
        ("NVIDIA H100 80GB HBM3", 989),
        ("NVIDIA H100 PCIe", 756),
        ("NVIDIA H200", 989),
        ("NVIDIA GeForce RTX 4090", 165),
    ],
)
def test_the_peak_of_known_cards(name: str, peak: float) -> None:
    assert gpu.find_peak(guard.Card(name, 1, "bf16"), None) == pytest.approx(peak, abs=1)
    assert gpu.find_peak(guard.Card(name, 1, "bf16"), 12.5) == 12.5


@pytest.mark.parametrize("name", ["NVIDIA L40S", "NVIDIA GH200 480GB", "AMD Instinct MI300X"])
def test_an_unknown_card_asks_for_its_peak(name: str) -> None:
    with pytest.raises(SystemExit, match=r"^error: the peak of .+\n  mend: .+--peak-tflops$"):
        gpu.find_peak(guard.Card(name, 1, "bf16"), None)


def test_what_does_not_fit_is_named(monkeypatch, capsys) -> None:
    """No case is run: the card and the measures are made up."""
    monkeypatch.setattr(gpu, "measure", lambda *a: {"peak": 10**9, "seconds": 1.0, "loss": 1.0})
    cases = gpu.choose(tiny=False)
    rows = gpu.run(cases, H200, OPTIONS, 989.0)
    skipped = {(r["model"], r["method"]): r["skipped"] for r in rows if "skipped" in r}
    assert skipped == {("llama-3.1-8b", "full"): "more than the card has"}
    assert len(rows) == 9 and capsys.readouterr().out.count("\n") == 9
    small = guard.Card("NVIDIA H100", 36_000_000_000, "bf16")
    skipped = [r["method"] for r in gpu.run(cases, small, OPTIONS, 989.0) if "skipped" in r]
    assert skipped == ["full", "full"]


def test_what_the_time_does_not_allow_is_named(monkeypatch) -> None:
    options = SimpleNamespace(minutes=0.1, steps=5)
    rows = gpu.run(gpu.choose(tiny=False)[:3], H200, options, 989.0)
    assert all(re.fullmatch(r"[0-6] s are left", row["skipped"]) for row in rows)


def test_a_full_card_is_an_answer(monkeypatch) -> None:
    def fill(*arguments) -> dict:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(gpu, "measure", fill)
    case = gpu.choose(tiny=True)[0]
    card = guard.Card("CPU", 0, "fp32")
    assert gpu.attempt(case, card, 1, 1.0) == {"skipped": "out of memory"}


@pytest.mark.parametrize("wrong", [("--peak-tflops", "-1"), ("--json", "/nowhere/found.json")])
def test_what_would_be_lost_at_the_end_is_refused_at_the_start(wrong: tuple[str, str]) -> None:
    with pytest.raises(SystemExit, match=r"^error: [^\n]+\n  mend: "):
        gpu.read_options(["--tiny", *wrong])
