"""A figure as HTML: drawing, legend, a caption with computed numbers, the data as a table."""

import string
from html import escape

from dabt.figures.bars import Bars, Row, draw_bars
from dabt.figures.lines import Chart, Line, draw_chart
from dabt.figures.model import Figure
from dabt.figures.scale import write_number
from dabt.figures.tokens import draw_tokens, read_row
from dabt.languages import localise_number
from dabt.ui import Ui

TABLE_ROWS = 24


def render_figure(figure: Figure, language: str, ui: Ui) -> str:
    """Return the `<figure>` of a figure in one language."""
    body = {"lines": _render_lines, "bars": _render_bars, "tokens": _render_tokens}[figure.kind]
    return (
        f'<figure class="dabt-figure dabt-figure--{figure.kind}" id="figure-{figure.slug}" '
        f'data-figure="{figure.slug}">{body(figure, language, ui)}</figure>'
    )


def write_caption(figure: Figure, language: str) -> str:
    """Return the caption with the record's numbers in the place of its {names}."""
    return Formatter(language).format(figure.caption[language], **figure.summarise())


class Formatter(string.Formatter):
    """Writes numbers as a language does; without a format, as people write them (`2e-5`)."""

    def __init__(self, language: str) -> None:
        """Keep the language."""
        self.language = language

    def format_field(self, value: float, format_spec: str) -> str:
        """Return one number as text."""
        if not format_spec:
            return write_number(value, self.language)
        return localise_number(format(value, format_spec), self.language)


def _render_lines(figure: Figure, language: str, ui: Ui) -> str:
    caption = write_caption(figure, language)
    chart = Chart(
        lines=tuple(
            Line(series.label[language], figure.read_points(series)) for series in figure.series
        ),
        x_label=figure.x.label[language],
        y_label=figure.y.label[language],
        summary=caption,
        language=language,
        logarithmic=figure.y.logarithmic,
        logarithmic_x=figure.x.logarithmic,
        mark_lowest=figure.mark_lowest[language] if figure.mark_lowest else "",
    )
    return (
        f"{draw_chart(chart)}{_draw_legend(figure, language)}"
        f"<figcaption>{escape(caption)}</figcaption>{_draw_data(figure, chart, ui, language)}"
    )


def _draw_legend(figure: Figure, language: str) -> str:
    if len(figure.series) < 2:
        return ""
    items = "".join(
        f'<li><i class="dabt-legend__key dabt-legend__key--{index}"></i>'
        f"{escape(series.label[language])}</li>"
        for index, series in enumerate(figure.series, 1)
    )
    return f'<ul class="dabt-legend">{items}</ul>'


def _draw_data(figure: Figure, chart: Chart, ui: Ui, language: str) -> str:
    """Draw the numbers behind the lines, at the x values of the shortest one, a page at most.

    On a logarithmic x axis the lines are sweeps, each of its own few values: all of them.
    """
    tables = [dict(line.points) for line in chart.lines]
    xs = sorted(set().union(*tables) if chart.logarithmic_x else min(tables, key=len))
    kept = xs[:: -(-len(xs) // TABLE_ROWS)]
    if xs[-1] not in kept:
        kept.append(xs[-1])
    head = "".join(
        f'<th scope="col">{escape(text)}</th>'
        for text in (chart.x_label, *(line.label for line in chart.lines))
    )
    body = "".join(
        f'<tr><th scope="row">{escape(write_number(x, language))}</th>'
        f"{''.join(_draw_cell(table.get(x), language) for table in tables)}</tr>"
        for x in kept
    )
    return (
        f'<details class="dabt-figure__data"><summary>{escape(ui.text("figure.data", language))}'
        f"</summary><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details>"
    )


def _draw_cell(value: float | None, language: str) -> str:
    if value is None:
        return "<td>–</td>"
    large = abs(value) >= 999.5  # three digits of it would be written as 1e+03
    short = localise_number(f"{value:.3g}", language)
    return f"<td>{write_number(round(value), language) if large else short}</td>"


def _render_bars(figure: Figure, language: str, ui: Ui) -> str:
    rows = tuple(
        Row(
            figure.names[str(entry["id"])][language],
            tuple(float(entry[series.key]) for series in figure.series),
        )
        for entry in figure.record[figure.rows]
    )
    bars = Bars(
        rows=rows,
        heading=figure.heading[language],
        parts=tuple(series.label[language] for series in figure.series),
        total=figure.total[language] if figure.total else "",
        digits=figure.digits,
        language=language,
    )
    caption = f"<figcaption>{escape(write_caption(figure, language))}</figcaption>"
    return f"{draw_bars(bars)}{_draw_legend(figure, language)}{caption}"


def _render_tokens(figure: Figure, language: str, ui: Ui) -> str:
    recorded = figure.choose_rows(language)
    longest = max((row["tokens"] for row in recorded), key=len)
    rows = tuple(read_row(figure.names[row["id"]][language], row, longest) for row in recorded)
    caption = f"<figcaption>{escape(write_caption(figure, language))}</figcaption>"
    return f"{draw_tokens(rows, language, ui)}{caption}"
