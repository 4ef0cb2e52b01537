"""Evaluating before training: on some processors, 4-bit layers then let no gradient through.

Chapter peft/qlora of the course. A processor with AVX512-BF16, no network, a few minutes:

    python examples/peft/qlora/trap.py
    python examples/peft/qlora/trap.py --record      refresh trap.json and outputs/trap.txt

The tiny model is evaluated, then trained as train.py trains it, in the loop that gives Trainer's
losses: once with the remedy (train.keep_gradients), once without. Other processors, and GPUs, have
nothing to show: bitsandbytes 0.50.2 packs the layers anew only where these instructions exist.
"""

import sys
import tempfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import torch
from bitsandbytes.functional import has_avx512bf16
from bitsandbytes.nn import Linear4bit
from transformers import PreTrainedModel, set_seed

from peft import PeftModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `peft` itself is the library
from lora import train as lora
from qlora import train as qlora

from common.rows import read
from full.traditional import loop
from full.traditional import train as full

HERE = Path(__file__).resolve().parent
CARD = guard.Card("CPU", 0, "fp32")
EARLY = 12  # the step of the first validation, as in train.py


def load(remedy: bool) -> tuple:
    """Load tokenizer and prepared base; without the remedy, as bitsandbytes has its layers."""
    tokenizer, base = qlora.load(qlora.TINY, CARD)
    for module in base.modules():
        if isinstance(module, Linear4bit) and not remedy:
            module.support_avx512bf16_for_cpu = has_avx512bf16()
    return tokenizer, qlora.prepare(base, qlora.TINY)


def stuck(model: PreTrainedModel) -> list[str]:
    """Name the matrices B that the last backward pass has not reached."""
    found = [(n, p) for n, p in model.named_parameters() if "lora_B" in n]
    return [n for n, p in found if p.grad is None or not p.grad.any()]


def count_stuck(remedy: bool, rows: list[dict]) -> list[str]:
    """Evaluate, then take the gradients of the same rows; name the matrices B without one."""
    tokenizer, base = load(remedy)
    model = qlora.attach(base, qlora.TINY)
    batch = loop.collate(rows, tokenizer.pad_token_id)
    model.eval()
    with torch.no_grad():
        model(**batch)
    model.train()
    model(**batch).loss.backward()
    return stuck(model)


def run(remedy: bool, parts: list[list[dict]], epochs: float = qlora.TINY.epochs) -> dict:
    """Evaluate, train, and measure; then put the saved adapter on a base that is loaded anew."""
    settings = replace(qlora.TINY, epochs=epochs)
    set_seed(settings.seed)
    tokenizer, base = load(remedy)
    rows = [[full.encode(row, tokenizer) for row in part] for part in parts]
    pad = tokenizer.pad_token_id

    def validation_loss() -> float:
        return record.held_out_loss(model, rows[1], lambda chosen: loop.collate(chosen, pad))

    full.measure(base, tokenizer, rows[1])
    model = qlora.attach(base, settings)
    early = float("nan")
    for step, _ in enumerate(loop.fit(model, rows[0], settings, pad), start=1):
        early = validation_loss() if step == EARLY else early
    found = {"loss_early": early, "loss_after": validation_loss()}
    found |= full.measure(model, tokenizer, rows[1])
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder)
        saved = PeftModel.from_pretrained(load(remedy)[1], folder)
        expected = lora.logits(model, rows[1][0])
        reloaded = (lora.logits(saved, rows[1][0]) - expected).abs().max().item()
    without = count_stuck(remedy, rows[0][: settings.batch_size])
    return {"remedy": remedy, "stuck": without} | found | {"reloaded": reloaded}


def table(rows: list[dict], seed: int, library: str) -> str:
    """Write the two runs side by side, under what they depend on."""
    lines = [
        f"processor with AVX512-BF16, bitsandbytes {library}, one seed: {seed}",
        f"{'':40}" + "".join(f"{'remedy' if r['remedy'] else 'no remedy':>11}" for r in rows),
    ]
    kinds = {
        "matrices B without gradient, first step": lambda r: f"{len(r['stuck'])}",
        f"validation loss at step {EARLY}": lambda r: f"{r['loss_early']:.3f}",
        "validation loss at the end": lambda r: f"{r['loss_after']:.3f}",
        "requests answered exactly": lambda r: f"{r['exact']:.1%}",
        "capitals known": lambda r: f"{r['recall']:.1%}",
        "logits after reloading differ by": lambda r: f"{r['reloaded']:.3f}",
    }
    lines += [
        f"{name:40}" + "".join(f"{cell(r):>11}" for r in rows) for name, cell in kinds.items()
    ]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Run with and without the remedy, show the table, and record."""
    parser = make_parser(__doc__)
    parser.add_argument("--record", action="store_true", help="refresh trap.json and outputs/")
    folder = HERE if parser.parse_args(argv).record else None
    guard.hush()
    if not has_avx512bf16():
        guard.stop(
            "this processor has no AVX512-BF16: with and without the remedy are the same",
            "read outputs/trap.txt, from a processor that has it",
        )
    parts = read(qlora.TINY.data)
    rows = [run(remedy, parts) for remedy in (True, False)]
    library = version("bitsandbytes")
    record.show(table(rows, qlora.TINY.seed, library), folder, "trap.txt")
    if folder:
        versions = {"peft": version("peft"), "bitsandbytes": library}
        found = {"processor": "AVX512-BF16", "runs": rows}
        record.write(folder, versions | record.settings(qlora.TINY) | found, "trap.json")


if __name__ == "__main__":
    main()
