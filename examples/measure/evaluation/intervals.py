"""How sure is a score? Intervals, paired comparisons, and how many rows they take.

python examples/measure/evaluation/intervals.py 96 120         a score of 96 rows of 120
python examples/measure/evaluation/intervals.py 5 17 --paired  only the first right, the second
"""

import argparse
import math
from collections.abc import Sequence
from statistics import NormalDist

import torch

Z = NormalDist().inv_cdf(0.975)  # 1.96: an interval that holds the truth 95 times in 100
POWER = NormalDist().inv_cdf(0.8)  # 0.84: a difference that is there is seen 80 times in 100
DRAWS = 2000


# --8<-- [start:wilson]
def wilson(right: int, rows: int) -> tuple[float, float]:
    """Give the 95 % interval of a share (Wilson 1927); never below 0, never above 1."""
    share, square = right / rows, Z * Z
    middle = (share + square / (2 * rows)) / (1 + square / rows)  # (1)!
    spread = math.sqrt(share * (1 - share) / rows + square / (4 * rows * rows))
    half = Z * spread / (1 + square / rows)
    low = 0.0 if right == 0 else middle - half  # (2)!
    return low, 1.0 if right == rows else middle + half
    # --8<-- [end:wilson]


# --8<-- [start:bootstrap]
def bootstrap(
    totals: Sequence[float], counts: Sequence[float], seed: int = 42
) -> tuple[float, float]:
    """Give the 95 % interval of sum(totals) / sum(counts), by drawing the rows again.

    A mean loss is such a ratio: the total of each row, and its number of tokens.
    """
    top = torch.tensor(totals, dtype=torch.float64)
    bottom = torch.tensor(counts, dtype=torch.float64)
    chance = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(top), (DRAWS, len(top)), generator=chance)  # (1)!
    ratios = (top[drawn].sum(1) / bottom[drawn].sum(1)).sort().values
    return ratios[round(0.025 * DRAWS)].item(), ratios[round(0.975 * DRAWS) - 1].item()  # (2)!
    # --8<-- [end:bootstrap]


# --8<-- [start:paired]
def mcnemar(only_first: int, only_second: int) -> float:
    """Give the chance of so uneven a split if both models were as good (exact McNemar test)."""
    rows, few = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(rows, k) for k in range(few + 1)) / 2**rows  # (1)!
    return min(1.0, 2 * tail)


def compare(first: Sequence[bool], second: Sequence[bool]) -> dict[str, float]:
    """Compare two models on the same rows."""
    pairs = list(zip(first, second, strict=True))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    low, high = bootstrap([b - a for a, b in pairs], [1] * len(pairs))  # (2)!
    return {
        "rows": len(pairs),
        "both": sum(a and b for a, b in pairs),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_second - only_first) / len(pairs),
        "low": low,
        "high": high,
        "p": mcnemar(only_first, only_second),
    }
    # --8<-- [end:paired]


# --8<-- [start:rows]
def rows_apart(share: float, difference: float) -> int:
    """Count the rows that show a difference between two models asked different questions."""
    other = share + difference
    variance = share * (1 - share) + other * (1 - other)
    return math.ceil((Z + POWER) ** 2 * variance / difference**2)


def rows_paired(disagree: float, difference: float) -> int:
    """Count the rows if both answer the same ones and disagree on this share (Connor 1987)."""
    disagree = max(disagree, difference)  # (1)!
    width = Z * math.sqrt(disagree) + POWER * math.sqrt(disagree - difference**2)
    return math.ceil((width / difference) ** 2)
    # --8<-- [end:rows]


def main(argv: list[str] | None = None) -> None:
    """Answer for two numbers of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=int)
    parser.add_argument("second", type=int)
    parser.add_argument("--paired", action="store_true", help="rows that only one has right")
    options = parser.parse_args(argv)
    if options.paired:
        print(f"p = {mcnemar(options.first, options.second):.4f}")
    elif not 0 <= options.first <= options.second or not options.second:
        parser.error("give the right rows, then all rows")
    else:
        low, high = wilson(options.first, options.second)
        print(f"{options.first / options.second:.1%}, 95 %: {low:.1%} to {high:.1%}")


if __name__ == "__main__":
    main()
