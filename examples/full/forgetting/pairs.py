"""Compare ways of training seed by seed, from what forget.py recorded: no model is run.

    python examples/full/forgetting/pairs.py --record

On any computer, without a network, in a few seconds. A pair is two runs
with the same seed; some of the chance that both share leaves their difference.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
from full.forgetting.forget import HERE, difference, split_facts

SHOWN = ("full", "full-two-epochs", "full-replay-5", "full-replay-20", "lora")
PAIRS = (
    ("full-two-epochs", "full"),
    ("full-low-rate", "full"),
    ("full-replay-5", "full"),
    ("full-replay-20", "full-replay-5"),
    ("full-average-70", "full-low-rate"),
    ("lora", "full"),
)


def counts(runs: Sequence[dict], questions: int) -> str:
    """Show how many questions each seed still answers."""
    seeds = list(dict.fromkeys(run["seed"] for run in runs))
    lines = [f"right, of {questions:<9} seed" + "".join(f"{seed:4}" for seed in seeds)]
    for name in SHOWN:
        own = {run["seed"]: run["question"] for run in runs if run["id"] == name}
        lines.append(f"{name:23}" + "".join(f"{own[seed] * questions:4.0f}" for seed in seeds))
    return "\n".join(lines)


# --8<-- [start:pairs]
def pairs(runs: list[dict], before: dict[str, float]) -> str:
    """Show how much more one way of training retains than another, with its interval."""
    lines = ["retains more, in points            95 % interval"]
    for one, other in PAIRS:
        gap = difference(runs, before, one, other)  # (1)!
        mean, low, high = (100 * gap[key] for key in ("mean", "low", "high"))
        sure = "" if low > 0 or high < 0 else "  may be 0"  # (2)!
        lines.append(f"{one:15} - {other:13}{mean:+6.1f} [{low:+6.1f}, {high:+6.1f}]{sure}")
    return "\n".join(lines)
    # --8<-- [end:pairs]


def main(argv: list[str] | None = None) -> None:
    """Read the record of forget.py and show its pairs."""
    parser = make_parser(__doc__)
    parser.add_argument("--record", action="store_true", help="refresh outputs/pairs.txt")
    options = parser.parse_args(argv)
    guard.hush()
    kept = json.loads((HERE / "record.json").read_text("utf-8"))
    texts = counts(kept["runs"], len(split_facts()[1])), pairs(kept["runs"], kept["before"])
    record.show("\n\n".join(texts), HERE if options.record else None, "pairs.txt")


if __name__ == "__main__":
    main()
