"""What a quiz is: frozen data, one answer key, every text in every language.

Types of question and what their answer is made of:

- single, multiple, truefalse: `options`, of which some are right
- order: `items`, written in the right order
- numeric: `number`
- output: a program in `code`, and either `options` (what it may print) or `number`
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from typing import Any

Text = Mapping[str, str]
# The numbers of the two options of a true/false question, whose texts are interface strings.
TRUE, FALSE = 1, 2
TYPES = ("single", "multiple", "truefalse", "numeric", "order", "output")


@dataclass(frozen=True)
class Location:
    """A place in a quiz file, lines and columns from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Option:
    """One option. `number` is its place in the file, from 1: saved answers refer to it."""

    number: int
    right: bool
    text: Text
    why: Text | None
    at: Location


@dataclass(frozen=True)
class Number:
    """A numeric answer: accepted when it differs from `value` by at most `tolerance`."""

    value: Decimal
    tolerance: Decimal
    unit: Text | None


@dataclass(frozen=True)
class Code:
    """A program shown with a question, in a language that Pygments knows."""

    text: str
    language: str


@dataclass(frozen=True)
class Review:
    """Where a question is taught: a page of each language's tree and the id of a section."""

    page: str
    section: str
    at: Location


@dataclass(frozen=True)
class Question:
    """One question. `id` is for ever: it is the deep link and the key of the saved answer."""

    id: str
    type: str
    ask: Text
    at: Location
    options: tuple[Option, ...] = ()
    items: tuple[Text, ...] = ()
    number: Number | None = None
    code: Code | None = None
    hint: Text | None = None
    explain: Text | None = None
    review: Review | None = None
    tags: tuple[str, ...] = ()
    difficulty: int | None = None
    keep_order: bool = False

    @property
    def right(self) -> tuple[Option, ...]:
        """The right options, in the order of the file."""
        return tuple(option for option in self.options if option.right)

    @property
    def revision(self) -> str:
        """Eight hexadecimal digits that change when a saved answer would lose its meaning.

        Made of the type, the key and the number of options: a corrected typo keeps answers.
        """
        if self.number:
            key = f"{self.number.value.normalize()}±{self.number.tolerance.normalize()}"
        else:
            key = ",".join(str(option.number) for option in self.right)
        made_of = f"{self.type}|{key}|{len(self.options) or len(self.items)}"
        return hashlib.sha256(made_of.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Band:
    """From this percentage of right answers on, the result has this label."""

    percent: Decimal
    label: Text


@dataclass(frozen=True)
class Quiz:
    """One quiz file. `shuffle` chooses among the possible mixes of the options."""

    slug: str
    title: Text
    questions: tuple[Question, ...]
    bands: tuple[Band, ...]
    at: Location
    intro: Text | None = None
    shuffle: int = 0
    budget: Mapping[str, int] | None = None


def narrow(value: Any, codes: Sequence[str]) -> Any:
    """A quiz, or a part of one, with the texts of some languages only."""
    if isinstance(value, Mapping) and any(code in value for code in codes):
        return {code: value[code] for code in value if code in codes}
    if isinstance(value, tuple):
        return tuple(narrow(one, codes) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: narrow(getattr(value, one.name), codes) for one in fields(value)}
        return replace(value, **parts)
    return value
