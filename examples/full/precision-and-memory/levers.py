"""Levers that lower a training's memory, each measured: alone, and added to those before it.

Chapter full/precision-and-memory of the course. Its other program, lab.py, is about number types.

    python examples/full/precision-and-memory/levers.py --tiny             any computer, 30 seconds
    python examples/full/precision-and-memory/levers.py                    a free T4: SmolLM2-135M
    python examples/full/precision-and-memory/levers.py --shape tinyllama-1.1b --length 128   24 GB
    python examples/full/precision-and-memory/levers.py --shape llama-3.2-1b --rows 16        80 GB

Weights are drawn at random in the shape of a real model: memory does not depend on their values,
and nothing is downloaded. Memory predicted for the baseline, the most of all rows: 10.9 GB for
SmolLM2-135M (8 rows of 512 tokens), 22.4 GB for TinyLlama-1.1B, 59.7 GB for Llama-3.2-1B.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.llama import make_llama
from common.options import make_parser
from common.peak import PeakMemory, measure_saved

# isort: split
import torch
from bitsandbytes.optim import AdamW8bit
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from transformers import LlamaForCausalLM

from memory import PRESETS, Run, Shape, predict, saved_bytes

HERE = Path(__file__).resolve().parent
TINY = Shape(256, 704, 6, 4, 2, 64, 8192, tied=True)  # 6.5 million parameters
SHAPES = {name: PRESETS[name] for name in ("smollm2-135m", "tinyllama-1.1b", "llama-3.2-1b")}
PIECES = 4
CHUNK = 64  # tokens whose logits exist at one time


# --8<-- [start:levers]
@dataclass(frozen=True)
class Levers:
    """What is turned on; the defaults are the baseline: fp32, AdamW, the batch at once."""

    recompute: bool = False
    chunked_loss: bool = False
    pieces: int = 1
    optimizer: str = "adamw"
    weights: torch.dtype = torch.float32
    autocast: bool = False
    step_in_backward: bool = False


LADDER = {  # (1)!
    "recompute": {"recompute": True},
    "chunked-loss": {"chunked_loss": True},
    "step-in-backward": {"step_in_backward": True},
    "adamw-8bit": {"optimizer": "adamw-8bit"},
    "bf16": {"weights": torch.bfloat16},
}
ALONE = {  # (2)!
    "accumulation": {"pieces": PIECES},
    "autocast": {"autocast": True},
}
NAMES = {
    "baseline": "baseline: fp32, AdamW",
    "recompute": "recomputed activations",
    "chunked-loss": "loss in chunks",
    "accumulation": f"{PIECES} pieces, accumulated",
    "adamw-8bit": "8-bit AdamW",
    "bf16": "bf16 weights (see lab.py)",
    "autocast": "bf16 autocast",
    "step-in-backward": "step inside backward",
}
# --8<-- [end:levers]


def build(shape: Shape, levers: Levers, device: str, seed: int) -> LlamaForCausalLM:
    """Build a model of this shape with random weights, in fp32 or bf16."""
    torch.manual_seed(seed)
    model = make_llama(shape, device, levers.weights)
    if levers.recompute:
        model.activation_checkpointing_enable()
    return model


# --8<-- [start:step]
def chunked_loss(model: LlamaForCausalLM, ids: torch.Tensor) -> torch.Tensor:
    """Compute the same loss without ever holding the logits of all tokens."""

    def piece(hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return cross_entropy(model.lm_head(hidden).float(), targets, reduction="sum")

    hidden = model.model(ids).last_hidden_state[:, :-1].flatten(0, 1)
    targets = ids[:, 1:].flatten()
    pieces = zip(hidden.split(CHUNK), targets.split(CHUNK), strict=True)
    losses = [checkpoint(piece, *one, use_reentrant=False) for one in pieces]  # (1)!
    return sum(losses) / len(targets)


def optimizers(model: LlamaForCausalLM, levers: Levers) -> Callable[[], None]:
    """Return what is to be called after the backward pass to update the weights."""
    kind = AdamW8bit if levers.optimizer == "adamw-8bit" else torch.optim.AdamW
    options = {"lr": 1e-4} if kind is AdamW8bit else {"lr": 1e-4, "fused": True}
    if not levers.step_in_backward:
        optimizer = kind(model.parameters(), **options)

        def update() -> None:
            optimizer.step()
            optimizer.zero_grad()  # (2)!

        return update
    for parameter in model.parameters():
        own = kind([parameter], **options)

        def update_one(parameter: torch.Tensor, own=own) -> None:
            own.step()
            parameter.grad = None  # (3)!

        parameter.register_post_accumulate_grad_hook(update_one)
    return lambda: None


def step(model: LlamaForCausalLM, ids: torch.Tensor, levers: Levers) -> float:
    """Run forward and backward over a batch, in pieces of the same size; return the loss."""
    total = 0.0
    for part in ids.chunk(levers.pieces):
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=levers.autocast):
            if levers.chunked_loss:
                loss = chunked_loss(model, part)
            else:
                loss = model(input_ids=part, labels=part).loss
        (loss / levers.pieces).backward()  # (4)!
        total += loss.item() / levers.pieces
    return total
    # --8<-- [end:step]


def run(shape: Shape, levers: Levers, ids: torch.Tensor, seed: int, steps: int) -> Iterator[float]:
    """Build a model and train it a few steps; yields the loss of each."""
    model = build(shape, levers, ids.device.type, seed)
    update = optimizers(model, levers)
    for _ in range(steps):
        loss = step(model, ids, levers)
        update()
        yield loss


def peak_bytes(shape: Shape, levers: Levers, ids: torch.Tensor, seed: int) -> int:
    """Train two steps: the first makes the optimiser's states, the second has its full peak."""
    if ids.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        list(run(shape, levers, ids, seed, steps=2))
        return torch.cuda.max_memory_allocated() - before
    with PeakMemory() as memory:
        list(run(shape, levers, ids, seed, steps=2))
    return memory.peak


