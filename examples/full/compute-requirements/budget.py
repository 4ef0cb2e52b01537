"""Predict what a training needs, then measure it: bytes, operations, disk and time.

Chapter full/compute-requirements of the course. Machine, command, and the memory predicted for it:

    any computer, no network   python examples/full/compute-requirements/budget.py --tiny
    16 GB, such as a free T4   python examples/full/compute-requirements/budget.py        10.9 GB
    24 GB                      the same with --shape tinyllama-1.1b --length 128          22.4 GB
    80 GB                      the same with --shape llama-3.2-1b --rows 16               59.7 GB

Weights are drawn at random in the shape of a real model: neither memory nor time depends on their
values, and nothing is downloaded. On the processor the peak is that of the tensors, counted by
common/peak.py; on a GPU it is torch.cuda.max_memory_allocated. Everything here is fp32 unless a
line says otherwise. --tiny needs 3 GB of memory, for one step in the shape of SmolLM2-135M.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.llama import make_llama
from common.options import make_parser
from common.peak import PeakMemory, measure_saved, step_peak

# isort: split
import torch
from bitsandbytes.optim import AdamW8bit, AdamW32bit, GlobalOptimManager
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, Trainer, TrainingArguments

from memory import (
    PRESETS,
    RECIPES,
    Counts,
    Run,
    Shape,
    count_parameters,
    logit_bytes,
    predict,
    read_config,
    saved_bytes,
    state_bytes,
)
from tiny import BASE

HERE = Path(__file__).resolve().parent
SHAPES = {name: PRESETS[name] for name in ("smollm2-135m", "tinyllama-1.1b", "llama-3.2-1b")}
Model, Step = LlamaForCausalLM, Callable[[], object]


def draw(shape: Shape, rows: int, length: int, device: str) -> torch.Tensor:
    """Draw a batch of tokens."""
    return torch.randint(0, shape.vocabulary, (rows, length)).to(device)


# --8<-- [start:static]
class MasterAdamW(torch.optim.AdamW):
    """AdamW for 16-bit weights, which keeps an fp32 copy of them, as DeepSpeed does."""

    def __init__(self, parameters, **options) -> None:
        """Copy the weights."""
        self.pairs = [(p, p.detach().float().requires_grad_()) for p in parameters]
        super().__init__([copy for _, copy in self.pairs], **options)

    @torch.no_grad()
    def step(self) -> None:
        """Update the copy, and round it into the weights."""
        for weight, copy in self.pairs:
            copy.grad = weight.grad.float()
        super().step()
        for weight, copy in self.pairs:
            weight.copy_(copy)
            copy.grad = None


def eight_bit(parameters, **options) -> AdamW8bit:
    """AdamW in 8 bits; the embeddings keep their states in 32, as Trainer asks."""
    parameters = list(parameters)
    GlobalOptimManager.get_instance().register_parameters(parameters)
    GlobalOptimManager.get_instance().override_config(parameters[0], "optim_bits", 32)  # (1)!
    return AdamW8bit(parameters, **options)


WAYS = {  # (2)!
    "mixed": (torch.float32, torch.optim.AdamW),
    "master": (torch.bfloat16, MasterAdamW),
    "bf16-fp32-states": (torch.bfloat16, AdamW32bit),
    "bf16": (torch.bfloat16, torch.optim.AdamW),
    "bf16-8bit": (torch.bfloat16, eight_bit),
    "bf16-sgd": (torch.bfloat16, torch.optim.SGD),
}


def measure_static(recipe: str, shape: Shape, device: str) -> dict[str, int]:
    """Make one step, then count the bytes of weights, gradients and states."""
    dtype, kind = WAYS[recipe]
    model, ids = make_llama(shape, device, dtype), draw(shape, 1, 8, device)
    optimizer = kind(model.parameters(), lr=1e-4)
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    parameters = list(model.parameters())
    states = {  # (3)!
        value.data_ptr(): value.nbytes
        for state in optimizer.state.values()
        for name, value in state.items()
        if torch.is_tensor(value) and value.dim() and not name.startswith("qmap")
    }
    copies = sum(copy.nbytes for _, copy in getattr(optimizer, "pairs", []))
    return {
        "weights": sum(p.nbytes for p in parameters),
        "gradients": sum(p.grad.nbytes for p in parameters),
        "states": sum(states.values()) + copies,
    }
    # --8<-- [end:static]


def static_rows(shape: Shape, device: str) -> list[dict]:
    """Measure every recipe, beside what the formula says."""
    counts, rows = count_parameters(shape), []
    for recipe in RECIPES:
        measured = measure_static(recipe.id, shape, device)
        states = round(recipe.states * counts.total)
        if recipe.id == "bf16-8bit":
            states = state_bytes(counts, "adamw-8bit")
        formula = round((recipe.weights + recipe.gradients) * counts.total) + states
        total = sum(measured.values())
        row = {"id": recipe.id} | measured | {"total": total, "formula": formula}
        rows.append(row | {"per_parameter": round(total / counts.total, 4)})
    return rows


# --8<-- [start:activations]
def measure_logits(shape: Shape, tokens: int, device: str, hold: bool = False) -> int:
    """Measure the most that the loss alone takes; a thin layer stands for the model."""
    hidden = torch.randn(tokens, 1, device=device, requires_grad=True)
    head = torch.randn(1, shape.vocabulary, device=device)
    targets = torch.zeros(tokens, dtype=torch.long, device=device)
    with PeakMemory() as memory:
        logits = hidden @ head
        loss = cross_entropy(logits, targets)
        if not hold:
            del logits  # (1)!
        loss.backward()
    return memory.peak
    # --8<-- [end:activations]


def kept_rows(shape: Shape, device: str, length: int) -> list[dict]:
    """Compare what is kept, and the logits, with their formulas."""
    rows = []
    for name, size, recompute in (
        ("stored", (1, length), False),
        ("stored", (4, length), False),
        ("recomputed", (4, length), True),
    ):
        model = make_llama(shape, device, torch.float32)
        if recompute:
            model.activation_checkpointing_enable()
        measured = measure_saved(model, draw(shape, *size, device))
        formula = saved_bytes(shape, *size, "fp32", recompute=recompute)
        rows.append({"id": name, "rows": size[0], "measured": measured, "formula": formula})
    formula = logit_bytes(shape, 4, length)
    for name, hold in (("logits", False), ("logits, held", True)):
        measured = measure_logits(shape, 4 * length, device, hold)
        rows.append({"id": name, "rows": 4, "measured": measured, "formula": formula})
    return rows


# --8<-- [start:peak]
def training_step(
    model: Model, ids: torch.Tensor, autocast: torch.dtype | None = None, pieces: int = 1
) -> Step:
    """Return a whole step: forward and backward for each piece, update. The first makes states."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)  # (1)!

    def step() -> None:
        for _ in range(pieces):
            with torch.autocast(ids.device.type, autocast, enabled=autocast is not None):
                loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    return step


