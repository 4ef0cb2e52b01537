"""The programs of chapter peft/lora, by what they really do on the tiny model."""

import copy
import json
import re
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from common import guard
from common.programs import EXAMPLES, load
from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from memory import PRESETS, Run, Shape, count_lora, predict, read_config
from tiny import BASE, DATA

lora = load("peft/lora/train.py")
sweep = load("peft/lora/sweep.py")
FOLDER = EXAMPLES / "peft/lora"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
SWEEP = json.loads((FOLDER / "sweep.json").read_text("utf-8"))
STEPS = 15
CARD = guard.Card("CPU", 0, "fp32")


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def refusal(*arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        lora.main(list(arguments))
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> SimpleNamespace:
    """The first steps of the tiny run, with the loop that gives the losses of Trainer."""
    settings = replace(lora.TINY, output=tmp_path_factory.mktemp("lora"))
    full.set_seed(settings.seed)
    tokenizer, base = lora.load(settings, CARD)
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in read(settings.data)]
    before = lora.logits(base, rows[1][0])
    model = lora.attach(base, settings)
    untouched = torch.equal(lora.logits(model, rows[1][0]), before)
    losses = list(islice(loop.fit(model, rows[0], settings, tokenizer.pad_token_id), STEPS))
    model.save_pretrained(settings.output)
    return SimpleNamespace(**locals())


# What an adapter is


def test_a_new_adapter_changes_nothing(run) -> None:
    assert run.untouched


def test_what_learns_is_what_the_formula_counts(run) -> None:
    counted = lora.count(run.model)
    formula = count_lora(read_config(run.model.config.to_dict()), lora.TINY.rank)
    assert counted["trained"] == formula == RECORD["trained"] == 71_680
    assert counted["matrices"] == 4 * 7 * 2
    assert counted["all"] - counted["trained"] == 951_424
    assert "71,680" in text("parameters.txt") and "951,424" in text("parameters.txt")


def test_off_is_the_base_bit_by_bit(run) -> None:
    found = lora.compare_off(run.model, run.before, run.rows[1][0])
    assert found["off"] == 0.0 == RECORD["off"]
    assert found["on"] > 0.1 and RECORD["on"] > 1


def test_training_left_the_base_as_it_is(run) -> None:
    saved = load_file(BASE / "model.safetensors")
    names = {
        n.replace("base_model.model.", "").replace(".base_layer", ""): p
        for n, p in run.model.named_parameters()
        if "lora_" not in n
    }
    assert set(saved) <= set(names)
    assert all(torch.equal(names[name], weight.float()) for name, weight in saved.items())


def test_merging_is_exact_to_the_rounding_of_fp32(run) -> None:
    found = lora.compare_merged(copy.deepcopy(run.model), run.rows[1][0])
    assert found["moved"] > 1e-3, "the weights did change"
    for values in (found, RECORD):
        assert values["merged"] < lora.EXACT and values["unmerged"] < lora.EXACT
        assert values["left"] < 1e-6


def test_the_file_holds_the_adapter_and_nothing_else(run) -> None:
    found = lora.reload(run.settings, run.model, run.rows[1][0])
    assert found["reloaded"] == 0.0 and RECORD["reloaded"] < lora.EXACT, "recorded after a merge"
    weights = load_file(run.settings.output / "adapter_model.safetensors")
    assert sum(w.numel() for w in weights.values()) == 71_680
    assert 4 * 71_680 < found["bytes"] < 4 * 71_680 + 20_000
    assert found["bytes"] == pytest.approx(RECORD["bytes"], rel=0.01)
    assert found["base_bytes"] == 2 * 951_424 == RECORD["base_bytes"]


