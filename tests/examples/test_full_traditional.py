"""The program of chapter full/traditional, by what it really does on the tiny model."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from huggingface_hub.errors import GatedRepoError
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2Config, set_seed

from common import guard, record
from common.rows import read
from full.traditional import interrupt, loop, optimizers, train
from memory import PRESETS, Run, Shape, predict
from tiny import BASE, DATA, exact, recall

FOLDER = Path(train.__file__).parent
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
GB = 10**9


def tiny(output: Path, *more: str) -> list[str]:
    return ["--tiny", "--output", str(output), *more]


def state(output: Path) -> list[dict]:
    return json.loads((output / "trainer_state.json").read_text("utf-8"))["log_history"]


def refusal(*arguments: str) -> str:
    """Run the program up to its refusal; text in SystemExit means exit status 1."""
    with pytest.raises(SystemExit) as stopped:
        train.main(list(arguments))
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


@pytest.fixture(scope="module")
def tokenizer():
    return train.load(train.TINY)[0]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> SimpleNamespace:
    """The whole tiny run, once, as a reader starts it."""
    output = tmp_path_factory.mktemp("finished")
    train.main(tiny(output))
    return SimpleNamespace(output=output, log=state(output))


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Path:
    """A short run that nothing disturbs."""
    output = tmp_path_factory.mktemp("short")
    train.main(tiny(output, "--epochs", interrupt.EPOCHS))
    return output


# What it learns


def test_the_record_is_what_the_program_does(finished) -> None:
    """Rounding differs between processors and adds up: close at first, alike at the end."""
    again = record.history(finished.log)
    for name in ("history", "eval"):
        assert [e["step"] for e in again[name]] == [e["step"] for e in RECORD[name]]
        for new, old in zip(again[name], RECORD[name], strict=True):
            tolerance = 0.01 if old["step"] < 40 else 0.03
            assert new["loss"] == pytest.approx(old["loss"], abs=tolerance), old["step"]
    for new, old in zip(again["history"], RECORD["history"], strict=True):
        assert new["learning_rate"] == pytest.approx(old["learning_rate"], rel=1e-6)


def test_training_loss_falls_and_validation_loss_turns(finished) -> None:
    runs = record.history(finished.log)
    assert runs["history"][0]["loss"] > 3 and runs["history"][-1]["loss"] < 0.05
    assert runs["eval"][0]["loss"] > 0.2 and min(e["loss"] for e in runs["eval"]) < 0.03
    shown = [entry["loss"] for entry in RECORD["eval"]]
    assert len(shown) >= 20
    assert shown.index(min(shown)) < 0.7 * len(shown)
    assert shown[-1] > 1.1 * min(shown), "trained for long, it learns the errors by heart"


def test_the_learning_rate_warms_up_and_falls() -> None:
    rates = [entry["learning_rate"] for entry in RECORD["history"]]
    peak = rates.index(max(rates))
    assert max(rates) == pytest.approx(train.TINY.learning_rate, rel=1e-3)
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert RECORD["history"][peak]["step"] <= 1 + math.ceil(train.TINY.warmup * RECORD["steps"]) + 5


def test_it_answers_and_stops_after_training_but_not_before(finished) -> None:
    tokenizer = AutoTokenizer.from_pretrained(finished.output)
    trained = AutoModelForCausalLM.from_pretrained(finished.output, dtype=torch.float32)
    base = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    rows = read(str(DATA))[1][:12]
    after = [train.generate(trained, tokenizer, row) for row in rows]
    before = [train.generate(base, tokenizer, row) for row in rows]
    right = [answer == row["response"] + "</s>" for answer, row in zip(after, rows, strict=True)]
    assert sum(right) >= 9
    assert all(answer.endswith("}</s>") for answer in after)
    assert sum("}</s>" in answer for answer in before) == 0


def test_what_was_saved_is_what_was_trained(finished, tokenizer) -> None:
    saved = AutoModelForCausalLM.from_pretrained(finished.output, dtype=torch.float32)
    row = train.encode(read(str(DATA))[1][0], tokenizer)
    again, difference = train.load_saved(saved, row, finished.output)
    assert difference == 0.0
    assert all(
        torch.equal(one, other)
        for one, other in zip(saved.parameters(), again.parameters(), strict=True)
    )
    assert not list(finished.output.glob("checkpoint-*"))


def test_the_measures_on_the_page(finished, tokenizer) -> None:
    table = (FOLDER / "outputs" / "measures.txt").read_text("utf-8")
    assert f"{RECORD['after']['exact']:.1%}" in table
    assert RECORD["before"] == {"exact": 0.0, "recall": 1.0}
    assert RECORD["after"]["exact"] > 0.9
    assert RECORD["after"]["recall"] < 0.9, "the capitals that it knew are partly forgotten"
    again = AutoModelForCausalLM.from_pretrained(finished.output, dtype=torch.float32)
    rows = [train.encode(row, tokenizer) for row in read(str(DATA))[1]]
    assert exact(rows, again) == pytest.approx(RECORD["after"]["exact"], abs=0.1)
    assert recall(again, tokenizer) == pytest.approx(RECORD["after"]["recall"], abs=0.25)


def test_the_texts_on_the_page_come_from_this_run(finished, tokenizer) -> None:
    outputs = FOLDER / "outputs"
    rows = [train.encode(row, tokenizer) for row in read(str(DATA))[1]]
    row = min(rows, key=lambda row: len(row["input_ids"]))
    assert (outputs / "labels.txt").read_text("utf-8") == record.label_table(row, tokenizer) + "\n"
    assert "951,424 of 951,424" in (outputs / "parameters.txt").read_text("utf-8")
    assert "differ by at most 0.0" in (outputs / "generate.txt").read_text("utf-8")
    shown = (outputs / "train.txt").read_text("utf-8")
    assert shown.count("\n") == 1 + len(RECORD["eval"])
    for entry in RECORD["eval"]:
        assert f"{entry['loss']:.3f}" in shown


# Labels


def test_the_prompt_is_masked_and_the_end_is_learnt(tokenizer) -> None:
    row = {"instruction": "Répète", "context": "un", "response": "un"}
    encoded = train.encode(row, tokenizer)
    prompt = "<s><|user|>Répète\nun<|assistant|>"
    masked = encoded["labels"].count(-100)
    assert tokenizer.decode(encoded["input_ids"][:masked]) == prompt
    assert encoded["labels"][:masked] == [-100] * masked
    assert encoded["labels"][masked:] == encoded["input_ids"][masked:]
    assert tokenizer.decode(encoded["labels"][masked:]) == "un</s>"
    assert encoded["labels"].count(tokenizer.eos_token_id) == 1


def test_the_prompt_is_the_one_of_generation(tokenizer) -> None:
    row = read(str(DATA))[0][0]
    encoded = train.encode(row, tokenizer)
    waiting = tokenizer.apply_chat_template(
        train.ask(row), add_generation_prompt=True, return_dict=False
    )
    assert encoded["input_ids"][: encoded["labels"].count(-100)] == waiting


def test_a_row_that_is_too_long_is_dropped_whole(tokenizer, capsys) -> None:
    short = {"instruction": "a", "context": "", "response": "b"}
    long = short | {"response": "b " * 200}
    kept = train.encode_all([short, long, short], tokenizer, 64)
    assert len(kept) == 2 and all(r["labels"][-1] == tokenizer.eos_token_id for r in kept)
    assert capsys.readouterr().out == "2 rows, 1 dropped (more than 64 tokens)\n"


def test_an_empty_context_adds_nothing() -> None:
    row = {"instruction": "What is it?", "context": "", "response": ""}
    assert train.ask(row) == [{"role": "user", "content": "What is it?"}]


def stored(folder: Path, **changes: str) -> train.Settings:
    """Store the tiny base with another tokenizer configuration."""
    shutil.copytree(BASE, folder)
    if "chat_template" in changes:
        (folder / "chat_template.jinja").write_text(changes.pop("chat_template"))
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text("utf-8")) | changes
    file.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))
    return replace(train.TINY, model=str(folder))


def test_the_end_is_the_one_of_the_template_not_the_one_of_the_base(tmp_path: Path) -> None:
    """Qwen's base models end a text with another token than their template ends an answer."""
    template = "{% for m in messages %}<|user|>{{ m.content }}<|assistant|>\n{% endfor %}"
    tokenizer, _ = train.load(stored(tmp_path / "model", chat_template=template))
    assert tokenizer.eos_token == "<|assistant|>"


