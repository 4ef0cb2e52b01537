"""What a figure is: which recorded numbers it shows, and its words in every language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Words = Mapping[str, str]


@dataclass(frozen=True)
class Axis:
    """One axis of a line figure: its label, the key of its values (x), its kind of scale."""

    key: str
    label: Words
    logarithmic: bool = False


@dataclass(frozen=True)
class Series:
    """One line or part: the list in the record (`points`), the key of its values, its label."""

    points: str
    key: str
    label: Words


@dataclass(frozen=True)
class Figure:
    """A figure file with the record it draws.

    `kind` is "lines", "bars" or "tokens". A caption may hold {first_1}, {last_1}, {low_1}, {at_1}
    (where the lowest is), {high_1} and {top_1} (where the highest is) for series 1, 2, … A plain
    name writes the number as it comes (`2e-5`), {low_1:.2f} with two digits.
    """

    slug: str
    kind: str
    record: Mapping[str, Any]
    series: tuple[Series, ...]
    caption: Words
    x: Axis | None = None
    y: Axis | None = None
    mark_lowest: Words | None = None
    rows: str = ""
    names: Mapping[str, Words] | None = None
    heading: Words | None = None
    total: Words | None = None
    digits: int = 0

    def read_points(self, series: Series) -> tuple[tuple[float, float], ...]:
        """Return the (x, y) of a series, from the entries of the record that have both."""
        across = self.x.key if self.x else ""
        return tuple(
            (float(entry[across]), float(entry[series.key]))
            for entry in self.record[series.points]
            if across in entry and series.key in entry
        )

    def choose_rows(self, language: str) -> tuple[Mapping[str, Any], ...]:
        """Return the rows in a language, or those of the first one; all when rows have none."""
        rows = self.record[self.rows]
        spoken = [row.get("language", "") for row in rows]
        wanted = language if language in spoken else spoken[0]
        return tuple(row for row, one in zip(rows, spoken, strict=True) if one == wanted)

    def summarise(self) -> dict[str, float]:
        """Return the numbers that a caption may name; only lines have some."""
        values: dict[str, float] = {}
        for index, series in enumerate(self.series if self.x else (), 1):
            points = self.read_points(series)
            at, low = min(points, key=lambda point: point[1])
            top, high = max(points, key=lambda point: point[1])
            values |= {f"first_{index}": points[0][1], f"last_{index}": points[-1][1]}
            values |= {f"low_{index}": low, f"at_{index}": at}
            values |= {f"high_{index}": high, f"top_{index}": top}
        return values
