"""Check the contrast of every pair of colours that the site's style sheet puts together.

Reads the tokens of docs/assets/site.css in both schemes and prints one line a pair: WCAG 2.2 asks
for 4.5 for text (1.4.3) and 3 for what is drawn: edges of fields, focus rings, curves (1.4.11).
Exit status 1 when a pair is below.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SHEET = Path(__file__).parents[1] / "docs" / "assets" / "site.css"
SCHEMES = ("default", "slate")
TEXT, DRAWN = 4.5, 3.0

# Foregrounds, the backgrounds each may lie on, and the least ratio.
PAIRS = (
    (("ink", "ink-soft", "accent", "mark"), ("paper", "soft"), TEXT),
    (("ok",), ("paper", "soft", "ok-soft"), TEXT),
    (("bad",), ("paper", "soft", "bad-soft"), TEXT),
    (("warn",), ("paper", "soft", "warn-soft"), TEXT),
    (("ink", "ink-soft", "accent"), ("ok-soft", "bad-soft", "warn-soft"), TEXT),
    (("accent-ink",), ("accent",), TEXT),
    (("paper",), ("ink",), TEXT),
    (("code-keyword", "code-string", "code-number", "code-name"), ("paper", "soft"), TEXT),
    (("edge",), ("paper", "soft"), DRAWN),
    (("series-1", "series-2", "series-3", "series-4"), ("paper", "soft"), DRAWN),
)


@dataclass(frozen=True)
class Measure:
    """One pair in one scheme."""

    scheme: str
    front: str
    back: str
    ratio: float
    least: float


def read_tokens(css: str, scheme: str) -> dict[str, str]:
    """Return the --dabt-* colours of a scheme, as `#rrggbb`."""
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] \{{(.*?)\}}', css, re.DOTALL)
    if block is None:
        raise SystemExit(f"{SHEET}: no block for the scheme {scheme!r}")
    return dict(re.findall(r"--dabt-([\w-]+): (#[0-9a-f]{6});", block[1]))


def luminance(color: str) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.2, definition of relative luminance)."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(front: str, back: str) -> float:
    """Ratio of two colours, from 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)


def measure(scheme: str, tokens: Mapping[str, str]) -> Iterator[Measure]:
    """Measure all pairs of a scheme."""
    for fronts, backs, least in PAIRS:
        for front in fronts:
            for back in backs:
                ratio = contrast(tokens[front], tokens[back])
                yield Measure(scheme, front, back, ratio, least)


def main() -> int:
    """Print the table; 1 when a pair is below its least ratio."""
    css = SHEET.read_text("utf-8")
    measures = [one for name in SCHEMES for one in measure(name, read_tokens(css, name))]
    for one in measures:
        flag = "" if one.ratio >= one.least else "  BELOW"
        pair = f"{one.front} on {one.back}"
        print(f"{one.scheme:8}{pair:28}{one.ratio:6.2f}  (least {one.least}){flag}")
    return int(any(one.ratio < one.least for one in measures))


if __name__ == "__main__":
    sys.exit(main())
