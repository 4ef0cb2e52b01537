"""What 4 bits save and cost: memory by method, and QLoRA beside LoRA, the same rows and seeds.

Chapter peft/qlora of the course. Any computer, no network, a few minutes on a processor:

    python examples/peft/qlora/compare.py
    python examples/peft/qlora/compare.py --record      refresh compare.json and outputs/compare.txt

Memory is predicted for an 8B model. Each run trains the tiny model from the same base; only what
holds the base's linear layers differs: fp32, NF4 as QLoRA asks for it, the library's defaults.
Time is that of the processor, as a ratio to LoRA's: what a GPU shows depends on its kernels.
"""

import sys
import time
import warnings
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel, set_seed

from peft import prepare_model_for_kbit_training

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `peft` itself is the library
from lora import train as lora
from lora.sweep import validation_loss
from qlora import train as qlora

from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from memory import PRESETS, Run, predict
from tiny import BASE

HERE = Path(__file__).resolve().parent
SEEDS = (42, 43, 44)
CARD = guard.Card("CPU", 0, "fp32")


# --8<-- [start:kinds]
KINDS: dict[str, BitsAndBytesConfig | None] = {
    "lora": None,  # (1)!
    "qlora": qlora.quantization(CARD),
    "defaults": BitsAndBytesConfig(load_in_4bit=True),  # (2)!
}


def build(kind: str) -> PreTrainedModel:
    """Load the base as this kind holds it, frozen, its other weights in fp32."""
    base = AutoModelForCausalLM.from_pretrained(
        BASE, dtype=torch.float32, quantization_config=KINDS[kind], device_map={"": "cpu"}
    )
    qlora.keep_gradients(base)
    return prepare_model_for_kbit_training(base, use_gradient_checkpointing=False)  # (3)!
    # --8<-- [end:kinds]


NAMES = {"lora": "LoRA", "qlora": "QLoRA (NF4)", "defaults": "defaults (FP4)"}


def run(kind: str, seed: int, parts: list[list[dict]], epochs: float = 4) -> dict:
    """Train once, and measure before and after."""
    tokenizer = full.load_tokenizer(full.TINY)
    rows = [[full.encode(row, tokenizer) for row in part] for part in parts]
    settings = replace(lora.TINY, seed=seed, epochs=epochs)
    base = build(kind)
    before = full.measure(base, tokenizer, rows[1])
    loss_before = validation_loss(base, rows[1], tokenizer.pad_token_id)
    set_seed(seed)
    model = lora.attach(base, settings)
    started = time.process_time()
    losses = list(loop.fit(model, rows[0], settings, tokenizer.pad_token_id))
    seconds = time.process_time() - started
    loss_after = validation_loss(model, rows[1], tokenizer.pad_token_id)
    return {
        "id": kind,
        "seed": seed,
        "loss_before": round(loss_before, 6),
        "recall_before": before["recall"],
        "loss_after": round(loss_after, 6),
        **full.measure(model, tokenizer, rows[1]),
        "seconds_per_step": seconds / len(losses),
    }


def summary(runs: list[dict]) -> list[dict]:
    """Give each kind the mean over its seeds, and its time as a ratio to LoRA's."""
    rows = []
    for kind in KINDS:
        own = [one for one in runs if one["id"] == kind]
        keys = [key for key in own[0] if key not in ("id", "seed", "seconds_per_step")]
        row = {"id": kind} | {key: sum(one[key] for one in own) / len(own) for key in keys}
        row["losses"] = [one["loss_after"] for one in own]
        row["seconds_per_step"] = min(one["seconds_per_step"] for one in own)
        row["time_ratio"] = row["seconds_per_step"] / (rows or [row])[0]["seconds_per_step"]
        rows.append(row)
    return rows


