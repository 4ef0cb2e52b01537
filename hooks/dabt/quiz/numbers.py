"""Numbers as readers type them: `16,0`, `١٦`, `١٦٫٠`, with blanks and invisible marks.

`docs/assets/quiz.js` reads numbers by the same rules.
"""

import re
from decimal import Decimal

DIGITS = {ord(digit): str(index % 10) for index, digit in enumerate("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹")}
# Blanks (also narrow and no-break ones), direction marks, isolates, Arabic letter mark, BOM.
IGNORED = re.compile(r"[\s\u00a0\u202f\u2009\u200b-\u200f\u202a-\u202e\u2066-\u2069\u061c\ufeff]")
# Thousands: the Arabic separator, apostrophes.
GROUPING = re.compile(r"[٬'’]")
PLAIN = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


def parse_number(typed: str) -> Decimal | None:
    """The number that a reader typed, or None when it is not one.

    A comma is the decimal sign, except when several of them group thousands (`1,234,567`) or when
    one stands before a point (`1,234.5`).
    """
    text = GROUPING.sub("", IGNORED.sub("", typed)).translate(DIGITS)
    text = text.replace("−", "-").replace("٫", ".").replace("،", ",")
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3}){2,}(\.\d+)?|[-+]?\d{1,3}(,\d{3})+\.\d+", text):
        text = text.replace(",", "")
    text = text.replace(",", ".")
    return Decimal(text) if PLAIN.fullmatch(text) else None


def is_accepted(typed: str, value: Decimal, tolerance: Decimal) -> bool:
    """Whether a typed answer is within the tolerance of the right value."""
    number = parse_number(typed)
    return number is not None and abs(number - value) <= tolerance