def speed(shape: Shape, levers: Levers, ids: torch.Tensor, seed: int) -> tuple[float, float]:
    """Return the seconds of the fastest of three steps, after a first one, and the last loss.

    On the processor these are seconds of its work, which other programs do not lengthen.
    """
    clock = time.perf_counter if ids.device.type == "cuda" else time.process_time
    times, training = [], run(shape, levers, ids, seed, steps=4)
    for _ in range(4):
        started = clock()
        loss = next(training)  # it was read from the GPU, which has finished what came before
        times.append(clock() - started)
    return min(times[1:]), loss


def ladder(shape: Shape, ids: torch.Tensor, seed: int, kinds: dict[str, dict]) -> list[dict]:
    """Measure the baseline, then each lever alone; those of the ladder also added up."""
    rows, together = [], Levers()
    for name in ("baseline", *kinds):
        alone = Levers(**kinds.get(name, {}))
        row = {"id": name, "peak": peak_bytes(shape, alone, ids, seed)}
        row["seconds"], row["loss"] = speed(shape, alone, ids, seed)
        if name in LADDER:
            together = replace(together, **kinds[name])
            row["added_peak"] = peak_bytes(shape, together, ids, seed)
            row["added_seconds"], _ = speed(shape, together, ids, seed)
        rows.append(row)
    return rows


def with_ratios(rows: list[dict]) -> list[dict]:
    """Give each row its peaks and times as a share of the baseline's."""
    peak, time_ = rows[0]["peak"], rows[0]["seconds"]
    for row in rows:
        row["ratio"] = row["peak"] / peak
        row["time_ratio"] = row["seconds"] / time_
        if "added_peak" in row:
            row["added_ratio"] = row["added_peak"] / peak
            row["added_time_ratio"] = row["added_seconds"] / time_
    return rows


def compare_states(shape: Shape, ids: torch.Tensor, seed: int, steps: int = 5) -> list[dict]:
    """Train a few steps with states of 32 bits and of 8; give the loss of each step: points."""
    kinds = [Levers(optimizer=name) for name in ("adamw", "adamw-8bit")]
    losses = [list(run(shape, kind, ids, seed, steps)) for kind in kinds]
    both = enumerate(zip(*losses, strict=True), 1)
    return [{"step": step, "adamw": one, "adamw_8bit": other} for step, (one, other) in both]


def states_table(rows: list[dict]) -> str:
    """Write both losses of each step, and how far they are apart."""
    lines = ["step   32-bit states   8-bit states   difference"]
    for row in rows:
        apart = row["adamw_8bit"] - row["adamw"]
        lines.append(f"{row['step']:4}{row['adamw']:16.6f}{row['adamw_8bit']:15.6f}{apart:+13.6f}")
    return "\n".join(lines)


def climb(rows: list[dict]) -> list[dict]:
    """Return the peaks of the ladder, each lever added to those above it: bars of a figure."""
    rungs = [row for row in rows if row["id"] in ("baseline", *LADDER)]
    peaks = {row["id"]: row.get("added_peak", row["peak"]) for row in rungs}
    return [{"id": name, "megabytes": peak / 1e6} for name, peak in peaks.items()]


def ladder_table(rows: list[dict]) -> str:
    """Write the measures, each with its ratio to the baseline."""
    lines = [
        f"{'':28}{'alone':>10}{'ratio':>7}{'time':>6}{'added up':>11}{'ratio':>7}{'time':>6}"
        f"{'fourth loss':>13}"
    ]
    for row in rows:
        added = f"{'':24}"
        if "added_peak" in row:
            added = f"{row['added_peak'] / 1e6:8.1f} MB{row['added_ratio']:7.2f}"
            added += f"{row['added_time_ratio']:6.1f}"
        lines.append(
            f"{NAMES[row['id']]:28}{row['peak'] / 1e6:7.1f} MB{row['ratio']:7.2f}"
            f"{row['time_ratio']:6.1f}{added}{row['loss']:13.5f}"
        )
    return "\n".join(lines)