def table(rows: list[dict]) -> str:
    """Write the means, with the lowest and highest loss of the seeds."""
    lines = [f"{'':16}loss before   after (lowest to highest)    exact   capitals    time"]
    for row in rows:
        low, high = min(row["losses"]), max(row["losses"])
        lines.append(
            f"{NAMES[row['id']]:16}{row['loss_before']:11.3f}{row['loss_after']:8.3f}"
            f"   ({low:.3f} to {high:.3f}){row['exact']:13.1%}{row['recall']:11.1%}"
            f"{row['time_ratio']:8.2f}"
        )
    return "\n".join(lines)


# --8<-- [start:budget]
def budget() -> list[dict]:
    """Predict, in bytes, what an 8B model needs by method: the batch of train.py's default."""
    shape, settings = PRESETS["qwen3-8b"], qlora.Settings()
    sizes = {"rows": settings.batch_size, "length": settings.max_tokens, "rank": settings.rank}
    runs = {
        "full": Run(shape, **sizes),
        "lora": Run(shape, method="lora", **sizes),
        "qlora-16": Run(shape, method="qlora", optimizer="adamw-8bit", **sizes),  # (1)!
    }
    rows = []
    for name, one in (*runs.items(), ("qlora", runs["qlora-16"])):
        found = predict(one)
        cast = (qlora.cast_bytes(shape), qlora.autocast_bytes(one)) if name == "qlora" else (0, 0)
        row = {
            "id": name,
            "weights": found.weights + cast[0],  # (2)!
            "learning": found.gradients + found.optimizer,
            "step": found.copies + found.activations + found.logits + cast[1],
            "cuda": found.context,
        }
        rows.append(row | {"total": sum(size for key, size in row.items() if key != "id")})
    return rows
    # --8<-- [end:budget]


def gigabytes(rows: list[dict]) -> list[dict]:
    """Give what one card could hold, in GB, as a figure draws it: all methods but the full one."""
    kept = [row for row in rows if row["id"] != "full"]
    return [
        {
            "id": row["id"],
            "weights": row["weights"] / 1e9,
            "learning": row["learning"] / 1e9,
            "rest": (row["step"] + row["cuda"]) / 1e9,
        }
        for row in kept
    ]


def budget_table(rows: list[dict]) -> str:
    """Write the predictions in GB."""
    names = {"full": "full", "lora": "LoRA", "qlora-16": "QLoRA, no cast", "qlora": "QLoRA"}
    lines = [f"GB, Qwen3-8B{'':6}weights  gradients, states  step   CUDA   total"]
    for row in rows:
        weights, learning, step, cuda, total = (row[key] / 1e9 for key in list(row)[1:])
        lines.append(
            f"{names[row['id']]:16}{weights:9.1f}{learning:19.1f}{step:6.1f}{cuda:7.1f}{total:8.1f}"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Train each kind with each seed, show the table, and record."""
    parser = make_parser(__doc__)
    parser.add_argument("--record", action="store_true", help="refresh compare.json and outputs/")
    folder = HERE if parser.parse_args(argv).record else None
    guard.hush()
    warnings.filterwarnings("ignore", "`(is_)?gradient_checkpointing", FutureWarning)  # PEFT's
    sizes = budget()
    record.show(budget_table(sizes), folder, "budget.txt")
    parts, runs = read(full.TINY.data), []
    for seed in SEEDS:  # the kinds alternate: what else the computer does disturbs all alike
        for kind in KINDS:
            runs.append(run(kind, seed, parts))
            print(runs[-1], flush=True)
    rows = summary(runs)
    record.show(table(rows), folder, "compare.txt")
    if folder:
        versions = {"peft": version("peft"), "bitsandbytes": version("bitsandbytes")}
        settings = record.settings(lora.TINY) | {"seeds": SEEDS}
        memory = {"budget": sizes, "gigabytes": gigabytes(sizes)}
        found = versions | settings | memory | {"kinds": rows, "runs": runs}
        record.write(folder, found, "compare.json")


if __name__ == "__main__":
    main()
