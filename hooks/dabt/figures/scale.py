"""Axes: which values to mark, and where a value lies on the paper."""

from dataclasses import dataclass
from math import ceil, floor, log10

from dabt.languages import localise_number


@dataclass(frozen=True)
class Scale:
    """A map from data (`low` to `high`) to user units of the drawing (`start` to `end`).

    Linear, or logarithmic where equal distances mean equal ratios.
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return where `value` lies, rounded to a tenth of a user unit to keep pages light."""
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = log10(value), log10(low), log10(high)
        share = (value - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)


def choose_step(span: float, count: int) -> float:
    """Return 1, 2 or 5 times a power of ten, so that `span` holds at most `count` steps."""
    rough = span / count
    power = 10 ** floor(log10(rough))
    return next(power * one for one in (1, 2, 5, 10) if power * one >= rough * 0.999999)


def choose_ticks(low: float, high: float, count: int = 5) -> tuple[float, ...]:
    """Return round values that cover `low` to `high` with at most `count` + 1 steps.

    Raises:
        ValueError: when there is no span to mark.
    """
    if not high > low:
        raise ValueError(f"no span between {low} and {high}")
    step = choose_step(high - low, count)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return tuple(round(index * step, 12) for index in range(first, last + 1))


def choose_log_ticks(
    low: float, high: float, mantissas: tuple[int, ...] = (1, 2, 5)
) -> tuple[float, ...]:
    """Return the mantissas times powers of ten, the ends at or just outside the data.

    Raises:
        ValueError: for values that have no logarithm, or no span.
    """
    if low <= 0 or not high > low:
        raise ValueError(f"no logarithmic span between {low} and {high}")
    powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
    steps = [round(one * 10**power, 12) for power in powers for one in mantissas]
    first = max(step for step in steps if step <= low)
    last = min(step for step in (*steps, 10 ** powers[-1] * 10) if step >= high)
    return tuple(step for step in steps if first <= step <= last)


def write_number(value: float, language: str) -> str:
    """Return a number as people write it: no trailing zeros, `2e-5` below a thousandth."""
    if value and abs(value) < 1e-3:
        mantissa, exponent = f"{value:.1e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    else:
        text = f"{value:,.3f}".rstrip("0").rstrip(".").replace(",", "\u202f")
    return localise_number(text, language)