# --8<-- [start:recompute]
def gradients(shape: Shape, levers: Levers, ids: torch.Tensor, seed: int) -> list[torch.Tensor]:
    """Return the gradients of one batch."""
    model = build(shape, levers, ids.device.type, seed)
    step(model, ids, levers)
    return [parameter.grad for parameter in model.parameters()]
    # --8<-- [end:recompute]


def saved_rows(shape: Shape, lengths: tuple[int, ...] = (32, 64, 128, 256)) -> dict[str, list]:
    """Measure what is kept with and without recomputing, beside the formula: points of a figure."""
    lines: dict[str, list] = {}
    for name in ("stored", "recomputed"):
        levers = Levers(recompute=name == "recomputed")
        lines[name] = []
        for length in lengths:
            ids = torch.randint(0, shape.vocabulary, (1, length))
            formula = saved_bytes(shape, 1, length, "fp32", recompute=levers.recompute)
            measured = measure_saved(build(shape, levers, ids.device.type, seed=0), ids)
            lines[name].append({"x": length, "y": measured, "formula": formula})
    return lines


def saved_table(lines: dict[str, list], equal: bool) -> str:
    """Write measures and formula, and whether the gradients are the same."""
    text = ["tokens      stored  formula    recomputed  formula    change"]
    for stored, kept in zip(lines["stored"], lines["recomputed"], strict=True):
        cells = "".join(
            f"{one['y'] / 1e6:9.2f} MB{one['formula'] / one['y']:9.3f}" for one in (stored, kept)
        )
        text.append(f"{stored['x']:6}{cells}{kept['y'] / stored['y'] - 1:12.0%}")
    answer = "equal bit by bit" if equal else "DIFFERENT"
    return "\n".join([*text, f"gradients with and without recomputing: {answer}"])


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="a small shape, on the processor")
    parser.add_argument("--shape", choices=SHAPES, default="smollm2-135m")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, help="tokens a row (512; 64 with --tiny)")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh levers.json and outputs/")
    options = parser.parse_args(argv)
    options.length = options.length or (64 if options.tiny else 512)
    return options


def prepare(options: argparse.Namespace, shape: Shape) -> guard.Card:
    """Refuse what cannot be measured; predict the baseline's memory."""
    if options.rows < PIECES or options.rows % PIECES:
        guard.stop(
            f"--rows {options.rows} cannot be cut into {PIECES} equal pieces",
            f"give a multiple of {PIECES}",
        )
    if options.length < 2:
        guard.stop(f"--length is {options.length}", "give at least 2: a token and the next one")
    card = guard.find_card(options.tiny)
    settings = {"precision": "fp32", "recompute": False, "rows": options.rows}
    wanted = Run(shape, length=options.length, **settings)
    needed = predict(wanted).total
    if card.device == "cuda":
        print(f"memory predicted for the baseline: {needed / 1e9:.3g} GB")
    if card.device == "cuda" and needed > card.memory:
        fits = predict(replace(wanted, rows=PIECES, length=64)).total <= card.memory
        mend = f"--rows {PIECES} --length 64" if fits else "choose a smaller --shape"
        guard.stop(f"{card.name} has {card.memory / 1e9:.3g} GB", mend)
    return card


def main(argv: list[str] | None = None) -> None:
    """Compare the gradients, count what is kept, climb the ladder."""
    options = read_options(argv)
    folder = HERE if options.record else None
    shape = TINY if options.tiny else SHAPES[options.shape]
    card = prepare(options, shape)
    torch.manual_seed(options.seed)
    size = (options.rows, options.length)
    ids = torch.randint(0, shape.vocabulary, size).to(card.device)

    small = ids[:2, :32]
    pair = [gradients(shape, Levers(recompute=on), small, options.seed) for on in (False, True)]
    equal = all(torch.equal(*both) for both in zip(*pair, strict=True))
    del pair
    saved = saved_rows(shape) if options.tiny else {}
    if saved:
        record.show(saved_table(saved, equal), folder, "saved.txt")
    kinds = LADDER | ALONE
    if card.precision == "fp16":
        print(f"{card.name} computes no bfloat16: bf16 rows are left out")
        kinds = {name: kinds[name] for name in kinds if name not in ("bf16", "autocast")}
    rows = with_ratios(ladder(shape, ids, options.seed, kinds))
    record.show(ladder_table(rows), folder, "levers.txt")
    states = compare_states(shape, ids, options.seed) if options.tiny else []
    if states:
        record.show(states_table(states), folder, "states.txt")
    if folder:
        settings = {"seed": options.seed, "rows": size[0], "length": size[1]}
        lines = {f"saved_{name}": points for name, points in saved.items()}
        facts = {"settings": settings, "equal_gradients": equal, "levers": rows}
        facts |= {"ladder": climb(rows), "states": states}
        record.write(folder, facts | lines, "levers.json")


if __name__ == "__main__":
    main()
