"""What the choices of LoRA change, measured: the learning rate, the matrices, the rank.

Chapter peft/lora of the course. Any computer, no network, a few minutes on a processor:

    python examples/peft/lora/sweep.py
    python examples/peft/lora/sweep.py --record      refresh sweep.json and outputs/sweep.txt

Each row is a short training of the tiny model, from the same base, with the same rows in the same
order and the same number of steps; only the named choice differs. alpha stays 2 x rank, so that the
adapter's scale is 2 at every rank. One seed: differences of a few points are chance.
"""

import sys
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from peft import LoraConfig, get_peft_model
from tiny import exact, recall

HERE = Path(__file__).resolve().parent
EPOCHS, BATCH, SEED = 1, 8, 42
TARGETS = {
    "all": ("q", "k", "v", "o", "gate", "up", "down"),
    "attention": ("q", "k", "v", "o"),
    "query-value": ("q", "v"),
}


# --8<-- [start:choices]
@dataclass(frozen=True)
class Choice:
    """One training: rank 0 is full fine-tuning."""

    learning_rate: float
    rank: int = 0
    targets: str = "all"


SWEEPS = {
    "full_rates": [Choice(rate) for rate in (3e-4, 1e-3, 3e-3, 1e-2)],
    "lora_rates": [Choice(rate, 8) for rate in (1e-3, 3e-3, 1e-2, 3e-2)],  # (1)!
    "targets": [  # (2)!
        Choice(1e-2, 8),
        Choice(1e-2, 20, "attention"),
        Choice(1e-2, 40, "query-value"),
    ],
    "ranks": [Choice(1e-2, rank) for rank in (1, 2, 4, 8, 16, 32)],  # (3)!
    "high_rank": [Choice(rate, 32) for rate in (3e-3, 5e-3, 1e-2)],  # (4)!
}
# --8<-- [end:choices]


def prepare(choice: Choice) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the base, and give it an adapter where the choice has a rank."""
    tokenizer, model = full.load(full.TINY)
    if choice.rank:
        names = [f"{n}_proj" for n in TARGETS[choice.targets]]
        torch.manual_seed(SEED)
        model = get_peft_model(
            model,
            LoraConfig(
                r=choice.rank,
                lora_alpha=2 * choice.rank,
                target_modules=names,
                task_type="CAUSAL_LM",
            ),
        )
    return tokenizer, model


def run(choice: Choice, parts: list[list[dict]], epochs: float = EPOCHS) -> dict:
    """Train with one choice, and measure what came of it."""
    tokenizer, model = prepare(choice)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    rows = [[full.encode(row, tokenizer) for row in part] for part in parts]
    settings = replace(
        full.TINY,
        learning_rate=choice.learning_rate,
        epochs=epochs,
        batch_size=BATCH,
        seed=SEED,
        weight_decay=0.0,
    )
    losses = list(loop.fit(model, rows[0], settings, tokenizer.pad_token_id))
    return {
        "id": f"{choice.targets}-{choice.rank}",
        "learning_rate": choice.learning_rate,
        "rank": choice.rank,
        "targets": choice.targets,
        "parameters": trained,
        "first_loss": round(losses[0], 6),
        "loss": round(validation_loss(model, rows[1], tokenizer.pad_token_id), 6),
        "exact": exact(rows[1], model),
        "recall": recall(model, tokenizer),
    }


@torch.no_grad()
def validation_loss(model: PreTrainedModel, rows: list[dict], pad: int) -> float:
    """Mean loss of the learnt tokens of rows, in nats."""
    model.eval()
    return model(**loop.collate(rows, pad)).loss.item()


def table(found: dict[str, list[dict]]) -> str:
    """Show the sweeps, one under the other."""
    lines = []
    for name, rows in found.items():
        title = f"{name:11} rank  learning rate  trained  validation loss   exact   capitals"
        lines += ["", title] if lines else [title]
        for row in rows:
            lines.append(
                f"{row['targets']:11} {row['rank'] or '-':>4} {row['learning_rate']:14.0e}"
                f" {row['parameters']:8,} {row['loss']:16.3f} {row['exact']:7.1%}"
                f" {row['recall']:10.1%}"
            )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Run every choice once, show the table, and record."""
    parser = make_parser(__doc__)
    parser.add_argument("--record", action="store_true", help="refresh sweep.json and outputs/")
    folder = HERE if parser.parse_args(argv).record else None
    guard.hush()
    parts, done, found = read(full.TINY.data), {}, {}
    for name, choices in SWEEPS.items():
        for choice in choices:
            if choice not in done:
                done[choice] = run(choice, parts)
                print(choice, done[choice], flush=True)
        found[name] = [done[choice] for choice in choices]
    record.show(table(found), folder, "sweep.txt")
    if folder:
        settings = {
            "peft": version("peft"),
            "epochs": EPOCHS,
            "seed": SEED,
            "batch_size": BATCH,
        }
        record.write(folder, {"settings": settings} | found, "sweep.json")


if __name__ == "__main__":
    main()
