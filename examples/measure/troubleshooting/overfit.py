"""The first test of every diagnosis: can the training learn one batch by heart?

Chapter measure/troubleshooting of the course. If a few rows cannot be learnt, neither can many: the
fault is in the code or its settings, not in the quantity of data. Machine, command, memory:

    any computer, no network   python examples/measure/troubleshooting/overfit.py --tiny
    16 GB, such as a free T4   python examples/measure/troubleshooting/overfit.py         13.6 GB
    24 GB                      the same with --model TinyLlama/TinyLlama_v1.1             21.7 GB
    80 GB                      the same with --model Qwen/Qwen3-4B-Base                   77.7 GB

The memory is that of examples/full/traditional/train.py, whose model, rows and labels are tested:
4 rows of at most 512 tokens. With --tiny, three broken trainings are tested beside the sound one.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser
from common.peak import step_peak
from common.rows import read

# isort: split
import torch
from transformers import AutoConfig, PreTrainedModel, set_seed

from full.traditional import loop
from full.traditional import train as full
from memory import Run, predict, read_config

HERE = Path(__file__).resolve().parent
STEPS, LEARNT = 60, 0.05  # a loss below 0.05: each right token has a probability of 95 %


# --8<-- [start:overfit]
def overfit(model: PreTrainedModel, batch: dict, rate: float, precision: str) -> list[float]:
    """Train on the same batch again and again; give the loss of each step."""
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate, weight_decay=0.0)  # (1)!
    kind = torch.float16 if precision == "fp16" else torch.bfloat16
    scaler = torch.amp.GradScaler(model.device.type, enabled=precision == "fp16")  # (2)!
    losses = []
    for _ in range(STEPS):
        with torch.autocast(model.device.type, kind, enabled=precision != "fp32"):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(loss.item())
        if not losses[-1] >= LEARNT:  # (3)!
            break
    return losses


def verdict(losses: list[float]) -> str:
    """Say what the losses of one batch mean."""
    first, last = losses[0], losses[-1]
    if last != last or first == 0:  # (4)!
        return "nothing to learn, or no number: look at the labels"
    if last < LEARNT:
        return "sound: the batch is learnt"
    if max(losses) > 1.5 * first:  # (5)!
        return "it rises on the way: lower the rate"
    if abs(last - first) < 0.01 * first:
        return "nothing moves: look at what is trained"
    return "not learnt yet: more steps, or a higher rate"
    # --8<-- [end:overfit]


def compare(settings: full.Settings, batch: dict, card: guard.Card) -> list[dict]:
    """Put the sound training to the test; with the tiny base, three broken ones too."""
    rate = settings.learning_rate
    ways = {
        "sound": (batch, rate),
        "every label masked": (batch | {"labels": torch.full_like(batch["labels"], -100)}, rate),
        "rate 100 times too high": (batch, 100 * rate),
        "rate 10,000 times too low": (batch, rate / 10_000),
    }
    results = []
    for name, (rows, wanted) in ways.items() if card.device == "cpu" else [*ways.items()][:1]:
        set_seed(settings.seed)
        _, model = full.load(settings)
        losses = overfit(model.to(card.device), rows, wanted, card.precision)
        results.append({"id": name, "losses": losses, "verdict": verdict(losses)})
    return results


def show(results: list[dict]) -> str:
    """Show what each training made of its one batch."""
    lines = [f"{'training':26}{'steps':>6}{'first loss':>12}{'last loss':>11}   verdict"]
    for row in results:
        first, last = row["losses"][0], row["losses"][-1]
        lines.append(
            f"{row['id']:26}{len(row['losses']):6}{first:12.4f}{last:11.4f}   {row['verdict']}"
        )
    return "\n".join(lines)


def measure_memory(settings: full.Settings, batch: dict, card: guard.Card) -> dict[str, int]:
    """Count the peak of a second step, beside the formula's."""
    _, model = full.load(settings)
    optimizer = torch.optim.AdamW(model.to(card.device).parameters(), lr=0.0, fused=True)

    def step() -> None:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    rows, length = batch["input_ids"].shape
    shape = read_config(model.config.to_dict())
    kept = {"precision": "fp32", "recompute": False, "rows": rows, "length": length}
    return {
        "peak_memory_bytes": step_peak(model, step),
        "predicted_memory_bytes": predict(Run(shape, context=0, accumulate=False, **kept)).total,
    }


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--model", help="folder or name on the Hub")
    parser.add_argument("--data", help="folder with train.jsonl and validation.jsonl, or name")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--record", action="store_true", help="refresh overfit.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> full.Settings:
    """Combine the defaults with what the command line asks for."""
    default = replace(full.TINY if options.tiny else full.Settings(), batch_size=4)
    return choose_settings(default, options)


def main(argv: list[str] | None = None) -> None:
    """Take the first rows, learn them by heart, and say what that shows."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    guard.hush()
    card = guard.find_card(options.tiny)
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model)
    guard.check_memory(card, config, settings.batch_size, settings.max_tokens)
    tokenizer = full.load_tokenizer(settings)
    rows = full.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    batch = loop.collate(rows[: settings.batch_size], tokenizer.pad_token_id)
    batch = {name: tensor.to(card.device) for name, tensor in batch.items()}
    started = time.perf_counter()
    results = compare(settings, batch, card)
    record.show(show(results), folder, "overfit.txt")
    if folder:
        losses = results[0]["losses"]
        facts = {"seconds": round(time.perf_counter() - started, 1)}
        facts |= {"loss_before": losses[0], "loss_after": losses[-1]}
        facts |= measure_memory(settings, batch, card) | {"rows": settings.batch_size}
        verdicts = [
            {"id": one["id"], "steps": len(one["losses"]), "verdict": one["verdict"]}
            for one in results
        ]
        curves = {
            one["id"].split(",")[0].replace(" ", "_"): [
                {"x": step, "y": loss} for step, loss in enumerate(one["losses"], 1) if loss == loss
            ]
            for one in results
        }
        record.write(HERE, facts | {"verdicts": verdicts} | curves, "overfit.json")


if __name__ == "__main__":
    main()
