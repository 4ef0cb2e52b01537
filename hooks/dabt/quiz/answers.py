"""The answers of questions, type by type, read and checked."""

import re
import unicodedata
from collections.abc import Sequence

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt import yamlsource
from dabt.problems import Problem
from dabt.quiz.fields import (
    Reading,
    read_choice,
    read_number,
    read_optional_text,
    read_text,
    read_tolerance,
)
from dabt.quiz.inline import code_spans, to_plain
from dabt.quiz.model import FALSE, TRUE, Location, Number, Option, Text

TYPE_KEYS = {
    "single": ("options", "keep-order"),
    "multiple": ("options", "keep-order"),
    "truefalse": ("answer",),
    "numeric": ("value", "tolerance", "unit"),
    "order": ("items",),
    "output": ("options", "keep-order", "value", "tolerance", "unit"),
}
OPTION_KEYS = ("right", "wrong", "why")
MOST_OPTIONS = 8
ALL_OR_NONE = re.compile(
    r"(?:toutes|aucune) (?:les|ces|des|de ces) (?:réponses|propositions)|(?:all|none) of the above"
    r"|(?:كل|جميع) ما سبق|لا شيء مما سبق",
    re.IGNORECASE,
)


def read_answer(
    node: Node, kind: str, values: dict[str, Node], name: str, reading: Reading
) -> dict[str, object]:
    """The fields of a Question that hold its answer, after the checks of its type."""
    if kind not in TYPE_KEYS:
        return {}
    keep = read_choice(
        values.get("keep-order"), "value", {"true": True, "false": False}, False, reading
    )
    if kind == "output":
        _check_output(node, values, reading)
    if kind == "truefalse":
        return {"options": _true_false(node, values.get("answer"), reading)}
    if kind == "order":
        return {"items": _read_items(node, values.get("items"), reading)}
    if kind == "numeric" or (kind == "output" and "value" in values):
        return {"number": _read_numeric(node, values, reading)}
    options = _read_options(node, values.get("options"), kind, reading)
    _check_options(node, kind, options, name, keep, reading)
    return {"options": options, "keep_order": keep}


def _missing(node: Node, key: str, reading: Reading) -> None:
    if isinstance(node, MappingNode):
        mend = f"add '{key}:'"
        reading.findings.at(node, f"the key '{key}' is missing", "missing-key", mend)


def _check_output(node: Node, values: dict[str, Node], reading: Reading) -> None:
    if "code" not in values:
        _missing(node, "code", reading)
    if (
        "language" in values
        and yamlsource.text_of(values["language"], reading.findings) != "python"
    ):
        mend = "remove 'language', or choose another type"
        message = "only Python programs are run"
        reading.findings.at(values["language"], message, "code-language", mend)
    if "options" in values and "value" in values:
        message = "the answer is written twice: 'options' and 'value'"
        reading.findings.at(values["value"], message, "two-answers", "keep one of the two")


def _true_false(node: Node, answer: Node | None, reading: Reading) -> tuple[Option, ...]:
    if answer is None:
        _missing(node, "answer", reading)
    choices = {"true": True, "false": False}
    true = read_choice(answer, "answer", choices, True, reading)
    at = reading.place(answer or node)
    return (Option(TRUE, true, {}, None, at), Option(FALSE, not true, {}, None, at))


def _read_numeric(node: Node, values: dict[str, Node], reading: Reading) -> Number:
    if "value" not in values:
        _missing(node, "value", reading)
    value = read_number(values.get("value"), reading)
    tolerance = read_tolerance(values.get("tolerance"), value, reading)
    return Number(value, tolerance, read_optional_text(values, "unit", reading))


def _read_items(node: Node, items: Node | None, reading: Reading) -> tuple[Text, ...]:
    if items is None:
        _missing(node, "items", reading)
        return ()
    nodes = yamlsource.items(items, reading.findings)
    if isinstance(items, SequenceNode) and not 3 <= len(nodes) <= MOST_OPTIONS:
        message = f"{len(nodes)} items to put in order"
        reading.findings.at(items, message, "count", f"write 3 to {MOST_OPTIONS} of them")
    texts = [read_text(item, reading) for item in nodes]
    _check_repeats(
        [(reading.place(item), text) for item, text in zip(nodes, texts, strict=True)],
        "item",
        reading,
    )
    return tuple(texts)


