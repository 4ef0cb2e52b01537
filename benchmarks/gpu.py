"""Full fine-tuning, LoRA and QLoRA of three sizes on one large card: memory, speed, utilisation.

    python benchmarks/gpu.py                        every case that fits, in under ten minutes
    python benchmarks/gpu.py --minutes 5 --json gpu.json
    python benchmarks/gpu.py --tiny                 the same path on the processor, in seconds

Nothing is downloaded: weights are drawn at random in the shape of real models, since neither memory
nor speed depends on their values. The peak is that of the allocator during a training step, beside
the prediction of examples/memory; both leave out what CUDA itself takes.

Utilisation (MFU) counts the arithmetic that a step needs, whatever is computed twice: 6 operations
per token and parameter of a matrix product for full fine-tuning, 4 where the base is frozen, and 12
x layers x query features x length for attention (Chowdhery et al. 2022, arXiv 2204.02311, appendix
B). Embeddings are looked up, not multiplied; the output layer is.
"""

import argparse
import gc
import json
import math
import re
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch
from bitsandbytes.nn import Linear4bit, Params4bit
from transformers import LlamaForCausalLM, PreTrainedModel

from peft import LoraConfig, get_peft_model

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from common import guard
from common.llama import configure
from common.peak import step_peak
from memory import PRESETS, Run, Shape, count_parameters, predict
from memory.predict import CONTEXT

METHODS = ("full", "lora", "qlora")
RANK = 16
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
TINY_SHAPE = Shape(256, 704, 4, 4, 2, 64, 4096, tied=True)
RESERVE = 1.05  # of the predicted bytes must be free: predictions are within some per cent
TINY_TFLOPS = 0.1  # of a processor: so that a utilisation can be shown at all
USUAL = 0.2  # utilisation that the time of a case is guessed with, before it is known

# TFLOPS of dense matrix products in 16 bits that are added up in fp32. From NVIDIA's data sheets;
# where these count with sparsity (Ada, Hopper), half of it. RTX: appendix A of the white papers on
# GA102 (v2, 2021) and Ada (2022). A10G: Amazon's variant of the A10, whose sheet says 125.
PEAK_TFLOPS = {
    "T4": 65.0,
    "L4": 121.0,
    "A10G": 70.0,
    "A100": 312.0,
    "H100 PCIe": 756.0,
    "H100 NVL": 835.0,
    "H100": 989.0,
    "H200 NVL": 835.0,
    "H200": 989.0,
    "RTX 3090": 71.0,
    "RTX 4090": 165.0,
}


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    model: str
    shape: Shape
    method: str
    rows: int
    length: int

    @property
    def run(self) -> Run:
        """As examples/memory knows it; what CUDA itself takes is left out."""
        return Run(
            self.shape,
            method=self.method,
            rows=self.rows,
            length=self.length,
            rank=RANK,
            context=0,
        )

    @property
    def flops(self) -> float:
        """Return the arithmetic of a step, without what is computed again."""
        counts, shape = count_parameters(self.shape), self.shape
        products = counts.linear + shape.vocabulary * shape.hidden
        each = 6 if self.method == "full" else 4
        token = each * products + 12 * shape.layers * shape.query * self.length
        return token * self.rows * self.length


def build(case: Case, device: str) -> PreTrainedModel:
    """Build a model with random weights: fp32 to train it whole, 16 or 4 bits under an adapter."""
    config = configure(case.shape, max_position_embeddings=max(case.length, 64))
    base = torch.float32 if case.method == "full" else base_type(device)
    torch.manual_seed(42)
    torch.set_default_dtype(base)
    try:
        with torch.device(device):
            model = LlamaForCausalLM(config)
    finally:
        torch.set_default_dtype(torch.float32)
    if case.method == "qlora":
        quantize(model, base)
    model.activation_checkpointing_enable()
    if case.method != "full":
        model = get_peft_model(
            model,
            LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=TARGETS, task_type="CAUSAL_LM"),
        )
    return model.train()


def base_type(device: str) -> torch.dtype:
    """Return the 16-bit type of the card: bf16, or fp16 where it has none."""
    if device == "cpu" or torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float16


def quantize(model: PreTrainedModel, compute: torch.dtype) -> None:
    """Replace each linear layer but the output by one in NF4 with double quantization."""
    for layer in model.model.layers:
        for name, old in list(layer.named_modules()):
            if not isinstance(old, torch.nn.Linear):
                continue
            with torch.device("meta"):
                new = Linear4bit(old.in_features, old.out_features, bias=False)
            new.compute_dtype, new.compute_type_is_set = compute, True
            new.weight = Params4bit(
                old.weight.detach(),
                requires_grad=False,
                quant_type="nf4",
                compress_statistics=True,
                module=new,
            ).to(old.weight.device)  # here it is quantized
            new.quant_state = new.weight.quant_state
            parent, _, child = name.rpartition(".")
            setattr(layer.get_submodule(parent), child, new)
    model.is_loaded_in_4bit = True  # what peft looks at


def measure(case: Case, device: str, steps: int) -> dict:
    """Train some steps on random tokens; return the peak in bytes and the seconds of a step."""
    model = build(case, device)
    ids = torch.randint(0, case.shape.vocabulary, (case.rows, case.length), device=device)
    learnt = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=1e-5, fused=device == "cuda")
    kind = base_type(device)
    scaler = torch.amp.GradScaler(device, enabled=kind == torch.float16)

    def step() -> float:
        with torch.autocast(device, kind):
            loss = model(input_ids=ids, labels=ids).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        return loss.item()  # it waits for the card

    step()  # the first one makes the optimiser's states
    peak = step_peak(model, step)
    times = []
    for _ in range(steps):
        started = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - started)
    return {"peak": peak, "seconds": min(times), "loss": loss}


