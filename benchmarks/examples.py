"""Compare ways to train with the plain loop of chapter full/traditional: speed and memory.

    python benchmarks/examples.py [--epochs 4] [--rounds 2]
    python benchmarks/examples.py --records      what every program of the course has recorded

Prints tokens per second of CPU time and the process's peak of memory, each beside the loop's of the
same run; then the peak of the tensors of a step, beside what examples/memory predicts. CPU time,
because it does not depend on what else the computer does. Each measure is a process of its own, so
that a peak belongs to one of them; rounds alternate.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("loop", "trainer", "lora", "qlora")
RANK = 8
KEYS = ("seconds", "loss_before", "loss_after", "peak_memory_bytes", "predicted_memory_bytes")


def prepare(kind: str, settings):
    """Load tokenizer and model: whole, with an adapter, or with an adapter on 4-bit weights."""
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig

    from full.traditional import train
    from peft import LoraConfig, get_peft_model

    tokenizer, model = train.load(settings)
    if kind == "qlora":
        four_bit = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
        model = AutoModelForCausalLM.from_pretrained(
            settings.model, dtype=torch.bfloat16, quantization_config=four_bit
        )
    if kind in ("lora", "qlora"):
        config = LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear")
        model = get_peft_model(model, config)
    return tokenizer, model


def fit_with_trainer(model, tokenizer, rows: list[dict], settings) -> int:
    """Train with Trainer, which neither evaluates nor saves; return the number of steps."""
    from transformers import DataCollatorForSeq2Seq, Trainer

    from common import guard
    from full.traditional import train

    args = replace(
        train.arguments(settings, guard.find_card(tiny=True)),
        eval_strategy="no",
        save_strategy="no",
        load_best_model_at_end=False,
        disable_tqdm=True,
    )
    collator = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8)
    trainer = Trainer(model=model, args=args, train_dataset=rows, data_collator=collator)
    return trainer.train().global_step


def step_memory(kind: str, model, tokenizer, rows: list[dict], batch_size: int) -> dict[str, int]:
    """Measure the peak of the tensors of a step, and predict it."""
    from functools import partial

    from common import record
    from full.traditional import loop
    from memory import Run, predict, read_config

    collate = partial(loop.collate, pad=tokenizer.pad_token_id)
    rank = RANK if kind in ("lora", "qlora") else 0
    found = record.memory(model, rows, collate, batch_size, rank)
    if kind == "qlora":
        longest = sorted(rows, key=lambda row: len(row["input_ids"]))[-batch_size:]
        run = Run(
            read_config(model.config.to_dict()),
            method="qlora",
            rank=RANK,
            rows=batch_size,
            length=collate(longest)["input_ids"].shape[1],
            recompute=False,
            context=0,
            accumulate=False,
        )
        found["predicted_memory_bytes"] = predict(run).total
    return found


def measure(kind: str, epochs: float) -> dict[str, float]:
    """Train the tiny model for some epochs and measure time, tokens and memory."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(0, str(ROOT / "examples"))
    import torch

    from common import guard, record
    from common.rows import read
    from full.traditional import loop, train

    torch.set_num_threads(1)
    guard.hush()
    settings = replace(train.TINY, epochs=epochs, output=Path(tempfile.mkdtemp()))
    tokenizer, model = prepare(kind, settings)
    rows = train.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    before, start = record.peak_memory(), time.process_time()
    if kind == "trainer":
        steps = fit_with_trainer(model, tokenizer, rows, settings)
    else:
        steps = len(list(loop.fit(model, rows, settings, tokenizer.pad_token_id)))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tokens = epochs * sum(len(row["input_ids"]) for row in rows)
    found = {"steps": steps, "speed": tokens / seconds, "peak": peak, "added": peak - before}
    return found | step_memory(kind, model, tokenizer, rows, settings.batch_size)


def run(kind: str, epochs: float) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--kind", kind, "--epochs", str(epochs)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(answer.stdout.splitlines()[-1])


def speed_table(best: dict[str, dict]) -> str:
    """Show speed and memory of the process, and their ratio to the loop's."""
    loop = best["loop"]
    lines = ["         steps  tokens/CPU s  to loop   process's peak  in training  to loop"]
    for kind, m in best.items():
        lines.append(
            f"{kind:8}{m['steps']:6}{m['speed']:14,.0f}{m['speed'] / loop['speed']:9.2f}"
            f"{m['peak'] / 1e6:14,.0f} MB{m['added'] / 1e6:10,.0f} MB"
            f"{m['added'] / loop['added']:9.2f}"
        )
    return "\n".join(lines)


def memory_table(best: dict[str, dict]) -> str:
    """Show the peak of the tensors of a step, measured and predicted."""
    lines = ["          tensors of a step    predicted   predicted/measured"]
    for kind, m in best.items():
        peak, predicted = m["peak_memory_bytes"], m["predicted_memory_bytes"]
        lines.append(
            f"{kind:8}{peak / 1e6:18.1f} MB{predicted / 1e6:10.1f} MB{predicted / peak:21.2f}"
        )
    return "\n".join(lines)


def find_records() -> Iterator[tuple[str, dict]]:
    """Read the records of the programs that train: those that hold the five figures."""
    for path in sorted((ROOT / "examples").rglob("record.json")):
        found = json.loads(path.read_text("utf-8"))
        if all(key in found for key in KEYS):
            yield str(path.parent.relative_to(ROOT / "examples")), found


def record_table() -> str:
    """Show what each program recorded; memory is that of the tensors of a step."""
    lines = ["                              seconds   held-out loss     measured    predicted"]
    for name, found in find_records():
        seconds, before, after, peak, predicted = (found[key] for key in KEYS)
        lines.append(
            f"{name:28}{seconds:9.1f}{before:8.3f} ->{after:6.3f}"
            f"{peak / 1e6:10.1f} MB{predicted / 1e6:10.1f} MB"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kind", choices=KINDS, help="measure one in this process")
    parser.add_argument("--records", action="store_true", help="show what is recorded, and stop")
    options = parser.parse_args()
    if options.records:
        print(record_table())
        return
    if options.kind:
        print(json.dumps(measure(options.kind, options.epochs)))
        return
    measured = [(kind, run(kind, options.epochs)) for _ in range(options.rounds) for kind in KINDS]
    best = {
        kind: max((m for k, m in measured if k == kind), key=lambda m: m["speed"]) for kind in KINDS
    }
    print(speed_table(best))
    print()
    print(memory_table(best))


if __name__ == "__main__":
    main()
