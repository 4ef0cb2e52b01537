"""What each GPU must hold with DDP, ZeRO and FSDP2: choose by memory, before renting anything.

    python examples/scale/distributed/shares.py                          Llama-3.1-8B on 80 GB cards
    python examples/scale/distributed/shares.py --model qwen2.5-7b --card 24 --length 1024
    python examples/scale/distributed/shares.py --model path/to/config.json

Static state is 16 B/parameter: fp32 weights, gradients and two moments, or 16-bit weights and
gradients with an fp32 copy. What a stage shares out is divided by the number of GPUs; activations
and logits are not, nor is what ZeRO-3 and FSDP2 gather while they compute: one layer at a time, and
the tables of embeddings and head. Sources: examples/memory, and Rajbhandari et al. 2019 (arXiv
1910.02054).
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser
from memory import PRESETS, Budget, Run, Shape, predict, read_config

HERE = Path(__file__).resolve().parent
STAGES = {"ddp": 0, "zero-1": 1, "zero-2": 2, "zero-3": 3}
NAMES = {"ddp": "DDP", "zero-1": "ZeRO-1", "zero-2": "ZeRO-2", "zero-3": "ZeRO-3, FSDP2"}
COUNTS = (1, 2, 4, 8, 16, 64)


# --8<-- [start:share]
def share(shape: Shape, stage: str, gpus: int, rows: int, length: int) -> Budget:
    """Predict what one of several GPUs holds at the peak of a step."""
    shards = STAGES[stage] if gpus > 1 else 0  # (1)!
    sizes = {"gpus": gpus, "shards": shards, "rows": rows, "length": length}
    return predict(Run(shape, precision="master", **sizes))  # (2)!


def fewest(shape: Shape, stage: str, card: float, rows: int, length: int) -> int | None:
    """Return the smallest number of GPUs on which a run fits, if there is one."""
    fits = (
        gpus for gpus in COUNTS if share(shape, stage, gpus, rows, length).total <= card * 10**9
    )
    return next(fits, None)
    # --8<-- [end:share]


def table(shape: Shape, card: float, rows: int, length: int) -> str:
    """Write GiB of static state by stage and number of GPUs; `*` where the whole run fits."""
    lines = ["static state of each GPU, in GiB"]
    lines.append(f"{'GPUs':18}" + "".join(f"{gpus:9} " for gpus in COUNTS).rstrip())
    for stage, name in NAMES.items():
        cells = ""
        for gpus in COUNTS:
            one = share(shape, stage, gpus, rows, length)
            star = "*" if one.total <= card * 10**9 else " "
            cells += f"{one.static / 2**30:9.1f}{star}"
        lines.append(f"{name:18}{cells}".rstrip())
    rest = share(shape, "ddp", 1, rows, length)
    working = (rest.total - rest.static) / 2**30
    lines.append(
        f"* fits a card of {card:g} GB with {rows} x {length} tokens on each GPU: {working:.1f} GiB"
        " more, shared by nobody"
    )
    return "\n".join(lines)


def share_rows(shape: Shape, gpus: int, rows: int, length: int) -> list[dict]:
    """Return the parts of the static state by stage, in GiB: the bars of a figure."""
    parts = ("weights", "gradients", "optimizer")
    budgets = {stage: share(shape, stage, gpus, rows, length) for stage in STAGES}
    return [
        {"id": stage, "gpus": gpus} | {part: getattr(one, part) / 2**30 for part in parts}
        for stage, one in budgets.items()
    ]


def find_shape(name: str) -> Shape:
    """Read a preset or a config.json."""
    if name in PRESETS:
        return PRESETS[name]
    if not Path(name).is_file():
        guard.stop(f"unknown model {name}", f"a config.json, or one of {', '.join(PRESETS)}")
    try:
        return read_config(json.loads(Path(name).read_text("utf-8")))
    except ValueError as error:
        guard.stop(f"{name}: {error}", "give the config.json of a model of these families")


def main(argv: list[str] | None = None) -> None:
    """Print the table, and how many GPUs each way needs."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="llama-3.1-8b", help="a preset or a config.json")
    parser.add_argument("--card", type=float, default=80, help="GB of one card")
    parser.add_argument("--rows", type=int, default=1, help="rows at once on each GPU")
    parser.add_argument("--length", type=int, default=2048, help="tokens of a row")
    parser.add_argument("--record", action="store_true", help="refresh shares.json and outputs/")
    options = parser.parse_args(argv)
    if min(options.card, options.rows, options.length) <= 0:
        guard.stop("--card, --rows and --length must be above 0", "give the sizes of a real run")
    folder, shape = HERE if options.record else None, find_shape(options.model)
    sizes = (options.rows, options.length)
    lines = [table(shape, options.card, *sizes)]
    for stage, name in NAMES.items():
        count = fewest(shape, stage, options.card, *sizes)
        found = f"fits on {count} GPUs or more" if count else f"does not fit on {COUNTS[-1]} GPUs"
        lines.append(f"{name}: {found}")
    record.show("\n".join(lines), folder, "shares.txt")
    if folder:
        settings = {"model": options.model, "card": options.card, "rows": sizes[0]}
        settings["length"] = sizes[1]
        facts = {"settings": settings, "shares": share_rows(shape, 8, *sizes)}
        record.write(folder, facts, "shares.json")


if __name__ == "__main__":
    main()