def peak_row(run: Run, device: str) -> dict:
    """Measure the peak of a step, and predict it."""
    dtype = torch.bfloat16 if run.precision == "bf16" else torch.float32
    model = make_llama(run.shape, device, dtype)
    if run.recompute:
        model.activation_checkpointing_enable()
    ids = draw(run.shape, run.rows, run.length, device)
    autocast = torch.bfloat16 if run.precision == "mixed" else None
    pieces = 2 if run.accumulate else 1  # (2)!
    measured = step_peak(model, training_step(model, ids, autocast, pieces))
    budget = predict(run)
    return {
        "parameters": count_parameters(run.shape).total,
        "precision": run.precision,
        "recompute": run.recompute,
        "accumulate": run.accumulate,
        "rows": run.rows,
        "length": run.length,
        "measured": measured,
        "at_loss": budget.at_loss,
        "at_step": budget.at_step,
        "predicted": budget.total,  # (3)!
    }
    # --8<-- [end:peak]


def peak_rows(shape: Shape, card: guard.Card, rows: int, length: int) -> list[dict]:
    """Measure peaks: small and large batches, with and without recomputing, other precisions."""
    base = Run(
        shape,
        precision="fp32",
        rows=rows,
        length=length,
        recompute=False,
        context=0,
        accumulate=False,
    )
    runs = [
        replace(base, rows=1, length=16),
        replace(base, rows=1),
        base,
        replace(base, accumulate=True),
        replace(base, recompute=True),
        replace(base, precision="bf16"),
    ]
    if card.precision == "bf16":
        runs.append(replace(base, precision="mixed"))
    if card.device == "cpu":
        runs.append(replace(base, shape=PRESETS["smollm2-135m"], rows=1))
    return [
        peak_row(run, card.device)
        for run in runs
        if card.precision != "fp16" or run.precision == "fp32"
    ]


