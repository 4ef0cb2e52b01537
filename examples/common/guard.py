"""Checks before and during a run: each stops with one line on what is wrong, one on its cure."""

import argparse
import errno
import json
import math
import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import torch
import transformers
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
from safetensors import SafetensorError
from transformers import PretrainedConfig, TrainerCallback

from memory import Run, Shape, predict, read_config

LEAST = {"batch_size": 1, "max_tokens": 1, "seed": 0}  # of whole numbers
POSITIVE = ("epochs", "learning_rate", "beta")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def stop(message: str, mend: str) -> NoReturn:
    """End the program with exit status 1, the message and its cure on standard error."""
    raise SystemExit(f"error: {message}\n  mend: {mend}")


def check_options(options: argparse.Namespace) -> argparse.Namespace:
    """Refuse the numbers of a command line that no training can use."""
    for name, value in vars(options).items():
        option = f"--{name.replace('_', '-')} is {value}"
        if value is not None and name in LEAST and not LEAST[name] <= value < 2**32:
            stop(option, f"choose a whole number from {LEAST[name]}")
        if value is not None and name in POSITIVE and not 0 < value < math.inf:
            stop(option, "choose a number above 0")
    return options


def check_record(options: argparse.Namespace) -> argparse.Namespace:
    """Refuse to record another run than the tiny one, which the course shows."""
    if options.record and not options.tiny:
        stop("the record of the course is that of --tiny", "add --tiny, or leave --record")
    return options


def hush() -> None:
    """Silence what libraries say about things that are as they should be.

    transformers reports a tied output layer as missing at each load, and shows a progress bar for
    every small load and save; peft asks it for activation checkpointing by the old name.
    """
    warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


@dataclass(frozen=True)
class Card:
    """What a run computes on: its name, bytes of memory, and the arithmetic to use there."""

    name: str
    memory: int
    precision: str  # "fp32", or the 16-bit type of autocast: "bf16", "fp16"

    @property
    def device(self) -> str:
        """Where tensors go."""
        return "cpu" if self.precision == "fp32" else "cuda"


def find_card(tiny: bool) -> Card:
    """Choose the processor for a tiny run and the first GPU for any other."""
    if tiny:
        return Card("CPU", 0, "fp32")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")  # with two, Trainer splits each batch
    if not torch.cuda.is_available():
        stop("no GPU found", "add --tiny to train the tiny model on the processor, or use a GPU")
    found = torch.cuda.get_device_properties(0)
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return Card(found.name, found.total_memory, "bf16")
    print(f"{found.name} computes no bfloat16: fp16 autocast and loss scaling instead")
    return Card(found.name, found.total_memory, "fp16")


@contextmanager
def explain(kind: str, name: str) -> Iterator[None]:
    """Turn the failures of loading a model or a data set into one line and its cure."""
    try:
        yield
    except (OSError, ValueError) as error:
        causes = list(_chain(error))
        if any(isinstance(e, GatedRepoError) or "gated" in str(e) for e in causes):
            stop(f"{kind} {name} is gated", "accept its licence on the Hub, then: hf auth login")
        if any(isinstance(e, ConnectionError | LocalEntryNotFoundError) for e in causes):
            stop(
                f"{kind} {name} is not on this computer and the Hub cannot be reached",
                f"connect, unset HF_HUB_OFFLINE, or name a local folder with --{kind}",
            )
        stop(f"{kind} {name} was not found", f"check the spelling and your access: --{kind}")


@contextmanager
def explain_memory(output: str | Path | None = None) -> Iterator[None]:
    """Turn a full card or disk into one line and its cure, and Ctrl+C into what is kept."""
    try:
        yield
    except torch.OutOfMemoryError:
        stop(
            "the card's memory is full",
            "halve --batch-size (accumulation makes up for it), or end what else uses the card",
        )
    except (OSError, RuntimeError, SafetensorError) as error:
        if not _disk_is_full(error):
            raise
        stop(f"the disk is full; {_kept(output)}", "free some space, then give that command")
    except KeyboardInterrupt:
        print(f"\nstopped: {_kept(output)}", file=sys.stderr)
        raise SystemExit(130) from None


def _disk_is_full(error: Exception) -> bool:
    """Say whether a file could not be written whole; torch and safetensors only say it in words."""
    if isinstance(error, OSError):
        return error.errno in FULL
    words = [f"(os error {code})" for code in FULL] + ["PytorchStreamWriter failed writing"]
    return any(word in str(error) for word in words)


def _kept(output: str | Path | None) -> str:
    """Say from where a stopped run can go on."""
    if output is None:
        return "the last complete checkpoint, if there is one, is kept; --resume goes on from it"
    last = last_complete(Path(output))
    if last is None:
        return f"there is no checkpoint yet in {output}; the same command starts again"
    return f"{last.name} is kept in {output}; the same command with --resume goes on from it"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def find_shape(config: dict) -> Shape | None:
    """Read the shape that predictions need; say so where a model's family has no formula."""
    try:
        return read_config(config)
    except ValueError as error:
        print(f"memory not predicted: {error}")
        return None


def check_fits(card: Card, needed: int, mend: str) -> None:
    """Refuse a run that needs more bytes than a GPU has."""
    if card.device == "cuda" and needed > card.memory:
        message = f"{card.name} has {card.memory / 1e9:.1f} GB, the run needs {needed / 1e9:.1f} GB"
        stop(message, mend)


