"""Two questions about DPO, answered by short runs of train.py on the tiny model, in two minutes:

    python examples/align/dpo/compare.py
    python examples/align/dpo/compare.py --record

1. Where do the reference's log-probabilities come from? A separate copy, the base with the adapter
   off, or numbers computed once before training: the losses are the same, the memory is not.
2. What do the pairs teach? The same model, trained on pairs that differ in truth alone, in length
   alone, in both, and in length the other way round: how long are its answers afterwards?
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import torch
from transformers import AutoModelForCausalLM

from align.dpo import train as dpo
from common.peak import step_peak
from full.traditional import train as full
from peft import get_peft_model

HERE = Path(__file__).resolve().parent
CARD = guard.Card("CPU", 0, "fp32")
STEPS = 6
WAYS = (  # rank of the adapter (0: every weight is trained), reference
    (8, "copy"),
    (8, "adapter-off"),
    (8, "precomputed"),
    (0, "copy"),
    (0, "precomputed"),
)
# Which pairs, and by how much the learning rate is multiplied.
LESSONS = {
    "wrong": (("wrong",), 1),
    "long": (("long",), 1),
    "longer": (("long",), 1),
    "both": (("wrong", "long"), 1),
    "hard": (("wrong", "long"), 4),
}


# --8<-- [start:references]
def reference_losses(start: Path, rank: int, reference: str, parts: list, tokenizer) -> list[float]:
    """Train a few steps with TRL, and return the loss of each."""
    settings = replace(dpo.TINY, rank=rank, reference=reference, output=start.parent / "compare")
    full.set_seed(settings.seed)  # (1)!
    trainer = dpo.make_trainer(start, settings, CARD, parts, tokenizer)
    trainer.args.max_steps, trainer.args.logging_steps = STEPS, 1
    trainer.args.save_strategy = trainer.args.eval_strategy = "no"
    if rank == 0:
        trainer.args.learning_rate = settings.learning_rate / 10  # (2)!
    trainer.train()
    return [entry["loss"] for entry in dpo.history(trainer.state.log_history)]


def reference_peak(start: Path, rank: int, reference: str, pairs: list, tokenizer) -> dict:
    """Count the bytes of weights, and of all tensors at the peak of a step written by hand."""
    model = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    copy = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    if rank:
        model = get_peft_model(model, dpo.adapter(replace(dpo.TINY, rank=rank)))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    rows = [row for pair in pairs[: dpo.TINY.batch_size] for row in dpo.encode(pair, tokenizer)]
    pad = tokenizer.pad_token_id
    known = dpo.score(copy, pairs[: dpo.TINY.batch_size], tokenizer)  # (3)!

    @torch.no_grad()
    def of_reference() -> torch.Tensor:
        if reference == "precomputed":
            return known
        if reference == "copy":
            return dpo.log_probabilities(copy, rows, pad).view(-1, 2)  # (4)!
        with model.disable_adapter():
            return dpo.log_probabilities(model, rows, pad).view(-1, 2)  # (5)!

    def step() -> None:
        was = of_reference()
        policy = dpo.log_probabilities(model, rows, pad).view(-1, 2)
        dpo.dpo_loss(policy, was, dpo.TINY.beta).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    held = torch.nn.ModuleList([model, copy] if reference == "copy" else [model])
    step()  # makes the optimiser's states
    weights = sum(4 * p.numel() for p in held.parameters())
    return {"weights": weights, "peak": step_peak(held, step)}
    # --8<-- [end:references]


# --8<-- [start:lessons]
def choose_pairs(pairs: list[dict], lesson: str) -> list[dict]:
    """Keep the pairs of a lesson; in the last one the long-winded answer is the preferred one."""
    kept = [pair for pair in pairs if pair["kind"] in LESSONS[lesson][0]]
    if lesson == "longer":
        return [p | {"chosen": p["rejected"], "rejected": p["chosen"]} for p in kept]  # (1)!
    return kept


def teach(start: Path, lesson: str, parts: list, tokenizer) -> dict:
    """Train on the pairs of a lesson, as many steps for each, and measure on held-out pairs."""
    rate = dpo.TINY.learning_rate * LESSONS[lesson][1]
    settings = replace(dpo.TINY, learning_rate=rate, output=start.parent / "compare")
    full.set_seed(settings.seed)
    chosen = [choose_pairs(part, lesson) for part in parts]
    trainer = dpo.make_trainer(start, settings, CARD, chosen, tokenizer)
    trainer.args.max_steps = 24  # (2)!
    trainer.args.save_strategy = trainer.args.eval_strategy = "no"
    model = trainer.model
    before = dpo.score(model, chosen[1], tokenizer)
    trainer.train()
    measures = dpo.measure(model, chosen[1], before, tokenizer, settings.beta)
    was = {
        "chosen_before": before[:, 0].mean().item(),
        "rejected_before": before[:, 1].mean().item(),
    }
    names = ("chosen", "rejected", "length", "right", "accuracy")
    lengths = [mean_tokens(chosen[0], name, tokenizer) for name in ("chosen", "rejected")]
    told = {"pairs_chosen": lengths[0], "pairs_rejected": lengths[1]}
    return {"lesson": lesson} | told | was | {name: measures[name] for name in names}
    # --8<-- [end:lessons]


def mean_tokens(pairs: list[dict], name: str, tokenizer) -> float:
    """Mean tokens of the preferred or of the rejected answers."""
    texts = [pair[name][0]["content"] for pair in pairs]
    return sum(len(tokenizer(t, add_special_tokens=False).input_ids) for t in texts) / len(texts)


def way_table(rows: list[dict]) -> str:
    """Show the losses and the memory of each way to have a reference."""
    lines = [f"{'trained':9}{'reference':13}{'weights':>9}{'peak':>9}   losses of TRL's steps"]
    for row in rows:
        trained = f"rank {row['rank']}" if row["rank"] else "all"
        losses = " ".join(f"{loss:.4f}" for loss in row["losses"])
        memory = f"{row['weights'] / 1e6:6.1f} MB{row['peak'] / 1e6:6.1f} MB"
        lines.append(f"{trained:9}{row['reference']:13}{memory}   {losses}")
    return "\n".join(lines)


def lesson_table(before: dict, rows: list[dict]) -> str:
    """Show what each kind of pair did to log-probabilities and to the length of answers."""
    labels = {
        "wrong": "right, not wrong",
        "long": "short, not long",
        "longer": "long, not short",
        "both": "right and short",
        "hard": "both, rate x 4",
    }
    lines = [
        f"{'':18}{'tokens in the pairs':>21}   {'log-probability':^29}{'an answer':>11}",
        f"{'pairs teach':18}{'preferred':>11}{'rejected':>10}   "
        f"{'of preferred':>15}{'of rejected':>14}{'tokens':>11}{'right':>7}",
    ]
    lines.append(f"{'(before)':70}{before['length']:7.1f}{before['right']:7.0%}")
    for row in rows:
        chosen = f"{row['chosen_before']:.2f} > {row['chosen']:.2f}"
        rejected = f"{row['rejected_before']:.1f} > {row['rejected']:.1f}"
        lines.append(
            f"{labels[row['lesson']]:18}{row['pairs_chosen']:11.1f}{row['pairs_rejected']:10.1f}   "
            f"{chosen:>15}{rejected:>14}{row['length']:11.1f}{row['right']:7.0%}"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Answer both questions."""
    parser = make_parser(__doc__)
    parser.add_argument("--output", type=Path, default=Path("output/dpo-tiny"))
    parser.add_argument("--record", action="store_true", help="refresh compare.json and outputs/")
    options = guard.check_options(parser.parse_args(argv))
    folder = HERE if options.record else None
    dpo.hush()
    settings = replace(dpo.TINY, output=options.output)
    full.set_seed(settings.seed)
    start = dpo.demonstrate(settings)
    tokenizer, model = full.load(replace(settings, model=str(start)))
    parts = dpo.read_pairs(settings, tokenizer)

    ways = []
    for rank, reference in WAYS:
        found = reference_peak(start, rank, reference, parts[0], tokenizer)
        found["losses"] = reference_losses(start, rank, reference, parts, tokenizer)
        ways.append({"rank": rank, "reference": reference} | found)
    record.show(way_table(ways), folder, "references.txt")

    was = dpo.score(model, parts[1], tokenizer)
    before = dpo.measure(model, parts[1], was, tokenizer, settings.beta)
    lessons = [teach(start, lesson, parts, tokenizer) for lesson in LESSONS]
    record.show(lesson_table(before, lessons), folder, "lessons.txt")
    if folder:
        record.write(
            folder, {"ways": ways, "before": before, "lessons": lessons}, name="compare.json"
        )


if __name__ == "__main__":
    main()