def moment_rows(shape: Shape, device: str) -> list[dict]:
    """Measure the peak of one row of more and more tokens, beside its two moments."""
    base = Run(shape, precision="fp32", recompute=False, context=0, accumulate=False)
    rows = [peak_row(replace(base, length=length), device) for length in (2, 16, 32, 64, 96, 128)]
    keys = ("measured", "at_loss", "at_step")
    return [{"tokens": row["length"]} | {key: row[key] / 1e6 for key in keys} for row in rows]


# --8<-- [start:checkpoint]
def checkpoint_files(shape: Shape, card: guard.Card) -> list[dict]:
    """Make one step with Trainer, and list what its checkpoint holds, in bytes."""
    model, ids = make_llama(shape, card.device, torch.float32), draw(shape, 1, 8, "cpu")
    with TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            max_steps=1,
            save_steps=1,
            disable_tqdm=True,
            use_cpu=card.device == "cpu",
        )
        rows = [{"input_ids": ids[0], "labels": ids[0]}]
        trainer = Trainer(model=model, args=args, train_dataset=rows)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        files = Path(folder, "checkpoint-1").iterdir()
        sizes = {file.name: file.stat().st_size for file in files}
    total = sum(p.numel() for p in model.parameters())
    order = sorted(sizes, key=sizes.get, reverse=True)
    return [
        {"id": name, "bytes": sizes[name], "per_parameter": round(sizes[name] / total, 3)}
        for name in order
    ]
    # --8<-- [end:checkpoint]


# --8<-- [start:operations]
def count_operations(model: Model, ids: torch.Tensor) -> int:
    """Count the floating-point operations of a forward and a backward pass."""
    with FlopCounterMode(display=False) as counter:
        model(input_ids=ids, labels=ids).loss.backward()
    return counter.get_total_flops()


def matrix_parameters(counts: Counts) -> int:
    """Parameters that multiply each token: linear layers and output, no table look-up."""
    return counts.linear + (counts.head or counts.embedding)  # (1)!


def attention_operations(shape: Shape, rows: int, length: int) -> int:
    """Scores and weighted values: 2 products of 2 x length x features, 3 times (2 backward)."""
    return 12 * shape.layers * shape.query * length * rows * length  # (2)!
    # --8<-- [end:operations]


def operation_rows(shape: Shape, device: str, lengths: tuple[int, ...]) -> list[dict]:
    """Count operations at some lengths, stored and recomputed, beside 6PT and 8PT."""
    rows, counts = [], count_parameters(shape)
    parameters = matrix_parameters(counts)
    again = counts.linear - shape.layers * shape.feed_forward * shape.hidden
    for length in lengths:
        attention = attention_operations(shape, 1, length)
        for recompute in (False, True):
            model = make_llama(shape, device, torch.float32, attn_implementation="eager")
            if recompute:
                model.activation_checkpointing_enable()
            counted = count_operations(model, draw(shape, 1, length, device))
            rule = (8 if recompute else 6) * parameters * length
            whole = 6 * parameters * length + attention
            if recompute:  # not the output layer, nor a layer's last matrix: its result is not kept
                whole += 2 * again * length + attention // 3
            row = {"length": length, "recompute": recompute, "counted": counted, "rule": rule}
            rows.append(row | {"whole": whole})
    return rows


