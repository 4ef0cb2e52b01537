"""What is wrong between a figure and its record: found when read, so that drawing cannot fail."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from string import Formatter
from typing import Any

from dabt.figures.model import Axis, Figure
from dabt.figures.render import write_caption
from dabt.problems import did_you_mean

# A message, its code and its mend; all of them stand at the beginning of the figure file.
Fault = tuple[str, str, str]
AGAIN = "record it again with the example"


def entries(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the entries of a list of the record; empty when it holds no list of maps."""
    found = record.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def is_number(value: object) -> bool:
    """Whether a recorded value can be drawn: NaN and infinity cannot."""
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def check_record(figure: Figure) -> Iterator[Fault]:
    """Yield what keeps the record from being drawn as the figure says."""
    if figure.kind == "tokens":
        yield from _check_tokens(figure)
        return
    if not figure.series:
        key = "lines" if figure.kind == "lines" else "parts"
        yield f"'{key}' is empty", "figure-key", "write one entry at least"
        return
    faults = list(_check_values(figure))
    yield from faults
    if not faults:
        yield from _check_spans(figure) if figure.kind == "lines" else _check_rows(figure)


def _check_values(figure: Figure) -> Iterator[Fault]:
    across = figure.x.key if figure.x else ""
    for series in figure.series:
        for entry in entries(figure.record, series.points):
            if across and not (across in entry and series.key in entry):
                continue  # histories mix entries of training and of evaluation
            for key in filter(None, (across, series.key)):
                if not is_number(entry.get(key)):
                    value = entry.get(key, "nothing")
                    message = f"'{key}' in '{series.points}' is {value!r}, which is no number"
                    yield message, "figure-number", AGAIN


def _check_spans(figure: Figure) -> Iterator[Fault]:
    points = [figure.read_points(series) for series in figure.series]
    for series, line in zip(figure.series, points, strict=True):
        xs = [x for x, _ in line]
        if len(line) < 2:
            message = f"'{series.key}' in '{series.points}' has {len(line)} points: no line"
            yield message, "figure-points", f"{AGAIN}, with two values or more"
        elif xs != sorted(set(xs)):
            message = f"the values of the x axis do not rise in '{series.points}'"
            yield message, "figure-points", AGAIN
    if any(len(line) < 2 for line in points):
        return
    yield from _check_span("x", figure.x, [x for line in points for x, _ in line])
    yield from _check_span("y", figure.y, [y for line in points for _, y in line])


def _check_span(name: str, axis: Axis | None, values: list[float]) -> Iterator[Fault]:
    if axis and axis.logarithmic:
        if min(values) <= 0 or min(values) == max(values):
            mend = f"remove 'scale: logarithmic' from '{name}'"
            yield f"a logarithmic {name} axis needs different values above 0", "figure-span", mend
    elif max(values) <= min(0, *values):
        yield f"no value of the {name} axis is above 0", "figure-span", AGAIN


def _check_rows(figure: Figure) -> Iterator[Fault]:
    rows = entries(figure.record, figure.rows)
    for name, count in Counter(str(row.get("id")) for row in rows).items():
        if count > 1:
            yield f"the record has {count} rows '{name}'", "figure-rows", AGAIN
    sizes = [row[series.key] for row in rows for series in figure.series]
    if min(sizes) < 0 or max(sizes) == 0:
        yield "bars need sizes of 0 or more, one above 0", "figure-number", AGAIN
    if len(figure.series) > 1 and not figure.total:
        yield "the key 'total' is missing", "missing-key", "add 'total:', the head of the sums"


def _check_tokens(figure: Figure) -> Iterator[Fault]:
    rows = entries(figure.record, figure.rows)
    for row in rows:
        name, tokens = row["id"], entries(row, "tokens")
        if not tokens or len(tokens) != len(row["tokens"]):
            yield f"the row '{name}' has no list 'tokens'", "figure-tokens", AGAIN
        elif not isinstance(row.get("right", True), bool):
            message = f"'right' in the row '{name}' is neither true nor false"
            yield message, "figure-tokens", AGAIN
        elif not all(map(_is_token, tokens)):
            message = f"a token of '{name}' lacks 'token', 'special' or 'label'"
            yield message, "figure-tokens", AGAIN
    for (name, spoken), count in Counter((r["id"], r.get("language")) for r in rows).items():
        if count > 1:
            yield f"the record has {count} rows '{name}' in '{spoken}'", "figure-rows", AGAIN


def _is_token(token: Mapping[str, Any]) -> bool:
    kinds = {"token": str, "special": bool, "label": int}
    return all(isinstance(token.get(key), kind) for key, kind in kinds.items())


def check_caption(figure: Figure, code: str) -> Iterator[Fault]:
    """Yield what keeps the caption of a language from being written."""
    known = figure.summarise()
    try:
        names = {name for _, name, _, _ in Formatter().parse(figure.caption[code]) if name}
        for name in sorted(names - set(known)):
            mend = did_you_mean(name, sorted(known))
            yield f"unknown number '{name}' in '{code}'", "figure-number", mend
        if names <= set(known):
            write_caption(figure, code)
    except (ValueError, LookupError, TypeError) as error:
        message = f"the caption in '{code}' cannot be written: {error}"
        mend = "write a number as {first_1:.2f}, and braces themselves as {{ and }}"
        yield message, "figure-caption", mend
