"""Plan a training on paper: activations by formula, which card, how many hours.

Chapter full/compute-requirements of the course. Arithmetic alone: any computer, no network, no
graphics card, a few seconds. `--record` refreshes plan.json and outputs/.

    python examples/full/compute-requirements/plan.py
    python examples/full/compute-requirements/plan.py --length 1024
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
from memory import PRESETS, Run, Shape, count_parameters, logit_bytes, predict
from memory.activations import layer_bytes
from memory.cards import CARDS
from memory.duration import seconds, seconds_at, training_operations
from memory.predict import METHODS

HERE = Path(__file__).resolve().parent
GIB = 2**30
# NVIDIA's data sheets, products of matrices in 16 bits: fp16 on a T4, bf16 on an A100 (dense).
SPEEDS = {"T4": 65e12, "A100": 312e12}
UTILIZATION = 0.4
EXAMPLES, TOKENS, EPOCHS = 10_000, 450, 3

# --8<-- [start:settings]
SETTINGS = {
    "0.5B, all weights, on a T4": Run(PRESETS["qwen2.5-0.5b"], rows=4),
    "8B, QLoRA, on a T4": Run(PRESETS["llama-3.1-8b"], method="qlora", length=1024),
    "8B, all weights, 8 cards": Run(PRESETS["llama-3.1-8b"], length=2048, gpus=8, shards=3),  # (1)!
}
# --8<-- [end:settings]


# --8<-- [start:fits]
def smallest_card(run: Run) -> int:
    """Return the GB, as sold, of the smallest card that holds a run; 0 when none does."""
    needed = predict(run).total
    sizes = {card.sold for card in CARDS if needed <= card.usable}  # (1)!
    return min(sizes, default=0)


def fit_rows(length: int) -> list[dict]:
    """Find a card for every model and method, one row of tokens a pass, recomputed."""
    rows = []
    for name, shape in PRESETS.items():
        row: dict = {"id": name}
        for method in METHODS:
            run = Run(shape, method=method, length=length)  # (2)!
            row[method] = {"bytes": predict(run).total, "card": smallest_card(run)}
        rows.append(row)
    return rows
    # --8<-- [end:fits]


def activation_rows(shape: Shape, length: int) -> list[dict]:
    """Compare what the layers keep, by type of numbers and of attention, for one row."""
    rows = []
    for compute, attention in (
        ("bf16", "sdpa"),
        ("autocast", "sdpa"),
        ("fp32", "sdpa"),
        ("bf16", "eager"),
        ("fp32", "eager"),
    ):
        layer = layer_bytes(shape, length, compute, attention)
        border = shape.hidden * (2 if compute == "bf16" else 4)
        rows.append(
            {
                "id": f"{compute}, {attention}",
                "per_token": layer,
                "per_feature": round(layer / shape.hidden, 1),
                "stored": layer * shape.layers * length,
                "recomputed": border * shape.layers * length,
                "layer": layer * length,
            }
        )
    return rows


def length_rows(shape: Shape) -> list[dict]:
    """Gather what grows with the tokens of a pass, in GB: under autocast, one row."""
    rows = []
    for length in (128, 512, 1024, 2048, 3072, 4096):
        stored, recomputed = (
            predict(Run(shape, length=length, recompute=recompute)).activations
            for recompute in (False, True)
        )
        logits = logit_bytes(shape, 1, length)
        row = {"stored": stored, "recomputed": recomputed, "logits": logits}
        rows.append({"tokens": length} | {key: size / 1e9 for key, size in row.items()})
    return rows


# --8<-- [start:hours]
def plan_hours(parameters: int, tokens: int, speed: float, recompute: bool = True) -> float:
    """Return the hours of one card, at the share of its speed that we hope to use."""
    operations = training_operations(parameters, tokens, recompute=recompute)  # (1)!
    return seconds(operations, speed, UTILIZATION) / 3600  # (2)!
    # --8<-- [end:hours]


def hour_rows() -> list[dict]:
    """Count the operations of one training, for some models, and the hours of two cards."""
    rows, tokens = [], EXAMPLES * TOKENS * EPOCHS
    for name in ("qwen2.5-0.5b", "llama-3.2-1b", "llama-3.1-8b"):
        parameters = count_parameters(PRESETS[name]).total
        row: dict = {"id": name, "tokens": tokens}
        row["operations"] = training_operations(parameters, tokens)
        row["recomputed"] = training_operations(parameters, tokens, recompute=True)
        hours = {card: round(plan_hours(parameters, tokens, SPEEDS[card]), 2) for card in SPEEDS}
        rows.append(row | hours)
    return rows


def setting_table() -> str:
    """Show the three worked settings: what each card needs, and at which moment."""
    lines = [f"{'':28}{'GB':>8}{'GiB':>8}   peak at        smallest card"]
    for name, run in SETTINGS.items():
        budget = predict(run)
        moment = "the loss" if budget.at_loss >= budget.at_step else "the update"
        lines.append(
            f"{name:28}{budget.total / 1e9:8.1f}{budget.total / GIB:8.1f}   {moment:13}"
            f"{smallest_card(run):5} GB"
        )
    return "\n".join(lines)


def fit_table(rows: list[dict], length: int) -> str:
    """Show GB needed, and the smallest card as sold; `-` when one card is not enough."""
    lines = [f"GB for one row of {length:,} tokens (smallest card, as sold)"]
    lines.append(f"{'model':16}" + "".join(f"{method:>14}" for method in METHODS))
    for row in rows:
        cells = ""
        for method in METHODS:
            card = row[method]["card"] or "-"
            cells += f"{row[method]['bytes'] / 1e9:8.1f} {f'({card})':>5}"
        lines.append(f"{row['id']:16}{cells}")
    return "\n".join(lines)


def activation_table(rows: list[dict], length: int) -> str:
    """Show what the layers keep, and what recomputing leaves of it."""
    lines = [f"a layer, a token{'':32}GiB of {length:,} tokens"]
    heads = ("bytes", "x hidden", "stored", "recomputed", "+ one layer")
    lines.append(f"{'':14}" + "".join(f"{head:>12}" for head in heads))
    for row in rows:
        sizes = "".join(f"{row[key] / GIB:12.2f}" for key in ("stored", "recomputed", "layer"))
        lines.append(f"{row['id']:14}{row['per_token']:12,}{row['per_feature']:12.1f}{sizes}")
    return "\n".join(lines)


def hour_table(rows: list[dict]) -> str:
    """Show operations, and hours of a card."""
    lines = [f"{rows[0]['tokens']:,} tokens   EFLOP   recomputed     T4 hours   A100 hours"]
    for row in rows:
        lines.append(
            f"{row['id']:17}{row['operations'] / 1e18:9.3f}{row['recomputed'] / 1e18:13.3f}"
            f"{row['T4']:13.1f}{row['A100']:13.1f}"
        )
    known = seconds_at(EXAMPLES, EPOCHS, 8)
    lines.append(f"at 8 examples/s, measured: {known:,.0f} s = {known / 60:.1f} min")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--length", type=int, default=2048, help="tokens a row")
    parser.add_argument("--record", action="store_true", help="refresh plan.json and outputs/")
    options = parser.parse_args(argv)
    if options.length < 2:
        guard.stop(f"--length is {options.length}", "give at least 2 tokens: one and the next")
    folder = HERE if options.record else None
    found = {"fits": fit_rows(options.length), "hours": hour_rows()}
    found["activations"] = activation_rows(PRESETS["llama-3.1-8b"], options.length)
    record.show(setting_table(), folder, "settings.txt")
    record.show(activation_table(found["activations"], options.length), folder, "activations.txt")
    record.show(fit_table(found["fits"], options.length), folder, "fits.txt")
    record.show(hour_table(found["hours"]), folder, "hours.txt")
    if folder:
        found["lengths"] = length_rows(PRESETS["qwen2.5-0.5b"])
        record.write(folder, {"settings": {"length": options.length}} | found, "plan.json")


if __name__ == "__main__":
    main()