# --8<-- [start:time]
def seconds_of(step: Step, times: int, device: str) -> float:
    """Seconds of some steps: of the processor's work, or of a GPU that has finished."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    started = clock()
    for _ in range(times):
        step()
    if device == "cuda":
        torch.cuda.synchronize()  # (1)!
    return clock() - started


def matrix_speed(device: str, dtype: torch.dtype, size: int) -> float:
    """Operations a second in a large product of matrices: what this machine can do at best."""
    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    product = partial(torch.matmul, left, right)
    product()
    return 2 * size**3 * 10 / seconds_of(product, 10, device)


def time_row(shape: Shape, card: guard.Card, rows: int, length: int) -> dict:
    """Time a few steps, predict the time of more, and measure those too."""
    model = make_llama(shape, card.device, torch.float32)
    step = training_step(model, draw(shape, rows, length, card.device))
    few, many, tokens = 5, 30, rows * length
    speed = few * tokens / seconds_of(step, few, card.device)
    measured = seconds_of(step, many, card.device)
    peak = matrix_speed(card.device, torch.float32, 1024 if card.device == "cpu" else 8192)
    operations = 6 * matrix_parameters(count_parameters(shape))
    return {
        "steps": many,
        "tokens": many * tokens,
        "tokens_per_second": round(speed, 1),
        "predicted_seconds": round(many * tokens / speed, 2),  # (2)!
        "measured_seconds": round(measured, 2),
        "operations_per_second": round(operations * many * tokens / measured),
        "matrix_operations_per_second": round(peak),
        "mfu": round(operations * many * tokens / measured / peak, 4),  # (3)!
    }
    # --8<-- [end:time]


def megabytes(size: float) -> str:
    """Write a size for a column."""
    return f"{size / 1e6:10.2f} MB"


def static_table(rows: list[dict]) -> str:
    """Show each recipe: what was measured, and how far the formula is."""
    lines = ["                      weights     gradients        states   bytes/param   formula"]
    for row in rows:
        cells = "".join(megabytes(row[key]) for key in ("weights", "gradients", "states"))
        error = row["formula"] / row["total"] - 1
        answer = "exact" if row["formula"] == row["total"] else f"{error:+.2%}"
        lines.append(f"{row['id']:17}{cells}{row['per_parameter']:12.3f}{answer:>12}")
    return "\n".join(lines)


def kept_table(rows: list[dict]) -> str:
    """Show what is kept for the backward pass, and the logits, beside their formulas."""
    lines = ["             rows     measured      formula  formula/measured"]
    for row in rows:
        sizes = megabytes(row["measured"]) + megabytes(row["formula"])
        lines.append(
            f"{row['id']:13}{row['rows']:4}{sizes}{row['formula'] / row['measured']:18.3f}"
        )
    return "\n".join(lines)


def peak_table(rows: list[dict]) -> str:
    """Show the peaks: measured, at each of a step's two moments, and predicted: the larger."""
    lines = [f"{'MB':35}measured  at loss  after backward  predicted"]
    for row in rows:
        name = row["precision"]
        name += ", recomputed" if row["recompute"] else ""
        name += ", accumulated" if row["accumulate"] else ""
        size = f"{row['parameters'] / 1e6:.3g} M"
        sizes = f"{row['rows']} x {row['length']}"
        error = round(row["predicted"] / row["measured"] - 1, 3) + 0.0  # no "-0.0%"
        lines.append(
            f"{size:>7} {name:17} {sizes:>7}{row['measured'] / 1e6:11.2f}"
            f"{row['at_loss'] / 1e6:9.2f}{row['at_step'] / 1e6:16.2f}{error:+11.1%}"
        )
    return "\n".join(lines)


def file_table(rows: list[dict]) -> str:
    """Show the files of a checkpoint."""
    lines = [f"{'':24}{'bytes':>14}{'bytes/param':>13}"]
    whole = {key: sum(row[key] for row in rows) for key in ("bytes", "per_parameter")}
    for row in (*rows, {"id": "checkpoint"} | whole):
        lines.append(f"{row['id']:24}{row['bytes']:14,}{row['per_parameter']:13.3f}")
    return "\n".join(lines)


