"""The tiny base model, its data, and what it can be measured by: any computer, no network.

from tiny import BASE, DATA, exact, recall
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

FOLDER = Path(__file__).resolve().parent
BASE = FOLDER / "base"
DATA = FOLDER / "data"


def facts() -> list[dict[str, str]]:
    """Read the capitals that the base was pretrained on: language, prompt, question, answer."""
    lines = (DATA / "facts.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def exact(rows: Sequence[dict], model: PreTrainedModel) -> float:
    """Share of encoded rows whose learnt tokens are all the model's first choice, from 0 to 1.

    Greedy generation writes the right answer, and stops after it, in exactly these rows. But one
    forward pass a batch is enough to know it.
    """
    right = 0
    for batch in batches(rows, 32):
        width = max(len(row["input_ids"]) for row in batch)
        ids = torch.tensor([pad(row["input_ids"], width, 0) for row in batch], device=model.device)
        labels = torch.tensor(
            [pad(row["labels"], width, -100) for row in batch], device=model.device
        )
        choices = first_choices(model, ids)
        wanted = labels[:, 1:]
        right += int(((choices[:, :-1] == wanted) | (wanted == -100)).all(dim=1).sum())
    return right / len(rows)


def recall(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> float:
    """Share of the capitals that the model still completes without an error, from 0 to 1."""
    rows = []
    for fact in facts():
        prompt = tokenizer(f"<s>{fact['prompt']}", add_special_tokens=False).input_ids
        answer = tokenizer(f" {fact['answer']}.", add_special_tokens=False).input_ids
        rows.append({"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer})
    return exact(rows, model)


@torch.no_grad()
def first_choices(model: PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """Give the most likely next token at each place; padding on the right changes nothing there."""
    training, _ = model.training, model.eval()
    choices = model(ids).logits.argmax(-1)
    model.train(training)
    return choices


def pad(values: list[int], width: int, filler: int) -> list[int]:
    """Lengthen a list on the right."""
    return values + [filler] * (width - len(values))


def batches(rows: Sequence[dict], size: int) -> Iterator[Sequence[dict]]:
    """Cut rows into groups."""
    for first in range(0, len(rows), size):
        yield rows[first : first + size]
