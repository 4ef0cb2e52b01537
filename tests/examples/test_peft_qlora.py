"""The programs of chapter peft/qlora, by what they really do on the tiny model."""

import json
import re
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import pytest
import torch
from bitsandbytes.nn import Linear4bit
from transformers import BitsAndBytesConfig, TrainerCallback

from common import guard
from common.programs import EXAMPLES, load
from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from memory import PRESETS, Run, Shape, read_config
from tiny import BASE

qlora = load("peft/qlora/train.py")
compare = load("peft/qlora/compare.py")
with_trl = load("peft/qlora/with_trl.py")
trap = load("peft/qlora/trap.py")
FOLDER = EXAMPLES / "peft/qlora"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
COMPARE = json.loads((FOLDER / "compare.json").read_text("utf-8"))
TRAP = json.loads((FOLDER / "trap.json").read_text("utf-8"))
CPU = guard.Card("CPU", 0, "fp32")
T4 = guard.Card("Tesla T4", 15_600_000_000, "fp16")
LARGE = guard.Card("H100", 85_000_000_000, "bf16")
STEPS = 25


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def ids_of(rows: list[dict]) -> dict[str, dict]:
    return {row["id"]: row for row in rows}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> SimpleNamespace:
    """The first steps of the tiny run, in the loop that gives the losses of Trainer."""
    guard.hush()
    settings = replace(qlora.TINY, output=tmp_path_factory.mktemp("qlora"))
    full.set_seed(settings.seed)
    tokenizer, base = qlora.load(settings, CPU)
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in read(settings.data)]
    loaded = qlora.held(base)
    codes = {n: m.weight.clone() for n, m in base.named_modules() if isinstance(m, Linear4bit)}
    prepared = qlora.held(qlora.prepare(base, settings))
    before = full.measure(base, tokenizer, rows[1])
    model = qlora.attach(base, settings)
    fitting = loop.fit(model, rows[0], settings, tokenizer.pad_token_id)
    losses = list(islice(fitting, STEPS))
    model.save_pretrained(settings.output)
    return SimpleNamespace(**locals())


# What is in 4 bits


def test_every_linear_layer_but_the_output_is_in_4_bits(run) -> None:
    layers = [m for m in run.base.modules() if isinstance(m, Linear4bit)]
    assert len(layers) == 4 * 7
    for layer in layers:
        assert layer.weight.dtype == torch.uint8
        assert layer.weight.quant_state.quant_type == "nf4" and layer.weight.quant_state.nested
        assert layer.weight.numel() == layer.in_features * layer.out_features // 2
    for other in (run.base.get_input_embeddings(), run.base.get_output_embeddings()):
        assert not isinstance(other, Linear4bit) and other.weight.dtype == torch.float32


def test_a_weight_of_the_linear_layers_takes_4_127_bits(run) -> None:
    """In small layers the last block of scales is not full: 4.129."""
    row = ids_of(run.loaded)["linear layers"]
    assert row["parameters"] == 4 * 172_032 and row["type"] == "nf4"
    assert 8 * row["bytes"] / row["parameters"] == pytest.approx(4.127, abs=0.003)
    shape = PRESETS["llama-3.1-8b"]
    linear = qlora.count_parameters(shape).linear
    assert 8 * qlora.nf4_bytes(linear) / linear == pytest.approx(4.127, abs=0.0005)


def test_the_cast_grows_memory_by_the_predicted_bytes(run) -> None:
    grown = qlora.total(run.prepared) - qlora.total(run.loaded)
    assert grown == qlora.cast_bytes(read_config(run.base.config.to_dict())) == 526_592
    kept = {row["type"] for row in run.prepared} - {"nf4"}
    assert kept == {"float32"} and {row["type"] for row in run.loaded} == {"nf4", "bfloat16"}
    assert RECORD["loaded"] == run.loaded and RECORD["prepared"] == run.prepared
    assert text("layers.txt") == qlora.layer_table(run.loaded, run.prepared) + "\n"


