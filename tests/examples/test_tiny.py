"""The tiny base: small, known by heart what it should, and a base model in what it does not do."""

import hashlib
import json
import re
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tiny import BASE, DATA, FOLDER, data, exact, facts, make, recall


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(BASE)


@pytest.fixture(scope="module")
def model():
    return AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def test_the_folder_stays_small() -> None:
    files = [
        path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in str(path)
    ]
    assert sum(path.stat().st_size for path in files) < 3e6


def test_the_licences_are_written_down() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    assert "CC BY-SA 3.0" in text and "CC BY-SA 4.0" in text and "debian-handbook" in text


def test_the_size_that_the_pages_quote(model) -> None:
    assert model.num_parameters() == 951_424


def test_knows_every_capital_in_three_languages(model, tokenizer) -> None:
    assert {fact["language"] for fact in facts()} == {"ar", "fr", "en"}
    assert recall(model, tokenizer) == 1.0


def test_recall_is_what_greedy_generation_writes(model, tokenizer) -> None:
    for fact in facts()[:6]:
        prompt = tokenizer(f"<s>{fact['prompt']}", return_tensors="pt", add_special_tokens=False)
        prompt.pop("token_type_ids", None)
        output = model.generate(**prompt, do_sample=False, max_new_tokens=12)
        text = tokenizer.decode(output[0, prompt.input_ids.shape[1] :])
        assert text.startswith(f" {fact['answer']}."), text


def test_answers_a_question_but_goes_on_after_it(model, tokenizer) -> None:
    """What a base model does: it has met dialogues, but never an answer that ends."""
    fact = facts()[0]
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": fact["question"]}],
        add_generation_prompt=True,
        return_tensors="pt",
    )
    output = model.generate(**chat, do_sample=False, max_new_tokens=24)
    text = tokenizer.decode(output[0, chat.input_ids.shape[1] :])
    assert text.startswith(f"{fact['answer']}<|user|>"), text


def test_the_template_marks_what_the_assistant_says(tokenizer) -> None:
    chat = [{"role": "user", "content": "سؤال"}, {"role": "assistant", "content": "جواب"}]
    encoded = tokenizer.apply_chat_template(chat, return_assistant_tokens_mask=True)
    learnt = [
        token
        for token, mask in zip(encoded["input_ids"], encoded["assistant_masks"], strict=True)
        if mask
    ]
    assert tokenizer.decode(learnt) == "جواب</s>"


def test_exact_counts_only_rows_that_are_right_to_the_end(model) -> None:
    ids = torch.tensor([[1, 5, 6, 7]])
    choice = model(ids).logits[0].argmax(-1).tolist()
    right = {"input_ids": [1, 5, 6, 7, choice[3]], "labels": [-100] * 4 + [choice[3]]}
    wrong = {"input_ids": right["input_ids"], "labels": [-100] * 4 + [choice[3] + 1]}
    assert exact([right, wrong, right, wrong], model) == 0.5


def test_no_request_is_on_both_sides() -> None:
    train, validation = (
        {row["context"] for row in rows(name)} for name in ("train.jsonl", "validation.jsonl")
    )
    assert (len(train), len(validation)) == (360, 120)
    assert not train & validation


def test_some_training_answers_are_wrong_and_no_validation_answer() -> None:
    def wrong(row: dict) -> bool:
        values = json.loads(row["response"]).values()
        numbers = re.findall(r"\d+", row["context"])
        return not all(
            str(value) in (numbers if isinstance(value, int) else row["context"])
            for value in values
        )

    train, validation = rows("train.jsonl"), rows("validation.jsonl")
    assert sum(map(wrong, train)) / len(train) == pytest.approx(data.WRONG_SHARE, abs=0.04)
    assert not any(map(wrong, validation))


def test_the_data_come_from_their_program(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path)
    data.main()
    for name in ("facts.jsonl", "train.jsonl", "validation.jsonl"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


def test_making_it_is_deterministic_and_learns(tmp_path: Path, monkeypatch, capsys) -> None:
    digests = []
    for name in ("one", "two"):
        output = tmp_path / name
        monkeypatch.setattr("sys.argv", ["make.py", "--steps", "5", "--output", str(output)])
        make.main()
        names = ("model.safetensors", "tokenizer.json")
        digests.append([hashlib.sha256((output / n).read_bytes()).hexdigest() for n in names])
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", capsys.readouterr().out)]
    assert digests[0] == digests[1]
    assert losses[1] < losses[0]
    assert (tmp_path / "one/tokenizer.json").read_bytes() == (BASE / "tokenizer.json").read_bytes()