def check_memory(card: Card, config: PretrainedConfig, rows: int, tokens: int) -> None:
    """Predict the peak before any weight is loaded; if it is too high, name what would fit."""
    shape = find_shape(config.to_dict())
    if not shape:
        return
    if card.device == "cpu":
        run = Run(shape, precision="fp32", rows=rows, length=tokens, recompute=False, context=0)
    else:
        run = Run(shape, rows=rows, length=tokens)
    budget = predict(run)
    print(
        f"memory predicted: {_gb(budget.total)} = {_gb(budget.static)} weights, gradients, states"
        f" + {_gb(budget.copies)} 16-bit copies + {_gb(budget.activations)} activations"
        f" + {_gb(budget.logits)} logits + {_gb(budget.context)} CUDA"
    )
    if card.device == "cuda" and budget.total > card.memory:
        message = f"{card.name} has {_gb(card.memory)}, the run needs {_gb(budget.total)}"
        stop(message, _fitting(run, card.memory))


def _fitting(run: Run, memory: int) -> str:
    while run.rows > 1 or run.length > 64:
        if run.rows > 1:
            run = replace(run, rows=run.rows // 2)
        else:
            run = replace(run, length=run.length // 2)
        if predict(run).total <= memory:
            return f"this fits: --batch-size {run.rows} --max-tokens {run.length}"
    most = (memory - run.context) / 18e9
    return f"choose a model of less than {most:.1f} billion parameters with --model"


def _gb(size: float) -> str:
    return f"{size / 1e9:.3g} GB"


def check_disk(folder: Path, parameters: int) -> None:
    """Check room for three checkpoints (best, last, the one being written) and the model.

    A checkpoint holds fp32 weights and two moments: 12 B/parameter; the model 4.
    """
    folder.mkdir(parents=True, exist_ok=True)
    needed, free = (3 * 12 + 4) * parameters, shutil.disk_usage(folder).free
    if free < needed:
        stop(
            f"{folder} has {_gb(free)} free, checkpoints and model need {_gb(needed)}",
            "free some space, or name a folder on a larger disk with --output",
        )


def check_output(folder: Path) -> None:
    """Make sure that a folder is one, or can be made, and can be written to."""
    place = folder.absolute()
    while not place.exists() and not place.is_symlink():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        what = "cannot be written to" if place.is_dir() else "is not a folder"
        stop(f"{place} {what}", "name another folder with --output")


def last_checkpoint(folder: Path, resume: bool) -> str | None:
    """Find where to resume; refuse to mix two runs in a folder, or to resume what never started."""
    check_output(folder)
    last = last_complete(folder)
    if last and not resume:
        stop(
            f"{folder} holds an unfinished run ({last.name})",
            "add --resume to go on with it, or name another folder with --output",
        )
    if resume and not last:
        stop(f"nothing to resume in {folder}", "start without --resume, or name another --output")
    return str(last) if last else None


def last_complete(folder: Path) -> Path | None:
    """Find the last complete checkpoint.

    Trainer writes `trainer_state.json` last: a checkpoint without it, or with a part of it, was cut
    while being written.
    """
    found = [p.parent for p in folder.glob("checkpoint-*/trainer_state.json") if _is_json(p)]
    return max(found, key=lambda path: int(path.name.split("-")[1]), default=None)


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text("utf-8"))
    except ValueError:
        return False
    return True


def read_jsonl(path: Path, columns: Sequence[str]) -> list[dict]:
    """Read one JSON object a line; each must have the columns, as text."""
    if not path.is_file():
        stop(f"{path} was not found", "give --data a file, a folder, or a name on the Hub")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        stop(f"{path}: not UTF-8 (byte {error.start})", "save the file again, as UTF-8")
    rows = []
    for number, line in enumerate(text.split("\n"), 1):  # splitlines cuts at U+2028 too
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            stop(f"{path}:{number}: not JSON ({error.msg})", "write one JSON object a line")
        for column in columns:
            if not isinstance(row, dict) or not isinstance(row.get(column), str):
                stop(
                    f"{path}:{number}: no text in column '{column}'",
                    f"give every row text in each of: {', '.join(columns)}",
                )
        rows.append(row)
    return rows


def check_columns(name: str, columns: Sequence[str], needed: Sequence[str]) -> None:
    """Make sure that a data set of the Hub has the columns."""
    missing = ", ".join(sorted(set(needed) - set(columns)))
    if missing:
        stop(f"data {name} lacks the columns {missing}", f"it has: {', '.join(columns)}")


def check_labels(rows: Sequence[dict], eos: int) -> None:
    """Make sure that there is something to learn, and that the end of an answer is part of it."""
    if not rows:
        stop("no row is left", "raise --max-tokens, or look at the data (--data)")
    for number, row in enumerate(rows, 1):
        if all(label == -100 for label in row["labels"]):
            stop(f"row {number}: every label is masked (-100)", "mask the prompt, not the answer")
        if row["labels"][-1] != eos:
            stop(
                f"row {number}: the last label is not EOS",
                "end every answer with the EOS token, or generation will not stop",
            )


class StopOnNan(TrainerCallback):
    """Ends a run whose loss is no longer a number, instead of letting it go on for hours."""

    def on_log(self, args, state, control, logs: dict, **kwargs) -> None:
        """Look at each logged loss."""
        if not math.isfinite(logs.get("loss", 0.0)):
            stop(
                f"step {state.global_step}: loss {logs['loss']}, grad_norm {logs.get('grad_norm')}",
                "lower --learning-rate; if that changes nothing, look for the row that does it",
            )
