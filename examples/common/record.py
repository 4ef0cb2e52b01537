"""What a run shows, and leaves behind for the course's pages: `outputs/*.txt` and `record.json`."""

import json
import math
import platform
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from common.peak import step_peak
from memory import Run, count_parameters, predict, read_config

PACKAGES = ("torch", "transformers", "accelerate", "tokenizers", "safetensors", "numpy")


def show(text: str, folder: Path | None = None, name: str = "") -> None:
    """Print a text; when a folder to record in is given, keep it in `outputs/NAME` there too."""
    print(text, flush=True)
    if folder:
        (folder / "outputs").mkdir(exist_ok=True)
        (folder / "outputs" / name).write_text(text.rstrip() + "\n", encoding="utf-8")


def write(folder: Path, facts: dict, name: str = "record.json") -> None:
    """Write what was measured, after the versions that it was measured with."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    lines = []
    for key, value in ({"versions": versions} | facts).items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(json.dumps(v, ensure_ascii=False) for v in value) + "\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    (folder / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def peak_memory() -> int:
    """Bytes: the GPU allocator's peak where a GPU was used, else the peak of the process in RAM."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return torch.cuda.max_memory_allocated()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@torch.no_grad()
def held_out_loss(model: PreTrainedModel, rows: Sequence[dict], collate: Callable) -> float:
    """Mean loss of the learnt tokens of rows, in nats."""
    training, losses, tokens = model.training, 0.0, 0
    model.eval()
    for first in range(0, len(rows), 32):
        batch = collate(list(rows[first : first + 32]))
        batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
        learnt = int((batch["labels"] != -100).sum())
        losses += model(**batch).loss.item() * learnt
        tokens += learnt
    model.train(training)
    return losses / tokens


def memory(
    model: PreTrainedModel, rows: Sequence[dict], collate: Callable, batch_size: int, rank: int = 0
) -> dict[str, int]:
    """Measure the peak of a step over the longest rows, in fp32, and predict it.

    The model is changed: give one of its own. `rank` is that of its adapter. examples/memory counts
    a frozen base in 16 bits, as on a GPU; in fp32 it has 2 B/parameter more.
    """
    longest = sorted(rows, key=lambda row: len(row["input_ids"]))[-batch_size:]
    batch = {name: tensor.to(model.device) for name, tensor in collate(longest).items()}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5)

    def step() -> None:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    model.train()
    step()
    peak, shape = step_peak(model, step), read_config(model.config.to_dict())
    sizes = {"rows": batch_size, "length": batch["input_ids"].shape[1], "rank": rank or 16}
    method = {"method": "lora" if rank else "full", "precision": "fp32", "recompute": False}
    predicted = predict(Run(shape, context=0, accumulate=False, **sizes, **method)).total
    predicted += 2 * count_parameters(shape).total if rank else 0
    return {"peak_memory_bytes": peak, "predicted_memory_bytes": predicted}


def history(log: Sequence[dict]) -> dict[str, list[dict]]:
    """Split Trainer's log into training (loss since the last entry, rate, norm) and validation."""
    wanted = ("step", "loss", "learning_rate", "grad_norm")
    return {
        "history": [{key: entry[key] for key in wanted} for entry in log if "loss" in entry],
        "eval": [{"step": e["step"], "loss": e["eval_loss"]} for e in log if "eval_loss" in e],
    }


def settings(chosen: object) -> dict[str, dict]:
    """Describe a run's dataclass of settings, without the folders of this computer."""
    kept = {key: value for key, value in asdict(chosen).items() if key != "output"}
    names = {"model": Path(kept["model"]).name, "data": Path(kept["data"]).name}
    return {"settings": kept | names}


def sizes(model: PreTrainedModel, rows: Sequence[Sequence[dict]], log: Sequence[dict]) -> dict:
    """Gather how much was trained: parameters, rows, tokens an epoch, steps, seconds, memory."""
    return {
        "parameters": model.num_parameters(),
        "rows": {"train": len(rows[0]), "validation": len(rows[1])},
        "tokens": sum(len(row["input_ids"]) for row in rows[0]),
        "steps": log[-1]["step"],
        "seconds": log[-1]["train_runtime"],
        "peak_memory_bytes": peak_memory(),
    }


def parameter_line(model: PreTrainedModel) -> str:
    """Say how many of the parameters are trained."""
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    total = model.num_parameters()
    return f"trained: {trained:,} of {total:,} parameters ({trained / total:.0%}), {model.dtype}"


def measure_table(measures: dict[str, dict[str, float]]) -> str:
    """Show what was measured before and after."""
    lines = ["         validation requests answered exactly   capitals known"]
    for moment, values in measures.items():
        lines.append(f"{moment:6} {values['exact']:39.1%} {values['recall']:16.1%}")
    return "\n".join(lines)


def label_table(row: dict, tokenizer: PreTrainedTokenizerBase) -> str:
    """Show a row token by token, and what each teaches; the middle of the prompt is left out."""
    lines = [
        f"{token:5} {label:7}  {tokenizer.decode([token])!r}"
        for token, label in zip(row["input_ids"], row["labels"], strict=True)
    ]
    masked = row["labels"].count(-100)
    hidden = max(0, masked - 6)
    left_out = [f"  ...    -100  ({hidden} more)"] if hidden else []
    return "\n".join(["   id   label  token", *lines[:3], *left_out, *lines[3 + hidden :]])


def loss_table(log: Sequence[dict]) -> str:
    """Show training loss, validation loss and learning rate at each evaluation; `*` is the best.

    The training loss is the mean of the last few steps, as Trainer logs it.
    """
    runs = history(log)
    best = min(entry["loss"] for entry in runs["eval"])
    lines = ["step   learning rate   training loss   validation loss"]
    for entry in runs["eval"]:
        trained = [e for e in runs["history"] if e["step"] <= entry["step"]] or [{}]
        rate, loss = (trained[-1].get(key, math.nan) for key in ("learning_rate", "loss"))
        star = " *" if entry["loss"] == best else ""
        lines.append(f"{entry['step']:4} {rate:15.1e} {loss:15.3f} {entry['loss']:17.3f}{star}")
    return "\n".join(lines)