def test_the_record_is_what_the_program_does(run) -> None:
    """Trainer logs the mean of each five losses; rounding differs between processors."""
    for number, old in enumerate(RECORD["history"][: STEPS // 5]):
        new = sum(run.losses[5 * number : 5 * number + 5]) / 5
        assert old["step"] == 5 * number + 5
        assert new == pytest.approx(old["loss"], abs=0.02)
    assert RECORD["steps"] == RECORD["eval"][-1]["step"] == 92
    assert len(RECORD["eval"]) == lora.TINY.evaluations
    assert text("train.txt").count("\n") == 1 + lora.TINY.evaluations


def test_two_adapters_on_one_base(run) -> None:
    first = {n: p.detach().clone() for n, p in run.model.named_parameters() if ".default." in n}
    on = lora.logits(run.model, run.rows[1][0])
    lora.add_second(run.model, run.tokenizer, run.settings)
    assert not torch.equal(lora.logits(run.model, run.rows[1][0]), on)
    run.model.set_adapter("default")
    assert torch.equal(lora.logits(run.model, run.rows[1][0]), on)
    now = dict(run.model.named_parameters())
    assert first and all(torch.equal(now[name], value) for name, value in first.items())
    assert "</s>" in text("two.txt") and "  capitals:" in text("two.txt")


# What the record says


def test_the_adapter_learns_the_task_and_the_base_forgets_nothing() -> None:
    assert RECORD["before"]["exact"] == 0 and RECORD["after"]["exact"] > 0.7
    assert RECORD["adapter_off"] == RECORD["before"]
    assert RECORD["before"]["recall"] == 1 > RECORD["after"]["recall"]
    assert text("differences.txt") == lora.difference_table(RECORD) + "\n"
    assert f"{RECORD['after']['exact']:.1%}" in text("measures.txt")


def test_a_part_of_the_sweep_again() -> None:
    """One training of the sweep, whole; rounding differs between processors and adds up."""
    choice = sweep.SWEEPS["lora_rates"][2]
    old = SWEEP["lora_rates"][2]
    new = sweep.run(choice, read(str(DATA)))
    assert new["first_loss"] == pytest.approx(old["first_loss"], abs=1e-3)
    assert new["loss"] == pytest.approx(old["loss"], abs=0.05)
    assert new["exact"] == pytest.approx(old["exact"], abs=0.12)
    assert new["parameters"] == old["parameters"] == 71_680


def test_the_sweep_compares_what_it_says() -> None:
    shape = read_config(json.loads((BASE / "config.json").read_text("utf-8")))
    for name, choices in sweep.SWEEPS.items():
        for choice, row in zip(choices, SWEEP[name], strict=True):
            same = (row["learning_rate"], row["rank"], row["targets"])
            assert same == (choice.learning_rate, choice.rank, choice.targets)
            if choice.rank:
                targets = sweep.TARGETS[choice.targets]
                assert row["parameters"] == count_lora(shape, choice.rank, targets)
    assert len({row["parameters"] for row in SWEEP["targets"]}) == 1
    assert len({row["first_loss"] for name in sweep.SWEEPS for row in SWEEP[name]}) == 1
    assert text("sweep.txt") == sweep.table({name: SWEEP[name] for name in sweep.SWEEPS}) + "\n"


def test_lora_wants_a_higher_rate() -> None:
    best = {
        name: min(SWEEP[name], key=lambda row: row["loss"])["learning_rate"]
        for name in ("full_rates", "lora_rates")
    }
    assert best["lora_rates"] > best["full_rates"]


# Memory, refusals, the page


QWEN3_4B = Shape(2560, 9728, 36, 32, 8, 128, 151936, tied=True, query_norm=True)
QWEN3_14B = Shape(5120, 17408, 40, 40, 8, 128, 151936, query_norm=True)


@pytest.mark.parametrize(
    ("start", "shape"),
    [
        ("16 GB, such", PRESETS["qwen2.5-0.5b"]),
        ("16 GB   ", QWEN3_4B),
        ("24 GB", PRESETS["qwen2.5-7b"]),
        ("80 GB", QWEN3_14B),
    ],
)
def test_the_memory_that_the_docstring_gives(start: str, shape: Shape) -> None:
    settings = lora.Settings()
    run = Run(shape, method="lora", rank=settings.rank, rows=settings.batch_size, length=512)
    line = next(line for line in lora.__doc__.splitlines() if line.strip().startswith(start))
    assert line.endswith(f" {predict(run).total / 1e9:.1f} GB")


def test_refusals(tmp_path) -> None:
    output = ("--tiny", "--output", str(tmp_path))
    assert "--rank is 0" in refusal(*output, "--rank", "0")
    assert "was not found" in refusal(*output, "--model", "./no/such/folder")
    assert "nothing to resume" in refusal(*output, "--resume")
    small = guard.Card("small", 4 * 10**9, "fp16")
    config = full.AutoConfig.from_pretrained(BASE)
    config.hidden_size, config.intermediate_size, config.num_hidden_layers = 4096, 14336, 32
    config.head_dim, config.num_attention_heads, config.num_key_value_heads = 128, 32, 8
    with pytest.raises(SystemExit, match=r"small has 4\.0 GB, the run needs"):
        lora.check_memory(small, config, lora.Settings())


@pytest.mark.parametrize(("precision", "kind"), [("fp16", "float16"), ("fp32", "float32")])
def test_the_base_is_loaded_in_the_type_of_the_card(precision: str, kind: str, monkeypatch) -> None:
    """At once: through fp32 a base of 4 billion parameters would need 16 GB of RAM."""
    asked = []
    original = lora.AutoModelForCausalLM.from_pretrained

    def spy(name: str, dtype: torch.dtype) -> torch.nn.Module:
        asked.append(dtype)
        return original(name, dtype=dtype)

    monkeypatch.setattr(lora.AutoModelForCausalLM, "from_pretrained", spy)
    tokenizer, model = lora.load(lora.TINY, guard.Card("card", 16 * 10**9, precision))
    assert asked == [model.dtype] == [getattr(torch, kind)]
    assert tokenizer.eos_token_id == full.answer_end(tokenizer)


def test_a_high_rank_wants_a_lower_rate() -> None:
    """What the page says of rank 32: at 1e-2 it is not the rank that is too high."""
    losses = {row["learning_rate"]: row["loss"] for row in SWEEP["high_rank"]}
    assert losses[0.005] < min(row["loss"] for row in SWEEP["ranks"]) < losses[0.01]


def test_alpha_follows_the_rank() -> None:
    settings = lora.choose(lora.read_options(["--tiny", "--rank", "4", "--batch-size", "8"]))
    assert (settings.rank, settings.alpha, settings.accumulation) == (4, 8, 2)


@pytest.mark.parametrize("program", ["train", "sweep"])
def test_the_markers_of_each_region_count_from_one(program: str) -> None:
    source = (FOLDER / f"{program}.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", source, re.DOTALL)
    expected = ["settings", "adapter", "load", "count", "off", "merge", "reload", "two"]
    assert [name for name, _ in regions] == (expected if program == "train" else ["choices"])
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and markers, name