def test_a_model_without_template_or_padding_gets_them(tmp_path: Path) -> None:
    settings = stored(tmp_path / "model", pad_token=None)
    (tmp_path / "model" / "chat_template.jinja").unlink()
    tokenizer, _ = train.load(settings)
    row = {"instruction": "Say one", "context": "", "response": "one"}
    text = tokenizer.decode(train.encode(row, tokenizer)["input_ids"])
    assert text == "<s>### Request\nSay one\n\n### Answer\none</s>"
    assert tokenizer.pad_token == "</s>"


# Killed and resumed


def test_killed_and_resumed_is_as_if_never_killed(short: Path, tmp_path: Path) -> None:
    last = interrupt.kill_after(tmp_path, "checkpoint-40")
    assert 40 <= int(last.split("-")[1]) < 100
    torn = tmp_path / "checkpoint-999"
    torn.mkdir()
    (torn / "model.safetensors").write_bytes(b"cut while being written")
    train.main(tiny(tmp_path, "--epochs", interrupt.EPOCHS, "--resume"))
    assert interrupt.losses(tmp_path) == interrupt.losses(short)
    assert interrupt.same_weights(tmp_path, short)


def test_the_resumed_run_on_the_page(short: Path) -> None:
    text = (FOLDER / "outputs" / "resume.txt").read_text("utf-8")
    assert "losses: the same" in text and "weights: the same" in text
    for step, loss in interrupt.losses(short).items():
        shown = re.search(rf"^ *{step} +([\d.]+) +([\d.]+)$", text, re.MULTILINE)
        assert shown and shown[1] == shown[2]
        assert float(shown[1]) == pytest.approx(loss, abs=0.01 if step < 40 else 0.1)


