"""Reading `docs/_data/figures/<slug>.yml` and the record that it names."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from yaml import MappingNode, Node, ScalarNode

from dabt import yamlsource
from dabt.figures.check import check_caption, check_record, entries
from dabt.figures.model import Axis, Figure, Series, Words
from dabt.filling import fill
from dabt.languages import Language
from dabt.problems import Problem, did_you_mean
from dabt.yamlsource import Findings

LINES = ("figure", "kind", "source", "x", "y", "lines", "caption")
BARS = ("figure", "kind", "source", "rows", "heading", "parts", "names", "caption")
TOKENS = ("figure", "kind", "source", "rows", "names", "caption")
OPTIONAL = {"lines": ("mark-lowest",), "bars": ("total", "digits"), "tokens": ()}
KINDS = {"lines": LINES, "bars": BARS, "tokens": TOKENS}
MOST_DIGITS = 6
SCALES = ("linear", "logarithmic")
Codes = tuple[str, ...]
Record = Mapping[str, Any]
Nodes = Mapping[str, Node]


def read_figures(
    folder: Path, examples: Path, languages: Sequence[Language]
) -> tuple[dict[str, Figure], tuple[Problem, ...]]:
    """Return the figures of a folder by slug, with all problems of all files; nothing is raised.

    Records are read from below `examples`.
    """
    figures = {}
    paths, problems = yamlsource.files(folder)
    codes = tuple(one.code for one in languages)
    for path in paths:
        root, findings = yamlsource.read(path)
        fill(root, languages)
        figure = _read(root, findings, path.stem, examples, codes) if root is not None else None
        if figure is not None and not findings.problems:
            figures[figure.slug] = figure
        problems.extend(findings.problems)
    return figures, tuple(problems)


def _read(root: Node, findings: Findings, slug: str, examples: Path, codes: Codes) -> Figure | None:
    kind = _read_kind(root, findings)
    if kind not in KINDS:
        return None
    values = yamlsource.entries(root, findings, (*KINDS[kind], *OPTIONAL[kind]), KINDS[kind])
    if yamlsource.text_of(values.get("figure"), findings) != slug:
        findings.at(root, "the name is not the file's", "file-name", f"write 'figure: {slug}'")
    record = _read_record(values.get("source"), findings, examples)
    if findings.problems:
        return None
    parts = {"lines": _read_lines, "bars": _read_bars, "tokens": _read_tokens}[kind]
    figure = Figure(
        slug=slug,
        kind=kind,
        record=record,
        caption=_read_words(values["caption"], findings, codes),
        **parts(values, findings, codes, record),
    )
    if not findings.problems:
        _check(figure, root, values["caption"], findings)
    return figure


def _read_kind(root: Node, findings: Findings) -> str:
    """Return the kind of a figure: which keys are known depends on it."""
    if not yamlsource.is_kind(root, MappingNode, findings):
        return ""
    node = next((value for key, value in root.value if key.value == "kind"), root)
    kind = node.value if isinstance(node, ScalarNode) else ""
    if kind not in KINDS:
        mend = did_you_mean(kind, tuple(KINDS))
        findings.at(node, f"unknown kind '{kind}'", "figure-kind", mend)
    return kind


def _check(figure: Figure, root: Node, caption: Node, findings: Findings) -> None:
    faults = tuple(check_record(figure))
    for fault in faults:
        findings.at(root, *fault)
    for code in figure.caption if not faults else ():
        for fault in check_caption(figure, code):
            findings.at(caption, *fault)


def _read_record(node: Node | None, findings: Findings, examples: Path) -> Record:
    source = yamlsource.text_of(node, findings)
    try:
        record = json.loads(Path(examples, source).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        mend = "write the path of a record below examples/, and record it with the example"
        message = f"the record '{source}' cannot be read: {error}"
        if node is not None:
            findings.at(node, message, "figure-source", mend)
        return {}
    return record if isinstance(record, dict) else {"rows": record}


def _read_words(node: Node, findings: Findings, codes: Codes) -> Words:
    values = yamlsource.entries(node, findings, codes, codes)
    words = {code: yamlsource.text_of(value, findings) for code, value in values.items()}
    for code, text in words.items():
        if not text.strip():
            findings.at(values[code], "the text is empty", "empty", "write it in this language")
    return words


def _read_series(
    node: Node, findings: Findings, codes: Codes, record: Record, points: str = ""
) -> Series:
    needed = ("key", "label") if points else ("points", "key", "label")
    values = yamlsource.entries(node, findings, needed, needed)
    name = points or yamlsource.text_of(values.get("points"), findings)
    key = yamlsource.text_of(values.get("key"), findings)
    found = entries(record, name)
    if not any(key in entry for entry in found):
        known = sorted({one for entry in found for one in entry})
        message = f"the record has no '{key}' in '{name}'"
        findings.at(node, message, "figure-key", did_you_mean(key, known or sorted(record)))
    label = _read_words(values["label"], findings, codes) if "label" in values else {}
    return Series(name, key, label)


def _read_lines(values: Nodes, findings: Findings, codes: Codes, record: Record) -> dict[str, Any]:
    items = yamlsource.items(values["lines"], findings)
    mark = values.get("mark-lowest")
    return {
        "x": _read_axis(values["x"], findings, codes, ("key", "label")),
        "y": _read_axis(values["y"], findings, codes, ("label",)),
        "series": tuple(_read_series(item, findings, codes, record) for item in items),
        "mark_lowest": _read_words(mark, findings, codes) if mark is not None else None,
    }


def _read_axis(node: Node, findings: Findings, codes: Codes, needed: tuple[str, ...]) -> Axis:
    values = yamlsource.entries(node, findings, (*needed, "scale"), needed)
    label = _read_words(values["label"], findings, codes) if "label" in values else {}
    key = yamlsource.text_of(values["key"], findings) if "key" in values else ""
    scale = yamlsource.text_of(values["scale"], findings) if "scale" in values else SCALES[0]
    if scale not in SCALES:
        mend = did_you_mean(scale, SCALES)
        findings.at(values["scale"], f"unknown scale '{scale}'", "figure-scale", mend)
    return Axis(key, label, scale == "logarithmic")


def _read_bars(values: Nodes, findings: Findings, codes: Codes, record: Record) -> dict[str, Any]:
    parts = yamlsource.items(values["parts"], findings)
    rows = _read_rows(values, findings, codes, record)
    if not rows:
        return {"series": ()}
    total = values.get("total")
    return rows | {
        "series": tuple(_read_series(i, findings, codes, record, rows["rows"]) for i in parts),
        "heading": _read_words(values["heading"], findings, codes),
        "total": _read_words(total, findings, codes) if total is not None else None,
        "digits": _read_digits(values.get("digits"), findings),
    }


def _read_tokens(values: Nodes, findings: Findings, codes: Codes, record: Record) -> dict[str, Any]:
    return {"series": ()} | _read_rows(values, findings, codes, record)


def _read_rows(values: Nodes, findings: Findings, codes: Codes, record: Record) -> dict[str, Any]:
    """Return the list of rows that a figure draws, and a name for each; empty when it is none."""
    rows = yamlsource.text_of(values["rows"], findings)
    found = entries(record, rows)
    if not found or len(found) != len(record[rows]) or not all("id" in one for one in found):
        message = f"the record has no list '{rows}' of rows with an 'id'"
        findings.at(values["rows"], message, "figure-key", did_you_mean(rows, sorted(record)))
        return {}
    named = tuple(sorted({str(entry["id"]) for entry in found}))
    names = yamlsource.entries(values["names"], findings, named, named)
    words = {key: _read_words(node, findings, codes) for key, node in names.items()}
    return {"rows": rows, "names": words}


def _read_digits(node: Node | None, findings: Findings) -> int:
    """Return how many digits follow the decimal mark; 0 when the key is absent."""
    word = yamlsource.text_of(node, findings)
    if isinstance(node, ScalarNode) and word not in map(str, range(MOST_DIGITS + 1)):
        mend = f"write a number from 0 to {MOST_DIGITS}"
        findings.at(node, f"'{word}' is no number of digits", "number", mend)
        return 0
    return int(word or 0)
