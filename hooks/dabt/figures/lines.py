"""A line chart as SVG whose labels are text: the browser shapes the Arabic, themes colour it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from dabt.figures.scale import Scale, choose_log_ticks, choose_ticks, write_number
from dabt.languages import direction

WIDTH, HEIGHT = 420, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 22, 26, 40  # right: half of a long last number
# Numbers stand side by side below the drawing: a mark at each power of ten, and half-way.
SPARSE = (1, 3)

# A scale with the values that it marks.
Ruler = tuple[Scale, tuple[float, ...]]


@dataclass(frozen=True)
class Line:
    """One named series; `points` are (x, y), x ascending."""

    label: str
    points: tuple[tuple[float, float], ...]
    dotted: bool = False


@dataclass(frozen=True)
class Chart:
    """What a line chart shows. An axis begins at zero, unless it is logarithmic."""

    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    summary: str
    language: str
    logarithmic: bool = False
    logarithmic_x: bool = False
    mark_lowest: str = ""


def draw_chart(chart: Chart) -> str:
    """Return the `<svg>`; its axes run left to right in every language, as printed plots do."""
    xs, ys = _choose_scales(chart)
    parts = [
        f'<svg class="dabt-chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'direction="ltr" aria-label="{escape(chart.summary, quote=True)}">',
        *_draw_grid(chart, xs, ys),
        *(_draw_line(index, line, xs, ys) for index, line in enumerate(chart.lines, 1)),
        *_draw_lowest(chart, xs, ys),
        *_draw_labels(chart),
        "</svg>",
    ]
    return "".join(parts)


def _choose_scales(chart: Chart) -> tuple[Ruler, Ruler]:
    across = [x for line in chart.lines for x, _ in line.points]
    upward = [y for line in chart.lines for _, y in line.points]
    if chart.logarithmic_x:
        x_ticks = choose_log_ticks(min(across), max(across), SPARSE)
    else:
        x_ticks = choose_ticks(min(0, *across), max(across))
    if chart.logarithmic:
        y_ticks = choose_log_ticks(min(upward), max(upward))
    else:
        y_ticks = choose_ticks(min(0, *upward), max(upward))
    right = max(across)
    return (
        (
            Scale(x_ticks[0], right, LEFT, WIDTH - RIGHT, chart.logarithmic_x),
            tuple(tick for tick in x_ticks if tick <= right),
        ),
        (Scale(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP, chart.logarithmic), y_ticks),
    )


def _draw_grid(chart: Chart, xs: Ruler, ys: Ruler) -> list[str]:
    (x_scale, x_ticks), (y_scale, y_ticks) = xs, ys
    rows = []
    for tick in y_ticks:
        y = y_scale.place(tick)
        rows.append(f'<path class="dabt-chart__grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>')
        rows.append(
            f'<text class="dabt-chart__tick" x="{LEFT - 6}" y="{y + 4}" text-anchor="end">'
            f"{write_number(tick, chart.language)}</text>"
        )
    for tick in x_ticks:
        rows.append(
            f'<text class="dabt-chart__tick" x="{x_scale.place(tick)}" y="{HEIGHT - BOTTOM + 16}" '
            f'text-anchor="middle">{write_number(tick, chart.language)}</text>'
        )
    return rows


def _draw_line(index: int, line: Line, xs: Ruler, ys: Ruler) -> str:
    path = _trace([(xs[0].place(x), ys[0].place(y)) for x, y in line.points])
    kind = " dabt-chart__line--dotted" if line.dotted else ""
    return f'<path class="dabt-chart__line dabt-chart__line--{index}{kind}" d="{path}"/>'


def _trace(points: Sequence[tuple[float, float]]) -> str:
    """Return a line from its first point on, step by step: shorter than as many places."""
    steps = [
        f"{round(x - before_x, 1):g} {round(y - before_y, 1):g}"
        for (before_x, before_y), (x, y) in pairwise(points)
    ]
    x, y = points[0]
    return f"M{x:g} {y:g}l{' '.join(steps)}"


def _draw_lowest(chart: Chart, xs: Ruler, ys: Ruler) -> list[str]:
    """Mark the lowest point of the last series, with its label, where the chart asks for it."""
    if not chart.mark_lowest:
        return []
    at, low = min(chart.lines[-1].points, key=lambda point: point[1])
    x, y = xs[0].place(at), ys[0].place(low)
    half = WIDTH / 2
    anchor, shift = ("start", 8) if x < half else ("end", -8)
    return [
        f'<path class="dabt-chart__guide" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>',
        f'<circle class="dabt-chart__dot" cx="{x}" cy="{y}" r="4"/>',
        _write(chart, "note", x + shift, TOP + 12, anchor, chart.mark_lowest),
    ]


def _draw_labels(chart: Chart) -> list[str]:
    return [
        _write(chart, "axis", LEFT - 38, 14, "start", chart.y_label),
        _write(chart, "axis", (WIDTH + LEFT - RIGHT) / 2, HEIGHT - 6, "middle", chart.x_label),
    ]


def _write(chart: Chart, kind: str, x: float, y: float, anchor: str, text: str) -> str:
    """Return a label. A right-to-left text begins at its right: its anchor turns round."""
    way = direction(chart.language)
    if way == "rtl":
        anchor = {"start": "end", "end": "start"}.get(anchor, anchor)
    return (
        f'<text class="dabt-chart__{kind}" x="{x}" y="{y}" text-anchor="{anchor}" '
        f'direction="{way}">{escape(text)}</text>'
    )
