"""Is this machine ready for the course? Versions, device, memory, and one real training step.

Chapter start/choose of the course.

    python examples/start/choose/smoke.py --tiny          any computer, as if it had no GPU
    python examples/start/choose/smoke.py                 the first GPU, if there is one: a free T4
    python examples/start/choose/smoke.py --memory 24     what would fit a card of 24 GB, or 80

It needs no network, 1 GB of memory and some seconds. It ends with `ready: yes` and status 0, or
with `ready: no`, the cure of each thing that is wrong, and status 1.
"""

from __future__ import annotations  # an old Python must get as far as the check of its version

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from memory import PRESETS, Run, count_parameters, predict

# torch, transformers and what uses them are imported by the functions below: they may be missing.

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE.parents[1] / "requirements.txt"
PYTHON = (3, 11)
T4 = 15.6  # GB, 10**9 bytes: the 14.56 GiB that PyTorch reports on a free T4
METHODS = ("full", "lora", "qlora")
ROWS, LEARNING_RATE = 8, 1e-3


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with this machine, and its cure."""

    message: str
    mend: str


# --8<-- [start:versions]
def read_pins(file: Path) -> dict[str, str]:
    """Read the packages that the course pins, and the version of each."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", file.read_text("utf-8"), re.MULTILINE))


def find_versions(names: list[str]) -> dict[str, str]:
    """Ask what is installed, without importing it; nothing is what a missing package has."""
    found = {}
    for name in names:
        try:
            found[name] = version(name).split("+")[0]  # (1)!
        except PackageNotFoundError:
            found[name] = ""
    return found


def check_versions(pins: dict[str, str], found: dict[str, str]) -> list[Problem]:
    """Name each package that is not the pinned one, and the command that mends it."""
    problems = []
    if sys.version_info[:2] < PYTHON:
        needed = ".".join(map(str, PYTHON))
        problems.append(Problem("this Python is too old", f"install Python {needed} or later"))
    for name, pin in pins.items():
        if found[name] != pin:  # (2)!
            state = f"is {found[name]}, not {pin}" if found[name] else "is missing"
            problems.append(
                Problem(f"{name} {state}", f"python -m pip install {name}=={pin}")
            )  # (3)!
    return problems
    # --8<-- [end:versions]


# --8<-- [start:arithmetic]
def measure_arithmetic(device: str) -> list[dict]:
    """Show what each type of number holds, and how fast matrices of it are multiplied here."""
    import torch

    rows = []
    for kind in (torch.float32, torch.bfloat16, torch.float16):
        limits, matrix = torch.finfo(kind), torch.ones(512, 512, dtype=kind, device=device)
        seconds = time_of(lambda matrix=matrix: (matrix @ matrix)[0, 0].item())  # (1)!
        rows.append(
            {
                "type": str(kind).removeprefix("torch."),
                "bytes": limits.bits // 8,
                "largest": limits.max,  # (2)!
                "step_at_1": limits.eps,  # (3)!
                "gflops": 2 * 512**3 / seconds / 1e9,  # (4)!
            }
        )
    return rows
    # --8<-- [end:arithmetic]