def guess(case: Case, tflops: float, steps: int) -> float:
    """Return the seconds that a case should take: loading, and steps at a low utilisation."""
    return 10 + (steps + 2) * case.flops / (USUAL * tflops * 1e12)


def run(cases: list[Case], card: guard.Card, options: argparse.Namespace, tflops: float) -> list:
    """Measure the cases in order; what does not fit, in memory or in time, is named and skipped."""
    rows, deadline = [], time.monotonic() + 60 * options.minutes
    for case in cases:
        predicted = predict(case.run).total
        row = {"model": case.model, "method": case.method, "rows": case.rows}
        row |= {"length": case.length, "predicted": predicted}
        left = deadline - time.monotonic()
        if card.device == "cuda" and RESERVE * (predicted + CONTEXT) > card.memory:
            row["skipped"] = "more than the card has"
        elif guess(case, tflops, options.steps) > left:
            row["skipped"] = f"{max(0, left):.0f} s are left"
        else:
            row |= attempt(case, card, options.steps, tflops)
        rows.append(row)
        print(line(row), flush=True)
    return rows


def attempt(case: Case, card: guard.Card, steps: int, tflops: float) -> dict:
    """Measure a case, and derive what the table shows; a full card is an answer too."""
    gc.collect()  # of the case before
    if card.device == "cuda":
        torch.cuda.empty_cache()
    try:
        found = measure(case, card.device, steps)
    except torch.OutOfMemoryError:
        return {"skipped": "out of memory"}
    found["ratio"] = found["peak"] / predict(case.run).total
    found["tokens_per_second"] = case.rows * case.length / found["seconds"]
    found["mfu"] = case.flops / found["seconds"] / (tflops * 1e12)
    return found


HEAD = (
    f"{'model':15}{'method':7}{'rows x length':>14}{'predicted':>12}{'peak':>10}{'ratio':>7}"
    f"{'tokens/s':>10}{'MFU':>7}"
)


def line(row: dict) -> str:
    """Write a row of the table."""
    shape = f"{row['rows']} x {row['length']}"
    text = f"{row['model']:15}{row['method']:7}{shape:>14}{row['predicted'] / 1e9:9.3f} GB"
    if "skipped" in row:
        return f"{text}   skipped: {row['skipped']}"
    return (
        f"{text}{row['peak'] / 1e9:7.3f} GB{row['ratio']:7.3f}{row['tokens_per_second']:10,.0f}"
        f"{row['mfu']:7.1%}"
    )


def choose(tiny: bool) -> list[Case]:
    """List the cases, the smallest models first: they take the least time."""
    if tiny:
        return [Case("tiny", TINY_SHAPE, method, 2, 64) for method in METHODS]
    sizes = {"smollm2-135m": 16, "llama-3.2-1b": 8, "llama-3.1-8b": 4}
    return [
        Case(name, PRESETS[name], method, rows, 1024)
        for name, rows in sizes.items()
        for method in METHODS
    ]


def find_peak(card: guard.Card, wanted: float | None) -> float:
    """Return the card's TFLOPS: as given, or those of the longest name in the table that it has."""
    if wanted or card.device == "cpu":
        return wanted or TINY_TFLOPS
    known = [key for key in PEAK_TFLOPS if re.search(rf"\b{key}\b", card.name)]
    if not known:
        guard.stop(
            f"the peak of {card.name} is not in the table",
            "give its dense 16-bit TFLOPS, from its data sheet, with --peak-tflops",
        )
    return PEAK_TFLOPS[max(known, key=len)]


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiny", action="store_true", help="a small shape, on the processor")
    parser.add_argument("--minutes", type=float, default=9, help="then no more cases are started")
    parser.add_argument("--steps", type=int, default=5, help="timed; the fastest counts")
    parser.add_argument("--peak-tflops", type=float, help="of the card, dense, in 16 bits")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    options = parser.parse_args(argv)
    if options.steps < 1:
        guard.stop(f"--steps is {options.steps}", "give at least 1")
    if options.peak_tflops is not None and not 0 < options.peak_tflops < math.inf:
        guard.stop(f"--peak-tflops is {options.peak_tflops}", "give a number above 0")
    if options.json and (options.json.is_dir() or not options.json.parent.is_dir()):
        guard.stop(f"{options.json} cannot be written", "name a file of a folder that exists")
    return options


def main(argv: list[str] | None = None) -> None:
    options = read_options(argv)
    guard.hush()
    card = guard.find_card(options.tiny)
    warnings.filterwarnings("ignore", "`(is_)?gradient_checkpointing", FutureWarning)  # PEFT's
    tflops = find_peak(card, options.peak_tflops)
    memory = f", {card.memory / 1e9:.1f} GB" if card.memory else ""
    print(f"{card.name}{memory}, peak {tflops:g} TFLOPS\n{HEAD}")
    rows = run(choose(options.tiny), card, options, tflops)
    packages = ("torch", "transformers", "peft", "bitsandbytes")
    found = {
        "versions": {name: version(name) for name in packages},
        "card": asdict(card) | {"peak_tflops": tflops},
        "cases": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    else:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