def _read_options(
    node: Node, options: Node | None, kind: str, reading: Reading
) -> tuple[Option, ...]:
    if options is None:
        _missing(node, "options", reading)
        return ()
    nodes = yamlsource.items(options, reading.findings)
    return tuple(_read_option(item, number, kind, reading) for number, item in enumerate(nodes, 1))


def _read_option(node: Node, number: int, kind: str, reading: Reading) -> Option:
    values = yamlsource.entries(node, reading.findings, OPTION_KEYS)
    marks = [key for key in ("right", "wrong") if key in values]
    if isinstance(node, MappingNode) and len(marks) != 1:
        message = "an option is either 'right' or 'wrong'"
        reading.findings.at(node, message, "option", "begin it with one of 'right:' and 'wrong:'")
    text: Text = {}
    if marks:
        read = _read_printed if kind == "output" else read_text
        text = read(values[marks[0]], reading)
    why = read_optional_text(values, "why", reading)
    return Option(number, marks == ["right"], text, why, reading.place(node))


def _read_printed(node: Node, reading: Reading) -> Text:
    """What a program prints: the same text in every language."""
    if isinstance(node, MappingNode):
        message = "what a program prints is the same in every language"
        reading.findings.at(node, message, "wrong-kind", 'write one text: right: "1.9"')
        return {}
    printed = yamlsource.text_of(node, reading.findings).strip()
    if isinstance(node, ScalarNode) and not printed:
        reading.findings.at(node, "the text is empty", "empty", "write what is printed")
    return dict.fromkeys(reading.codes, printed)


def _check_options(
    node: Node,
    kind: str,
    options: tuple[Option, ...],
    name: str,
    keep: bool,
    reading: Reading,
) -> None:
    if not options:
        return
    findings = reading.findings
    if not 2 <= len(options) <= MOST_OPTIONS:
        message = f"question '{name}' has {len(options)} option" + "s" * (len(options) != 1)
        findings.at(node, message, "count", f"write 2 to {MOST_OPTIONS} options")
    _check_right(node, kind, options, name, reading)
    texts_at = [(option.at, option.text) for option in options]
    _check_repeats(texts_at, "option", reading, exact=kind == "output")
    texts = [text for option in options for text in option.text.values()]
    if not keep and kind != "output" and any(ALL_OR_NONE.search(text) for text in texts):
        message = f"question '{name}' has an option about the options above it"
        findings.at(node, message, "keep-order", "add 'keep-order: true' to the question")


def _check_right(
    node: Node, kind: str, options: tuple[Option, ...], name: str, reading: Reading
) -> None:
    count = sum(option.right for option in options)
    if count == 0:
        message = f"question '{name}' has no right option"
        mend = "write 'right:' for at least one option"
        reading.findings.at(node, message, "no-answer", mend)
    elif kind == "multiple" and count == len(options):
        message = f"question '{name}' has no wrong option"
        reading.findings.at(node, message, "no-wrong", "write 'wrong:' for at least one option")
    elif kind != "multiple" and count > 1:
        message = f"question '{name}' has {count} right options"
        mend = "keep one 'right:', or write 'type: multiple'"
        reading.findings.at(node, message, "many-answers", mend)


def _check_repeats(
    texts: Sequence[tuple[Location, Text]], what: str, reading: Reading, exact: bool = False
) -> None:
    for code in reading.codes:
        seen: set[str] = set()
        for at, text in texts:
            plain = text.get(code, "") if exact else _as_read(text.get(code, ""))
            if plain and plain in seen:
                message = f"this {what} reads like one above it in '{code}'"
                mend = f"write another text, or remove the {what}"
                place = (at.file, at.line, at.column)
                reading.findings.problems.append(
                    Problem(*place, message, f"duplicate-{what}", mend)
                )
            seen.add(plain)


def _as_read(text: str) -> str:
    """A text as the eye sees it: no direction marks, one form of accents, no case outside code.

    `True` and `true` differ for a program, so code keeps its case.
    """
    folded = text if code_spans(text) else text.casefold()
    visible = (sign for sign in to_plain(folded) if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFC", " ".join("".join(visible).split()))
