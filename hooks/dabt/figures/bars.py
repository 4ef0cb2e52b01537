"""Bars as a table: to read, to hear and to copy; each row's header draws its numbers as a bar."""

from dataclasses import dataclass
from html import escape

from dabt.languages import localise_number


@dataclass(frozen=True)
class Row:
    """One bar: its name and the sizes of its parts, in the unit of the figure."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Bars:
    """A bar figure. With one part the numbers stand alone; with more, each part has its column."""

    rows: tuple[Row, ...]
    heading: str
    parts: tuple[str, ...]
    total: str
    digits: int
    language: str


def draw_bars(bars: Bars) -> str:
    """Return a `<table>`; the widths are shares of the longest bar, so no script is needed."""
    longest = max(sum(row.values) for row in bars.rows)
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in _name_columns(bars))
    body = "".join(_draw_row(row, bars, longest) for row in bars.rows)
    return (
        # Focusable, so that the keyboard scrolls a table that is wider than a phone.
        '<div class="dabt-bars__frame" tabindex="0" role="group" '
        f'aria-label="{escape(bars.heading, quote=True)}"><table class="dabt-bars"><thead><tr>'
        f'<th scope="col">{escape(bars.heading)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _name_columns(bars: Bars) -> tuple[str, ...]:
    return bars.parts if len(bars.parts) == 1 else (*bars.parts, bars.total)


def _draw_row(row: Row, bars: Bars, longest: float) -> str:
    shown = row.values if len(row.values) == 1 else (*row.values, sum(row.values))
    numbers = "".join(f"<td>{_write(value, bars)}</td>" for value in shown)
    pieces = "".join(
        f'<i class="dabt-bars__part dabt-bars__part--{index}" '
        f'style="inline-size:{100 * value / longest:.2f}%"></i>'
        for index, value in enumerate(row.values, 1)
        if value
    )
    return (
        f'<tr><th scope="row">{escape(row.label)}'
        f'<span class="dabt-bars__bar" aria-hidden="true">{pieces}</span></th>{numbers}</tr>'
    )


def _write(value: float, bars: Bars) -> str:
    """Write a number without trailing zeros; what rounds to zero but is not zero says so."""
    text = f"{value:.{bars.digits}f}"
    least = ""
    if value and float(text) == 0:
        text, least = f"{10**-bars.digits:.{bars.digits}f}", "&lt;\u00a0"
    elif bars.digits:
        text = text.rstrip("0").rstrip(".")
    return least + localise_number(text, bars.language)
