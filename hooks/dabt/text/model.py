"""What a rule of writing is."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Replace = Callable[[re.Match[str]], str]


@dataclass(frozen=True)
class Rule:
    """One thing that a text must not hold, and what to write instead.

    `language` is its code, or empty for every language. `pattern` is looked for in prose, where
    code, addresses and markup are blanked. `replace` gives what stands there once mended; without
    it, mending needs a person. `write` is the mend in words, where `{new}` is the replacement.
    """

    code: str
    language: str
    pattern: re.Pattern[str]
    message: str
    write: str
    replace: Replace | None = None


def instead(new: str) -> Replace:
    """A replacement that is the same everywhere, or a template such as `\\1…`."""
    return lambda match: match.expand(new)


def from_table(table: dict[str, str]) -> Replace:
    """A replacement by a table of words; what group 1 holds stands before the word."""
    return lambda match: match[1] + table[match[2]]