def test_the_cast_can_be_left_out() -> None:
    settings = replace(qlora.TINY, keep_16_bits=True)
    tokenizer, base = qlora.load(settings, CPU)
    loaded = qlora.held(base)
    model = qlora.attach(qlora.prepare(base, settings), settings)
    assert qlora.total(qlora.lab.inventory(base)) == qlora.total(loaded) + 4 * 71_680
    rows = [full.encode(row, tokenizer) for row in read(settings.data)[0][:32]]
    losses = list(loop.fit(model, rows, settings, tokenizer.pad_token_id))
    assert losses[-1] < losses[0] - 1 and model.get_base_model().is_gradient_checkpointing


@pytest.mark.parametrize("cast", [True, False])
def test_the_output_layer_is_copied_only_after_the_cast(cast: bool) -> None:
    """Under autocast an fp32 output layer is kept a second time, in 16 bits, until backward."""
    settings = replace(qlora.TINY, keep_16_bits=not cast)
    _, base = qlora.load(settings, CPU)
    model = qlora.attach(qlora.prepare(base, settings), settings)
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    head, kept = 2 * 2048 * 128, set()

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and storage.nbytes() == head:
            kept.add(tuple(sorted(tensor.shape)))
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
    with hooks, torch.autocast("cpu", torch.bfloat16):
        model(input_ids=torch.ones(1, 24, dtype=torch.long))
    assert ((128, 2048) in kept) == cast


# What learns


def test_only_the_adapter_gets_gradients_and_the_codes_stay(run) -> None:
    batch = loop.collate(run.rows[0][:4], run.tokenizer.pad_token_id)
    run.model(**batch).loss.backward()
    moved = {n for n, p in run.model.named_parameters() if p.grad is not None and p.grad.any()}
    run.model.zero_grad()
    assert len(moved) == 4 * 7 * 2 and all("lora_" in name for name in moved)
    now = dict(run.base.named_modules())
    for name, old in run.codes.items():
        layer = now.get(name) or now[f"{name}.base_layer"]
        assert torch.equal(layer.base_layer.weight, old)


def test_gradients_still_flow_after_an_evaluation() -> None:
    """Where the processor has AVX512-BF16, bitsandbytes would pack the layers at the first one."""
    settings = qlora.TINY
    tokenizer, base = qlora.load(settings, CPU)
    model = qlora.attach(qlora.prepare(base, settings), settings)
    batch = loop.collate([full.encode(read(settings.data)[0][0], tokenizer)], 0)
    found = []
    for _ in range(2):
        model.train()
        model(**batch).loss.backward()
        found.append([p.grad.clone() for p in model.parameters() if p.requires_grad])
        model.zero_grad()
        model.eval()
        with torch.no_grad():
            model(**batch)
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))
    assert sum(bool(one.any()) for one in found[0]) == 4 * 7, "B is zero: so far only B has one"


# Evaluating before training: what it does depends on the processor


def first_rows() -> list[dict]:
    tokenizer = full.load_tokenizer(qlora.TINY)
    return [full.encode(row, tokenizer) for row in read(qlora.TINY.data)[0][:2]]


def test_with_the_remedy_every_matrix_learns_after_an_evaluation() -> None:
    assert trap.count_stuck(remedy=True, rows=first_rows()) == []


@pytest.mark.filterwarnings("ignore:.*autograd kernel was not registered")
def test_without_the_remedy_only_what_ends_in_the_stream_learns() -> None:
    if not trap.has_avx512bf16():
        pytest.skip("this processor has no AVX512-BF16, so bitsandbytes packs nothing anew")
    found = trap.count_stuck(remedy=False, rows=first_rows())
    assert found == TRAP["runs"][1]["stuck"] and len(found) == 20
    assert not any("o_proj" in name or "down_proj" in name for name in found)


def test_saving_hides_the_trap_until_the_next_evaluation(tmp_path) -> None:
    if not trap.has_avx512bf16():
        pytest.skip("this processor has no AVX512-BF16, so bitsandbytes packs nothing anew")
    tokenizer, base = trap.load(remedy=False)
    model = qlora.attach(base, qlora.TINY)
    batch = loop.collate(first_rows(), tokenizer.pad_token_id)
    model.eval()
    with torch.no_grad():
        model(**batch)
    model.save_pretrained(tmp_path)
    model.train()
    model(**batch).loss.backward()
    assert trap.stuck(model) == []


def test_the_trap_is_not_shown_where_it_cannot_be(monkeypatch, capsys) -> None:
    monkeypatch.setattr(trap, "has_avx512bf16", lambda: False)
    with pytest.raises(SystemExit, match=r"no AVX512-BF16.*\n  mend: "):
        trap.main([])
    assert capsys.readouterr().out == ""


