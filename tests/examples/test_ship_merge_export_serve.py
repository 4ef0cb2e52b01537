"""The programs of chapter ship/merge-export-serve, by what they really do on the tiny model."""

import json
import re
import urllib.error
from types import SimpleNamespace

import pytest

from common import guard
from common.programs import EXAMPLES, load
from common.rows import read
from full.traditional import train as full
from memory import PRESETS
from tiny import BASE, DATA

merging = load("ship/merge-export-serve/merge.py")
exporting = load("ship/merge-export-serve/export.py")
serving = load("ship/merge-export-serve/serve.py")
asking = load("ship/merge-export-serve/ask.py")
FOLDER = EXAMPLES / "ship/merge-export-serve"


def recorded(name: str) -> dict:
    return json.loads((FOLDER / name).read_text("utf-8"))


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> SimpleNamespace:
    """Two short adapters, and the first one merged and saved."""
    guard.hush()
    output, model = tmp_path_factory.mktemp("ship"), str(BASE)
    tokenizer, _ = full.load(merging.lora.TINY)
    parts = read(merging.lora.TINY.data)
    rows = [full.encode_all(part, tokenizer, 128) for part in parts]
    adapters, trained = merging.make_adapters(output, model, rows, epochs=1)
    merged = merging.merge(model, "fp32", adapters["lora"])
    merging.save(merged, tokenizer, output / "merged")
    return SimpleNamespace(**locals())


@pytest.fixture(scope="module")
def merges(run) -> dict[str, dict]:
    """How far each merge is from the adapter beside its base."""
    found = merging.compare_merges(run.model, run.adapters, run.rows[1][:16])
    return {f"{row['adapter']} {row['merged_into']}": row for row in found}


# Merging


def test_both_adapters_learn(run) -> None:
    for facts in run.trained.values():
        assert facts["loss_after"] < facts["loss_before"] / 4
        assert facts["peak_memory_bytes"] > 4 * 951_424


@pytest.mark.parametrize("where", ["now", "recorded"])
def test_a_merge_keeps_the_logits_except_into_4_bits(merges, where) -> None:
    if where == "recorded":
        rows = recorded("record.json")["merges"]
        merges = {f"{row['adapter']} {row['merged_into']}": row for row in rows}
    largest = {name: row["largest"] for name, row in merges.items()}
    assert largest["lora fp32"] < merging.SAME["fp32"]
    assert largest["qlora dequantized 4-bit"] < merging.SAME["fp32"]
    assert merging.SAME["fp32"] < largest["lora fp32, saved in bf16"] < merging.SAME["bf16"]
    assert largest["lora bf16"] < merging.SAME["bf16"]
    assert largest["qlora 4-bit"] > merging.SAME["bf16"], "rounded to 16 levels once more"
    assert largest["qlora fp32, not quantized"] > merging.SAME["bf16"], "another base"


def test_what_is_saved_is_what_was_merged_with_template_and_end(run) -> None:
    found = merging.check(run.merged, run.tokenizer, run.output / "merged", run.rows[1][:8])
    assert found["type"] == "bfloat16" and found["largest"] == 0.0
    assert found["template"] and found["ends"] == [run.tokenizer.eos_token_id]
    assert 2 * 951_424 < found["files"]["model.safetensors"] < 2 * 951_424 + 20_000
    names = {"chat_template.jinja", "generation_config.json", "tokenizer.json", "config.json"}
    assert names <= set(found["files"])


def test_adapters_are_kept_unless_a_record_needs_their_training(run, monkeypatch, capsys) -> None:
    made = []
    monkeypatch.setattr(merging, "load_base", lambda *_: None)
    monkeypatch.setattr(merging, "train_adapter", lambda *args: made.append(args[2].name) or {})
    assert merging.make_adapters(run.output, run.model, [], 1)[1] == {} and not made
    assert capsys.readouterr().out.count("was trained before") == 2
    merging.make_adapters(run.output, run.model, [], 1, anew=True)
    assert made == ["lora", "qlora"]


def refusal(*argv: str) -> str:
    """Give the message of a merge that must be refused: one line, and its cure."""
    with pytest.raises(SystemExit) as stopped:
        merging.main(argv)
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


def test_no_adapter_is_refused() -> None:
    assert "no adapter" in refusal("--adapter", "/nowhere")


def test_what_cannot_be_merged_is_refused(tmp_path, monkeypatch) -> None:
    (tmp_path / "adapter_config.json").write_text("{}", "utf-8")
    wanted = ("--model", str(BASE), "--adapter", str(tmp_path), "--output")
    assert "does not fit" in refusal(*wanted, str(tmp_path / "output"))
    assert "is not a folder" in refusal(*wanted, str(tmp_path / "adapter_config.json"))
    little = SimpleNamespace(available=3_000_000)  # fp32: 951,424 parameters take 3.8 MB
    monkeypatch.setattr(merging.psutil, "virtual_memory", lambda: little)
    assert "merge on a computer with more" in refusal(*wanted, str(tmp_path / "output"))


# Exporting


@pytest.mark.parametrize("kind", exporting.KINDS)
def test_a_gguf_file_says_what_the_model_says(run, tmp_path, kind) -> None:
    model = merging.AutoModelForCausalLM.from_pretrained(
        run.output / "merged", dtype=merging.torch.float32
    )
    found = exporting.compare(model, run.tokenizer, tmp_path, kind, run.rows[1][:16])
    old = {row["kind"]: row for row in recorded("export.json")["files"]}[kind]
    for row in (found, old):
        assert row["tokens"] and row["template"]
        if exporting.KINDS[kind] is None:
            assert row["largest"] > exporting.KINDS["Q8_0"]
        else:
            assert row["largest"] <= exporting.KINDS[kind]
    assert found["bytes"] == pytest.approx(old["bytes"], rel=0.001)


# Serving


def test_a_request_over_http_is_streamed_and_stops(run) -> None:
    log = run.output / "serve.log"
    with serving.serving(str(run.output / "merged"), log) as url:
        found = serving.converse(url, str(run.output / "merged"), read(str(DATA))[1][:1])[0]
        cut = list(asking.ask(url, str(run.output / "merged"), "?", most=1))
    assert found["ended"] == "stop", log.read_text("utf-8")
    assert found["pieces"] > 5 and found["text"].startswith("{") and "</s>" not in found["text"]
    assert {"ended": "length"} in cut
    with pytest.raises(urllib.error.URLError):
        list(asking.ask(url, "none", "?"))


def test_the_recorded_answers_stopped() -> None:
    for answer in recorded("serve.json")["answers"]:
        assert answer["ended"] == "stop" and json.loads(answer["text"])
    assert text("serve.txt") == serving.answer_table(recorded("serve.json")["answers"]) + "\n"


def test_the_cache_of_llama_3_1_8b() -> None:
    """2 x 32 layers x 8 heads x 128 features x 2 bytes."""
    assert serving.kv_bytes(PRESETS["llama-3.1-8b"], 1) == 131_072
    assert text("cache.txt") == serving.cache_table() + "\n"
