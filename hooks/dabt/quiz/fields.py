"""The single values of a quiz file: texts in every language, numbers, flags, names."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from yaml import MappingNode, Node, ScalarNode

from dabt import yamlsource
from dabt.problems import did_you_mean
from dabt.quiz.inline import inline_faults
from dabt.quiz.model import Location, Text
from dabt.yamlsource import QUOTE, Findings

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Exponents of one or two digits: more would fill a page with zeros.
NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,2})?")
PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")
PLACEHOLDER = re.compile(
    r"[\s.…?_–—-]*+(?:todo|tbd|fixme|xxx+|lorem ipsum.*|à (?:compléter|traduire|faire)"
    r"|غير مترجم|للترجمة)?[\s.…!?_–—-]*"
    r"|\W*+(?:questions?|السؤال|الأسئلة|أسئلة)\s+\d+\s*(?:[-–—]|à|to|إلى)\s*\d+.*",
    re.IGNORECASE | re.DOTALL,
)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Reading:
    """What the readers of a quiz file share: where problems go, and the languages wanted."""

    findings: Findings
    codes: tuple[str, ...]

    def place(self, node: Node) -> Location:
        """Where a node begins."""
        mark = node.start_mark
        return Location(self.findings.file, mark.line + 1, mark.column + 1)


def read_text(node: Node | None, reading: Reading) -> Text:
    """A text in every language; what is missing or broken is noted."""
    findings = reading.findings
    if isinstance(node, ScalarNode):
        example = ", ".join(f"{code}: …" for code in reading.codes)
        message = "a text needs every language, and this is one text only"
        findings.at(node, message, "missing-language", f"write {{{example}}}")
        return {}
    values = yamlsource.entries(node, findings, reading.codes)
    for code in reading.codes if isinstance(node, MappingNode) else ():
        if code not in values:
            findings.at(node, f"no text in '{code}'", "missing-language", f"add '{code}: …'")
    return {code: _read_words(value, findings) for code, value in values.items()}


def read_optional_text(values: dict[str, Node], key: str, reading: Reading) -> Text | None:
    """The text of a key, or None when the key is absent."""
    return read_text(values[key], reading) if key in values else None


def _read_words(node: Node, findings: Findings) -> str:
    words = yamlsource.text_of(node, findings).strip()
    if not isinstance(node, ScalarNode):
        return words
    if not words:
        findings.at(node, "the text is empty", "empty", "write it in this language")
    elif PLACEHOLDER.fullmatch(words):
        message = f"'{words}' holds the place of a text"
        findings.at(node, message, "placeholder", "write the text, or remove the entry")
    if not node.style and re.match(r"[ \t]+#", findings.text[node.end_mark.index :]):
        message = "YAML takes what follows ' #' for a comment, not for text"
        findings.at(node, message, "yaml", f"{QUOTE}; or give the comment its own line")
    for fault in inline_faults(words):
        mend = (
            "close it, or write \\` for the sign itself"
            if "backtick" in fault
            else ("use ^ _ \\frac \\sqrt, Greek letters and plain signs, or write it in words")
        )
        findings.at(node, fault, "inline", mend)
    return words


def read_slug(node: Node | None, what: str, reading: Reading) -> str:
    """A name in kebab-case; `what` says in messages whose name it is."""
    name = yamlsource.text_of(node, reading.findings)
    if isinstance(node, ScalarNode) and not SLUG.fullmatch(name):
        mend = "small Latin letters, digits and hyphens only: adamw-bytes"
        reading.findings.at(node, f"'{name}' cannot be {what}", "slug", mend)
    return name


def read_choice(
    node: Node | None, what: str, choices: dict[str, Value], fallback: Value, reading: Reading
) -> Value:
    """One of a few words; the fallback when it is absent or none of them."""
    if node is None:
        return fallback
    word = yamlsource.text_of(node, reading.findings)
    if isinstance(node, ScalarNode) and word not in choices:
        mend = did_you_mean(word, sorted(choices))
        code = "type" if what == "type" else "value"
        reading.findings.at(node, f"unknown {what} '{word}'", code, mend)
    return choices.get(word, fallback)


def read_number(node: Node | None, reading: Reading) -> Decimal:
    """A number as programs write it: Latin digits and a point."""
    word = yamlsource.text_of(node, reading.findings)
    if NUMBER.fullmatch(word):
        return Decimal(word)
    if isinstance(node, ScalarNode):
        mend = "Latin digits and a decimal point, no grouping, no unit: 1234.5"
        reading.findings.at(node, f"'{word}' is not a number", "number", mend)
    return Decimal(0)


def read_tolerance(node: Node | None, value: Decimal, reading: Reading) -> Decimal:
    """An accepted difference, written as a number or as a percentage of the value; 0 if absent."""
    if node is None:
        return Decimal(0)
    share = PERCENT.fullmatch(node.value) if isinstance(node, ScalarNode) else None
    if share:
        if not value:
            mend = "write the accepted difference as a number: 0.001"
            reading.findings.at(node, "a percentage of 0 is 0", "number", mend)
        return abs(value) * Decimal(share[1]) / 100
    tolerance = read_number(node, reading)
    if tolerance < 0:
        reading.findings.at(node, "a tolerance cannot be negative", "number", "remove the sign")
    return tolerance