def test_the_table_of_the_trap_is_its_record() -> None:
    library = TRAP["bitsandbytes"]
    assert text("trap.txt") == trap.table(TRAP["runs"], TRAP["settings"]["seed"], library) + "\n"
    assert TRAP["processor"] == "AVX512-BF16" and TRAP["processor"] in text("trap.txt")
    remedied, broken = TRAP["runs"]
    assert (remedied["remedy"], broken["remedy"]) == (True, False)
    assert remedied["stuck"] == [] and remedied["reloaded"] == 0.0 < broken["reloaded"]
    assert remedied["loss_early"] < broken["loss_early"]


def test_the_loss_falls_as_recorded(run) -> None:
    """Trainer logs the mean of each five losses; rounding differs between processors."""
    for number, old in enumerate(RECORD["history"][:3]):
        new = sum(run.losses[5 * number : 5 * number + 5]) / 5
        assert old["step"] == 5 * number + 5
        assert new == pytest.approx(old["loss"], abs=0.03)
    assert run.losses[0] > 5 and sum(run.losses[-5:]) / 5 < 0.4


def test_the_end_of_an_answer_is_learnt(run) -> None:
    row = run.rows[1][0]
    assert row["labels"][-1] == run.tokenizer.eos_token_id
    place = len(row["input_ids"]) - 2
    assert qlora.lora.logits(run.model, row)[0, place].argmax() == run.tokenizer.eos_token_id
    assert qlora.lora.logits(run.model, row)[0].argmax(-1).tolist().count(2) < 4


def test_reloading_gives_the_same_logits(run) -> None:
    row = run.rows[1][0]
    expected = qlora.lora.logits(run.model, row)
    assert qlora.reload(run.settings, CPU, expected, row) == 0.0 == RECORD["reloaded"]


# What is asked for


def test_the_defaults_are_others() -> None:
    default, asked = BitsAndBytesConfig(load_in_4bit=True), qlora.quantization(LARGE)
    names = ("bnb_4bit_quant_type", "bnb_4bit_compute_dtype", "bnb_4bit_use_double_quant")
    assert [getattr(default, n) for n in names] == ["fp4", torch.float32, False]
    assert [getattr(asked, n) for n in names] == ["nf4", torch.bfloat16, True]
    assert text("settings.txt") == qlora.settings_table() + "\n"
    rows = [line.split()[-4:] for line in text("settings.txt").splitlines()]
    assert rows[1] == ["fp4", "nf4", "nf4", "nf4"]
    assert rows[2] == ["float32", "float16", "bfloat16", "float32"]