def operation_table(rows: list[dict]) -> str:
    """Show counted operations beside the rules 6PT and 8PT, and with attention added."""
    lines = ["tokens   rule   counted GFLOP   rule/counted   every matrix product/counted"]
    for row in rows:
        lines.append(
            f"{row['length']:6}   {'8PT' if row['recompute'] else '6PT':4}"
            f" {row['counted'] / 1e9:15.3f} {row['rule'] / row['counted']:14.3f}"
            f" {row['whole'] / row['counted']:30.3f}"
        )
    return "\n".join(lines)


def time_table(row: dict) -> str:
    """Show a prediction of time, what came true, and how much of the machine it used."""
    return "\n".join(
        [
            f"tokens/s in the first steps      {row['tokens_per_second']:12,.0f}",
            f"tokens of the run                {row['tokens']:12,}",
            f"seconds predicted                {row['predicted_seconds']:12.2f}",
            f"seconds measured                 {row['measured_seconds']:12.2f}",
            f"useful operations (6PT)/s        {row['operations_per_second'] / 1e9:12.1f} G",
            f"in a product of matrices         {row['matrix_operations_per_second'] / 1e9:12.1f} G",
            f"their ratio, MFU                 {row['mfu']:12.1%}",
        ]
    )


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="the tiny base, on the processor")
    parser.add_argument("--shape", choices=SHAPES, help="smollm2-135m; the tiny base with --tiny")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--length", type=int, help="tokens a row (512; 128 with --tiny)")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    options = parser.parse_args(argv)
    options.length = options.length or (128 if options.tiny else 512)
    if options.rows < 1 or options.length < 2:
        guard.stop(
            f"--rows is {options.rows} and --length {options.length}",
            "give at least 1 row of 2 tokens: a token and the next one",
        )
    return options


def prepare(options: argparse.Namespace) -> tuple[guard.Card, Shape]:
    """Choose machine and shape; on a GPU, refuse what cannot fit."""
    card = guard.find_card(options.tiny)
    if options.tiny and not options.shape:
        config = LlamaConfig.from_pretrained(BASE).to_dict()
        return card, read_config(config)
    shape = SHAPES[options.shape or "smollm2-135m"]
    sizes = {"rows": options.rows, "length": options.length}
    needed = predict(Run(shape, precision="fp32", recompute=False, **sizes)).total
    print(f"memory predicted for the largest step: {needed / 1e9:.1f} GB")
    if card.device == "cuda" and needed > card.memory:
        guard.stop(f"{card.name} has {card.memory / 1e9:.1f} GB", "lower --rows or --length")
    return card, shape


def main(argv: list[str] | None = None) -> None:
    """Predict and measure, one thing after the other."""
    options = read_options(argv)
    folder = HERE if options.record else None
    guard.hush()
    torch.manual_seed(options.seed)
    card, shape = prepare(options)
    lengths = (128, 512) if options.tiny else (512, 2048)
    found = {"static": static_rows(shape, card.device)}
    record.show(static_table(found["static"]), folder, "static.txt")
    found["kept"] = kept_rows(shape, card.device, options.length)
    record.show(kept_table(found["kept"]), folder, "kept.txt")
    found["peaks"] = peak_rows(shape, card, options.rows, options.length)
    record.show(peak_table(found["peaks"]), folder, "peaks.txt")
    found["moments"] = moment_rows(shape, card.device)
    found["files"] = checkpoint_files(shape, card)
    record.show(file_table(found["files"]), folder, "checkpoint.txt")
    found["operations"] = operation_rows(shape, card.device, lengths)
    record.show(operation_table(found["operations"]), folder, "operations.txt")
    time_ = time_row(shape, card, options.rows, options.length)
    record.show(time_table(time_), folder, "time.txt")
    if folder:
        settings = {"seed": options.seed, "rows": options.rows, "length": options.length}
        parameters = count_parameters(shape).total
        record.write(
            folder, {"settings": settings, "parameters": parameters, "time": time_} | found
        )


if __name__ == "__main__":
    main()