# The same in plain PyTorch


def test_the_loop_has_trainers_losses(short: Path, tokenizer) -> None:
    settings = replace(train.TINY, epochs=float(interrupt.EPOCHS))
    set_seed(settings.seed)
    tokenizer, model = train.load(settings)
    rows = train.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    losses = list(loop.fit(model, rows, settings, tokenizer.pad_token_id))
    trainer = interrupt.losses(short)
    assert len(losses) == round(settings.epochs * math.ceil(len(rows) / settings.batch_size))
    for step, loss in trainer.items():
        first = max(past for past in (0, *trainer) if past < step)
        mean = sum(losses[first:step]) / (step - first)
        assert mean == pytest.approx(loss, abs=1e-4), step


# Optimisers


def test_bytes_of_the_optimizers_states() -> None:
    measured = {
        row["id"]: row["bytes_per_parameter"] for row in map(optimizers.measure, optimizers.CHOICES)
    }
    shown = json.loads((FOLDER / "optimizers.json").read_text("utf-8"))["optimizers"]
    assert measured == {row["id"]: pytest.approx(row["bytes_per_parameter"]) for row in shown}
    assert measured["adamw"] == pytest.approx(8, abs=1e-3)
    assert measured["adamw-bf16"] == pytest.approx(4, abs=1e-3)
    assert measured["adamw-8bit"] == pytest.approx(2.03, abs=0.01)
    assert measured["sgd-momentum"] == pytest.approx(4, abs=1e-3)
    assert measured["sgd"] == 0
    assert 0 < measured["adafactor"] < 0.01


# Cards


def card(monkeypatch, name: str, memory: float, bf16: bool) -> None:
    properties = SimpleNamespace(name=name, total_memory=int(memory))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)


