"""What holds in every language: spaces, dots, and signs that an Arabic line would move."""

import re
from collections.abc import Iterator

from dabt.text.model import Rule, instead

# In a line that runs from right to left, signs without a direction go to the wrong side of a word.
BIDI_TRAPS = (
    (re.compile(r"[~≈]\d[\w.]*"), "a sign before a number"),
    (re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*"), "an option of a command"),
    (re.compile(r"(?<!\w)\.[A-Za-z]\w*"), "a name that begins with a point"),
    (re.compile(r"(?<![A-Za-z])[A-Za-z]\w*(?:\+\+|#)"), "a name that ends with a sign"),
    (re.compile(r"\d[\d.,]*\s*[+*/×=<>−-]\s*\d[\d.,]*\s*=\s*\d[\d.,]*"), "a calculation"),
)

RULES = (
    Rule(
        "ellipsis",
        "",
        re.compile(r"(?<![.\w/])\.{3}(?![.\w/])|(?<=[^\W\d_])\.{3}(?![.\w/])"),
        "three points",
        "write '…'",
        instead("…"),
    ),
    Rule(
        "double-space",
        "",
        # Not after the mark of a list, nor in the columns of a table.
        re.compile(r"(?<=[^\W\d_][^|\n\0]|[^\W\d_][,;،؛»).])  +(?=[^\W\d_])"),
        "more than one space",
        "leave one",
        instead(" "),
    ),
)


def traps(words: str) -> Iterator[tuple[int, str, str]]:
    """Yield place, run of signs and reason of what a line from right to left may show moved."""
    for pattern, why in BIDI_TRAPS:
        for match in pattern.finditer(words):
            yield match.start(), match[0].strip(), why