def time_of(action: Callable[[], object]) -> float:
    """Give the least seconds that an action takes: of at most five times, within half a second."""
    action()
    end, least = time.perf_counter() + 0.5, float("inf")
    for _ in range(5):
        start = time.perf_counter()
        action()
        least = min(least, time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    return least


# --8<-- [start:fits]
def list_needs(length: int) -> list[dict]:
    """Predict the peak of one row of `length` tokens, in bytes, for each model and method."""
    rows = []
    for name, shape in PRESETS.items():
        row = {"model": name, "parameters": count_parameters(shape).total}
        for method in METHODS:
            row[method] = predict(Run(shape, method=method, length=length)).total  # (1)!
        rows.append(row)
    return sorted(rows, key=lambda row: row["parameters"])


def write_needs(needs: list[dict], memory: float) -> str:
    """Write the table: GB of each method, in brackets where the card's memory is not enough."""
    lines = ["model             parameters     full     LoRA    QLoRA"]
    for row in needs:
        line = f"{row['model']:15} {row['parameters'] / 1e9:10.2f} B"
        for method in METHODS:
            size = f"{row[method] / 1e9:.1f}"
            line += f"{size if row[method] <= memory else f'({size})':>9}"  # (2)!
        lines.append(line)
    return "\n".join(lines)
    # --8<-- [end:fits]


# --8<-- [start:step]
def train_one_step(device: str, precision: str, seed: int) -> dict[str, float]:
    """Train the tiny base on one batch, once; give the loss before and after."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tiny import BASE, DATA

    torch.manual_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32).to(device)
    lines = (DATA / "train.jsonl").read_text("utf-8").splitlines()[:ROWS]
    texts = [
        row["context"] + row["response"] + tokenizer.eos_token for row in map(json.loads, lines)
    ]
    batch = tokenizer(texts, padding=True, return_tensors="pt").to(device)  # (1)!
    labels = batch.input_ids.masked_fill(batch.attention_mask == 0, -100)
    half = torch.float16 if precision == "fp16" else torch.bfloat16
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)

    def measure() -> torch.Tensor:
        with torch.autocast(device, half, enabled=precision != "fp32"):  # (2)!
            return model(batch.input_ids, attention_mask=batch.attention_mask, labels=labels).loss

    before = measure()
    before.backward()  # (3)!
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        after = measure()
    return {"before": before.item(), "after": after.item(), "grad_norm": norm.item()}


def check_step(step: dict[str, float]) -> list[Problem]:
    """The loss must have fallen; not a number is not less than a number."""
    if step["after"] < step["before"]:  # (4)!
        return []
    message = f"the training step took the loss from {step['before']:.3f} to {step['after']:.3f}"
    mend = "torch computes wrongly here: install it again, as pinned; with --tiny if a GPU is used"
    return [Problem(message, mend)]
    # --8<-- [end:step]


def describe(card, ram: int, free: int) -> str:
    """Say what the programs will compute on, with which numbers, and how much memory there is."""
    used = {"fp32": "fp32", "bf16": "bf16 over fp32 weights", "fp16": "fp16 over fp32 weights"}
    size = f", {card.memory / 1e9:.1f} GB" if card.memory else ""
    return (
        f"device   {card.name}{size}: {used[card.precision]}\n"
        f"memory   {ram / 1e9:.0f} GB, {free / 1e9:.0f} GB of it free"
    )


def write_versions(pins: dict[str, str], found: dict[str, str]) -> str:
    """Write the table of packages."""
    lines = ["package            pinned    here"]
    for name, pin in pins.items():
        lines.append(
            f"{name:17} {pin:>7} {found[name] or 'missing':>7}{' !' * (found[name] != pin)}"
        )
    return "\n".join(lines)


def write_arithmetic(rows: list[dict]) -> str:
    """Write the table of number types."""
    lines = ["type       bytes    largest   step at 1   GFLOPS"]
    for row in rows:
        lines.append(
            f"{row['type']:10} {row['bytes']:5} {row['largest']:10.2g} {row['step_at_1']:11.2g}"
            f" {row['gflops']:8.1f}"
        )
    return "\n".join(lines)


# --8<-- [start:verdict]
def conclude(problems: list[Problem]) -> int:
    """Say yes or no, and what to mend; give the exit status."""
    for problem in problems:
        print(f"error: {problem.message}\n  mend: {problem.mend}", file=sys.stderr)
    print(f"ready: {'no' if problems else 'yes'}")
    return 1 if problems else 0  # (1)!
    # --8<-- [end:verdict]


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiny", action="store_true", help="as if there were no GPU")
    parser.add_argument("--memory", type=float, help="GB of the card that the table is for")
    parser.add_argument("--length", type=int, default=512, help="tokens of the row in the table")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Look at versions, device and memory, train one step, and conclude."""
    options = read_options(argv)
    pins = read_pins(REQUIREMENTS)
    found = find_versions(list(pins))
    problems = check_versions(pins, found)
    versions = write_versions(pins, found)
    if "" in found.values():
        print(versions)
        return conclude(problems)
    return look_further(options, versions, problems)


def look_further(options: argparse.Namespace, versions: str, problems: list[Problem]) -> int:
    """Do what needs the packages, now that none is missing."""
    from transformers.utils import logging

    from common import guard, record

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if options.length < 1 or (options.memory or 1) <= 0:
        guard.stop("--length and --memory must be above 0", "for instance --length 512 --memory 24")
    folder, start = HERE if options.record else None, time.perf_counter()
    record.show(versions, folder, "versions.txt")
    card, facts = look_at_card(options, folder)
    step = train_one_step(card.device, card.precision, options.seed)
    line = f"one step: loss {step['before']:.3f}, then {step['after']:.3f}"
    record.show(line, folder, "step.txt")
    if folder:
        seconds = round(time.perf_counter() - start, 1)
        record.write(folder, {"seed": options.seed, "seconds": seconds, "step": step} | facts)
    return conclude(problems + check_step(step))


def look_at_card(options: argparse.Namespace, folder: Path | None) -> tuple:
    """Find what to compute on, measure it, and list what would fit; give the card and facts."""
    import psutil
    import torch

    from common import guard, record

    card = guard.find_card(options.tiny or not torch.cuda.is_available())
    ram = psutil.virtual_memory()
    print(describe(card, ram.total, ram.available), flush=True)
    arithmetic = measure_arithmetic(card.device)
    record.show(write_arithmetic(arithmetic), folder, "arithmetic.txt")
    wished = options.memory or (not card.memory and T4)
    memory = int(wished * 1e9) if wished else card.memory
    needs = list_needs(options.length)
    title = f"GB for one row of {options.length} tokens, on a card of {memory / 1e9:.1f} GB"
    record.show(f"{title}\n{write_needs(needs, memory)}", folder, "fits.txt")
    facts = {"device": card.name, "precision": card.precision, "card_bytes": memory}
    return card, facts | {"length": options.length, "arithmetic": arithmetic, "needs": needs}


if __name__ == "__main__":
    raise SystemExit(main())