def test_a_t4_computes_in_fp16_and_says_so(monkeypatch, capsys) -> None:
    card(monkeypatch, "Tesla T4", 15.6 * GB, bf16=False)
    assert guard.find_card(tiny=False).precision == "fp16"
    assert capsys.readouterr().out.startswith("Tesla T4 computes no bfloat16: fp16 autocast")


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_precision_follows_the_card(precision: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("transformers.training_args.is_torch_bf16_gpu_available", lambda: True)
    settings = replace(train.TINY, output=tmp_path)
    args = train.arguments(settings, guard.Card("card", 0, precision))
    assert (args.bf16, args.fp16) == (precision == "bf16", precision == "fp16")
    assert args.activation_checkpointing is (precision != "fp32")
    assert args.use_cpu is (precision == "fp32")


QWEN = Qwen2Config(
    hidden_size=896,
    intermediate_size=4864,
    num_hidden_layers=24,
    num_attention_heads=14,
    num_key_value_heads=2,
    vocab_size=151936,
    tie_word_embeddings=True,
)


def test_the_default_run_fits_a_t4(capsys) -> None:
    t4 = guard.Card("Tesla T4", int(15.6 * GB), "fp16")
    settings = train.Settings()
    guard.check_memory(t4, QWEN, settings.batch_size, settings.max_tokens)
    assert "7.9 GB weights, gradients, states" in capsys.readouterr().out


QWEN3_4B = Shape(2560, 9728, 36, 32, 8, 128, 151936, tied=True, query_norm=True)


@pytest.mark.parametrize(
    ("memory", "shape"),
    [
        ("16 GB", PRESETS["qwen2.5-0.5b"]),
        ("24 GB", PRESETS["tinyllama-1.1b"]),
        ("80 GB", QWEN3_4B),
    ],
)
def test_the_memory_that_the_docstring_gives(memory: str, shape: Shape) -> None:
    settings = train.Settings()
    budget = predict(Run(shape, rows=settings.batch_size, length=settings.max_tokens))
    line = next(line for line in train.__doc__.splitlines() if line.strip().startswith(memory))
    assert line.endswith(f" {budget.total / GB:.1f} GB")


def test_too_little_memory_is_refused_with_a_setting_that_fits() -> None:
    small = guard.Card("small", 11 * GB, "bf16")
    with pytest.raises(SystemExit) as stopped:
        guard.check_memory(small, QWEN, 4, 512)
    rows, tokens = map(
        int, re.search(r"--batch-size (\d+) --max-tokens (\d+)", stopped.value.code).groups()
    )
    assert "small has 11 GB, the run needs" in stopped.value.code
    guard.check_memory(small, QWEN, rows, tokens)


def test_too_large_a_model_is_refused_with_the_size_that_fits() -> None:
    with pytest.raises(SystemExit, match=r"a model of less than 0\.2 billion parameters"):
        guard.check_memory(guard.Card("old", 4 * GB, "fp16"), QWEN, 4, 512)


def test_batch_size_keeps_the_effective_batch() -> None:
    settings = train.choose(train.read_options(["--batch-size", "1"]))
    assert (settings.batch_size, settings.accumulation) == (1, 16)


# Refusals


def test_no_gpu_ends_with_one_line_and_status_1() -> None:
    """In a process of its own: what a terminal shows and a script sees."""
    run = subprocess.run(
        [sys.executable, FOLDER / "train.py"],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert run.stderr.splitlines()[-2].startswith("error: no GPU found")
    assert "--tiny" in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr


def test_offline_model_and_data(tmp_path: Path) -> None:
    text = refusal(*tiny(tmp_path, "--model", "Qwen/Qwen2.5-0.5B"))
    assert "model Qwen/Qwen2.5-0.5B is not on this computer and the Hub cannot be reached" in text
    text = refusal(*tiny(tmp_path, "--data", "databricks/databricks-dolly-15k"))
    assert "data databricks/databricks-dolly-15k is not on this computer" in text


def test_model_not_found(tmp_path: Path) -> None:
    text = refusal(*tiny(tmp_path, "--model", "./no/such/folder"))
    assert "model ./no/such/folder was not found" in text


def test_gated_model(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_args, **_kwargs):
        response = SimpleNamespace(headers={}, request=None)
        raise OSError("cannot load") from GatedRepoError("403", response=response)

    monkeypatch.setattr(train.AutoConfig, "from_pretrained", refuse)
    text = refusal(*tiny(tmp_path, "--model", "meta-llama/Llama-3.1-8B"))
    assert "model meta-llama/Llama-3.1-8B is gated" in text and "hf auth login" in text


def test_a_row_without_a_column_is_named_by_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    good = {"instruction": "a", "context": "", "response": "b"}
    file.write_text(f"{json.dumps(good)}\n{json.dumps({'instruction': 'a', 'context': ''})}\n")
    text = refusal(*tiny(tmp_path, "--data", str(file)))
    assert f"{file}:2: no text in column 'response'" in text
    file.write_text(f"{json.dumps(good)}\n{{broken\n")
    assert f"{file}:2: not JSON" in refusal(*tiny(tmp_path, "--data", str(file)))
    assert "was not found" in refusal(*tiny(tmp_path, "--data", str(tmp_path / "none.jsonl")))


def test_a_data_set_without_a_column(tmp_path: Path, monkeypatch) -> None:
    rows = SimpleNamespace(column_names=["text"])
    monkeypatch.setattr("common.rows.load_dataset", lambda *_a, **_k: rows)
    text = refusal(*tiny(tmp_path, "--data", "some/text"))
    assert "data some/text lacks the columns context, instruction, response" in text


def test_held_out_rows_are_chosen_by_their_request(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    rows = [{"instruction": f"q{n % 100}", "context": "", "response": str(n)} for n in range(400)]
    file.write_text("\n".join(map(json.dumps, rows)))
    train_rows, validation_rows = read(str(file))
    asked, held_out = (
        {row["instruction"] for row in part} for part in (train_rows, validation_rows)
    )
    assert len(train_rows) + len(validation_rows) == 400
    assert held_out and not asked & held_out


def test_all_rows_too_long(tmp_path: Path) -> None:
    assert "no row is left" in refusal(*tiny(tmp_path, "--max-tokens", "8"))


def test_labels_that_teach_nothing_or_no_end() -> None:
    good = {"labels": [-100, 5, 2]}
    guard.check_labels([good], eos=2)
    for labels, message in (([-100, -100], "row 2: every label is masked"), ([-100, 5], "not EOS")):
        with pytest.raises(SystemExit, match=message):
            guard.check_labels([good, {"labels": labels}], eos=2)


def test_a_full_disk_is_seen_before_training(tmp_path: Path, monkeypatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(guard.shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 10**6, 10**6))
    text = refusal(*tiny(tmp_path))
    assert "has 0.001 GB free, checkpoints and model need 0.0381 GB" in text
    assert not list(tmp_path.glob("checkpoint-*"))


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    text = refusal(*tiny(tmp_path, "--learning-rate", "1e20", "--epochs", "1"))
    assert re.search(
        r"error: step \d+: loss nan, grad_norm nan\n  mend: lower --learning-rate", text
    )


def test_a_full_card_is_explained() -> None:
    full = pytest.raises(SystemExit, match="the card's memory is full\n  mend: halve --batch-size")
    with full, guard.explain_memory():
        raise torch.OutOfMemoryError("CUDA out of memory")


def test_two_runs_are_not_mixed(tmp_path: Path) -> None:
    assert "nothing to resume" in refusal(*tiny(tmp_path, "--resume"))
    checkpoint = tmp_path / "checkpoint-16"
    checkpoint.mkdir()
    (checkpoint / "trainer_state.json").write_text("{}")
    assert "holds an unfinished run (checkpoint-16)" in refusal(*tiny(tmp_path))


# What the pages rely on


@pytest.mark.parametrize("program", ["train", "loop"])
def test_the_markers_of_each_region_count_from_one(program: str) -> None:
    text = (FOLDER / f"{program}.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", text, re.DOTALL)
    expected = ["settings", "load", "encode", "arguments", "launch", "generate"]
    assert [name for name, _ in regions] == (expected if program == "train" else ["loop"])
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and 3 <= len(markers) <= 8, name
