"""Compare Trainer with the plain loop of chapter full/traditional: the same steps, on one core.

    python benchmarks/examples.py [--epochs 4] [--rounds 2]

Prints tokens per second of CPU time, the peak of memory, and the ratio. CPU time, because it does
not depend on what else the computer does. Each measure is a process of its own, so that a peak
belongs to one of them; rounds alternate.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("trainer", "loop")


def measure(kind: str, epochs: float) -> dict[str, float]:
    """Train the tiny model for some epochs and measure time, tokens and memory."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.insert(0, str(ROOT / "examples"))
    import torch
    from transformers import DataCollatorForSeq2Seq, Trainer

    from common import guard, record
    from common.rows import read
    from full.traditional import loop, train

    torch.set_num_threads(1)
    settings = replace(train.TINY, epochs=epochs, output=Path(tempfile.mkdtemp()))
    tokenizer, model = train.load(settings)
    rows = train.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    before, start = record.peak_memory(), time.process_time()
    if kind == "loop":
        steps = len(list(loop.fit(model, rows, settings, tokenizer.pad_token_id)))
    else:
        args = train.arguments(settings, guard.find_card(tiny=True))
        args = replace(
            args,
            eval_strategy="no",
            save_strategy="no",
            load_best_model_at_end=False,
            disable_tqdm=True,
        )
        collator = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8)
        trainer = Trainer(model=model, args=args, train_dataset=rows, data_collator=collator)
        steps = trainer.train().global_step
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tokens = epochs * sum(len(row["input_ids"]) for row in rows)
    return {"steps": steps, "speed": tokens / seconds, "peak": peak, "added": peak - before}


def run(kind: str, epochs: float) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--kind", kind, "--epochs", str(epochs)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kind", choices=KINDS, help="measure one in this process")
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(measure(options.kind, options.epochs)))
        return
    measured = [(kind, run(kind, options.epochs)) for _ in range(options.rounds) for kind in KINDS]
    best = {
        kind: max((m for k, m in measured if k == kind), key=lambda m: m["speed"]) for kind in KINDS
    }
    print("           steps   tokens/CPU s   peak memory   of it in training")
    for kind, m in best.items():
        print(
            f"{kind:8} {m['steps']:7} {m['speed']:14,.0f} {m['peak'] / 1e6:10,.0f} MB"
            f" {m['added'] / 1e6:16,.0f} MB"
        )
    ratio = best["loop"]["speed"] / best["trainer"]["speed"]
    print(f"the loop's speed is {ratio:.2f} times Trainer's, on the same steps")


if __name__ == "__main__":
    main()