def test_a_card_without_bf16_computes_in_fp16(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    found = SimpleNamespace(name="Tesla T4", total_memory=15_600_000_000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: found)
    card = guard.find_card(tiny=False)
    assert card == T4 and qlora.place(card) == {"": 0} and qlora.place(CPU) == {"": "cpu"}
    assert qlora.quantization(card).bnb_4bit_compute_dtype == torch.float16


def test_the_optimiser_is_paged_and_in_8_bits_on_a_gpu(tmp_path) -> None:
    settings = replace(qlora.TINY, optimizer=qlora.Settings().optimizer, output=tmp_path)
    args = qlora.arguments(settings, CPU)
    assert args.optim == "paged_adamw_8bit" and args.activation_checkpointing
    assert qlora.arguments(qlora.TINY, CPU).optim == "adamw_torch"


# Memory


def test_memory_is_predicted_within_5_percent(run) -> None:
    shape = read_config(run.base.config.to_dict())
    peak, length = qlora.measure_peak(run.model, run.rows[0][:16], run.tokenizer.pad_token_id)
    predicted = qlora.needed(shape, run.settings, CPU, length=length, context=0)
    assert peak == pytest.approx(predicted, rel=0.05)
    assert RECORD["predicted_memory_bytes"] == predicted
    assert RECORD["peak_memory_bytes"] == pytest.approx(peak, rel=0.01)
    assert text("memory.txt") == qlora.memory_table(RECORD["memory"]) + "\n"


# From the models' public config.json files.
QWEN3_14B = Shape(5120, 17408, 40, 40, 8, 128, 151936, query_norm=True)
QWEN25_72B = Shape(8192, 29568, 80, 64, 8, 128, 152064, query_bias=True)
DOCUMENTED = [
    (PRESETS["qwen3-8b"], 2, T4, 13.6, 20.1),
    (QWEN3_14B, 4, LARGE, 21.6, 36.0),
    (QWEN25_72B, 4, LARGE, 60.9, 156.1),
]


@pytest.mark.parametrize(("shape", "rows", "card", "size", "lora_size"), DOCUMENTED)
def test_the_memory_of_the_docstring(shape, rows, card, size, lora_size) -> None:
    settings = replace(qlora.Settings(), batch_size=rows)
    found = qlora.needed(shape, settings, card)
    run_of_lora = Run(shape, method="lora", rows=rows, length=settings.max_tokens)
    assert round(found / 1e9, 1) == size
    assert round(qlora.predict(run_of_lora).total / 1e9, 1) == lora_size
    assert re.search(rf"\s{size} GB\s+{lora_size} GB\n", qlora.__doc__)
    kept = qlora.needed(shape, replace(settings, keep_16_bits=True), card)
    assert f" {kept / 1e9:.1f} GB\n" in with_trl.__doc__


@pytest.fixture
def model_8b(tmp_path) -> str:
    """A folder with the configuration of Qwen3-8B-Base alone."""
    shape = PRESETS["qwen3-8b"]
    config = {
        "model_type": "qwen3",
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.key_heads,
        "head_dim": shape.head_size,
        "vocab_size": shape.vocabulary,
        "tie_word_embeddings": False,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    return str(tmp_path)


@pytest.mark.parametrize(
    ("memory", "cure"),
    [
        (13e9, "this fits: --batch-size 1 --max-tokens 512"),
        (9e9, "this fits: --batch-size 1 --max-tokens 512 --keep-16-bits"),
        (5e9, "choose a smaller model with --model"),
    ],
)
def test_too_little_memory_names_what_fits(model_8b, memory: float, cure: str) -> None:
    card = replace(T4, memory=int(memory))
    settings = replace(qlora.Settings(), model=model_8b)
    with pytest.raises(SystemExit) as stopped:
        qlora.check_memory(card, settings)
    assert re.fullmatch(
        rf"error: Tesla T4 has [\d.]+ GB, the run needs 13\.6 GB\n  mend: {cure}",
        stopped.value.code,
    )


def test_what_fits_is_only_announced(model_8b, capsys) -> None:
    qlora.check_memory(T4, replace(qlora.Settings(), model=model_8b))
    assert capsys.readouterr().out == "memory predicted: 13.6 GB; LoRA would need 20.1 GB\n"


def test_options() -> None:
    settings = qlora.choose(qlora.read_options(["--batch-size", "1", "--rank", "32"]))
    assert (settings.rank, settings.alpha, settings.accumulation) == (32, 64, 16)
    assert not settings.keep_16_bits and settings.model == "Qwen/Qwen3-8B-Base"
    assert qlora.choose(qlora.read_options(["--tiny", "--keep-16-bits"])).keep_16_bits
    with pytest.raises(SystemExit, match=r"^error: --rank is 0\n  mend: "):
        qlora.main(["--tiny", "--rank", "0"])
    with pytest.raises(SystemExit, match=r"^error: the record .* is that of --tiny\n  mend: "):
        qlora.main(["--record"])


# By TRL


def test_trl_trains_as_the_program_does(tmp_path) -> None:
    """Five steps: the loss that the program recorded, with an adapter in bf16."""
    settings = replace(qlora.TINY, output=tmp_path)
    trainer = with_trl.twin(settings, CPU, read(settings.data)[0])
    layers = [m for m in trainer.model.modules() if isinstance(m, Linear4bit)]
    assert len(layers) == 4 * 7 and layers[0].weight.quant_state.quant_type == "nf4"
    assert trainer.model.get_input_embeddings().weight.dtype == torch.bfloat16
    learnt = [p for p in trainer.model.parameters() if p.requires_grad]
    assert {p.dtype for p in learnt} == {torch.bfloat16}
    assert sum(p.numel() for p in learnt) == 71_680

    class Stop(TrainerCallback):
        def on_log(self, args, state, control, **kwargs) -> None:
            control.should_training_stop = True

    trainer.add_callback(Stop())
    trainer.train()
    old = RECORD["history"][0]
    new = next(entry for entry in trainer.state.log_history if "loss" in entry)
    assert new["step"] == old["step"] and new["loss"] == pytest.approx(old["loss"], abs=0.03)


def test_trl_gets_the_rows_that_the_program_keeps(capsys) -> None:
    """Longer ones it would cut, and with them the end of their answers."""
    tokenizer = full.load_tokenizer(full.TINY)
    parts = read(full.TINY.data)
    sizes = [len(full.encode(row, tokenizer)["input_ids"]) for row in parts[1]]
    kept = with_trl.keep(parts[1], tokenizer, min(sizes))
    assert len(kept) == sizes.count(min(sizes)) < len(sizes)
    assert f"{len(sizes) - len(kept)} dropped" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"^error: no row is left\n  mend: "):
        with_trl.keep(parts[1], tokenizer, min(sizes) - 1)


def test_what_trl_recorded() -> None:
    found = json.loads((FOLDER / "trl.json").read_text("utf-8"))
    assert found["loss_after"] == pytest.approx(RECORD["loss_after"], abs=0.01)
    assert found["exact"] > 0.7 and f"{found['exact']:.1%}" in text("trl.txt")
    with pytest.raises(SystemExit, match=r"^error: this program keeps no checkpoints\n  mend: "):
        with_trl.main(["--tiny", "--resume"])


# What was recorded


def test_the_record_says_what_was_learnt() -> None:
    assert RECORD["loss_before"] > 5 and RECORD["loss_after"] < 0.05
    assert RECORD["before"]["exact"] == 0 and RECORD["after"]["exact"] > 0.7
    assert f"{RECORD['after']['exact']:.1%}" in text("measures.txt")
    assert text("train.txt").count("\n") == 1 + qlora.TINY.evaluations
    assert RECORD["seconds"] > 0 and RECORD["trained"] == 71_680


def test_4_bits_learn_as_lora_does() -> None:
    kinds = ids_of(COMPARE["kinds"])
    assert kinds["qlora"]["loss_after"] == pytest.approx(kinds["lora"]["loss_after"], abs=0.01)
    assert kinds["qlora"]["exact"] == pytest.approx(kinds["lora"]["exact"], abs=0.05)
    assert kinds["qlora"]["loss_before"] > kinds["lora"]["loss_before"]
    assert kinds["lora"]["time_ratio"] == 1.0 and len(COMPARE["runs"]) == 3 * 3
    assert text("compare.txt") == compare.table(COMPARE["kinds"]) + "\n"


def test_the_budget_is_that_of_the_predictions() -> None:
    found = compare.budget()
    assert found == COMPARE["budget"] and text("budget.txt") == compare.budget_table(found) + "\n"
    assert COMPARE["gigabytes"] == compare.gigabytes(found)
    totals = {row["id"]: round(row["total"] / 1e9, 1) for row in found}
    assert totals["lora"] == 20.1 and totals["qlora"] == 13.6 and totals["qlora-16"] == 9.5
    assert found[3]["total"] == qlora.needed(PRESETS["qwen3-8b"], qlora.Settings(), T4)


def test_the_comparison_starts_as_recorded() -> None:
    """A short run of two kinds again: the same losses before, and both learn."""
    for kind in ("lora", "qlora"):
        old = next(one for one in COMPARE["runs"] if one["id"] == kind)
        new = compare.run(kind, old["seed"], read(str(full.TINY.data)), epochs=0.25)
        assert new["loss_before"] == pytest.approx(old["loss_before"], abs=0.02)
        assert new["loss_after"] < 3


def test_the_base_is_that_of_the_course() -> None:
    assert str(BASE) == qlora.TINY.model and RECORD["settings"]["model"] == "base"


@pytest.mark.parametrize("program", ["train", "compare", "with_trl"])
def test_the_markers_of_each_region_count_from_one(program: str) -> None:
    source = (FOLDER / f"{program}.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", source, re.DOTALL)
    train = ["settings", "quantization", "prepare", "arguments", "layers", "memory", "reload"]
    expected = {"train": train, "compare": ["kinds", "budget"], "with_trl": ["trl"]}
    assert [name for name, _ in regions] == expected[program]
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and markers, name
