"""The texts of the data files, unit by unit: questions, terms, interface strings, figures.

Any map whose keys are languages is a text. The names of a language only (`forms`, `also`) are
lists: each language has its own, and they are not compared.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt import yamlsource
from dabt.filling import is_blank
from dabt.ui import own_language, own_strings

Path_ = tuple[str, ...]
# Files, and the lists whose items are units of their own.
FILES = ("glossary.yml", "quizzes/*.yml", "figures/*.yml", "ui*.yml")
LISTS = ("questions", "terms")


def data_files(data: Path) -> Iterator[Path]:
    """Yield the files of `docs/_data` that hold texts, in the order of names."""
    yield from sorted(path for pattern in FILES for path in data.glob(pattern))


def slug_of(path: Path) -> str:
    """Name the whole that a file belongs to: one quiz, the glossary, all figures, all strings."""
    if path.parent.name == "quizzes":
        return f"quizzes/{path.stem}"
    return "figures" if path.parent.name == "figures" else path.stem.split(".")[0]


def read_texts(path: Path, codes: Sequence[str]) -> dict[str, dict[str, tuple[int, str]]]:
    """Return unit → language → (line, text) of a data file; nothing where it cannot be read."""
    root, findings = yamlsource.read(path)
    return {} if root is None or findings.problems else _units(root, path, codes)


def texts_of(source: str, path: Path, codes: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return unit → language → text of what a data file once held."""
    root = yamlsource.compose(source, yamlsource.Findings(path.as_posix()))
    units = _units(root, path, codes) if root is not None else {}
    return {key: {code: text for code, (_, text) in one.items()} for key, one in units.items()}


def _units(root: Node, path: Path, codes: Sequence[str]) -> dict[str, dict[str, tuple[int, str]]]:
    if path.name.startswith("ui") and (own := own_language(path, codes)):
        leaves = own_strings(root).items()
        return {
            key: {own: (node.start_mark.line + 1, f"{key}: {_words(node)}")}
            for key, node in leaves
            if not is_blank(node)
        }
    found: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for where, code, line, words in _leaves(root, (), frozenset(codes)):
        unit = found.setdefault(_unit(path, where), {})
        unit.setdefault(code, []).append((line, f"{'.'.join(where)}: {words}"))
    return {key: _whole(unit) for key, unit in found.items()}


def _whole(unit: dict[str, list[tuple[int, str]]]) -> dict[str, tuple[int, str]]:
    """Join the texts of each language; one that lacks some of them has not written the unit."""
    most = max(len(leaves) for leaves in unit.values())
    return {
        code: (leaves[0][0], "\n".join(text for _, text in leaves))
        for code, leaves in unit.items()
        if len(leaves) == most
    }


def _unit(path: Path, where: Path_) -> str:
    """Name the unit of a text: a question, a term, one interface string, or the rest of a file."""
    if len(where) > 1 and where[0] in LISTS:
        return where[1]
    return ".".join(where) if path.name.startswith("ui") else path.stem


def _leaves(
    node: Node, where: Path_, codes: frozenset[str]
) -> Iterator[tuple[Path_, str, int, str]]:
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield from _leaves(item, (*where, _name(item) or str(index)), codes)
    elif isinstance(node, MappingNode):
        names = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
        for key, value in node.value:
            name = str(key.value)
            if names <= codes and not isinstance(value, SequenceNode):
                if is_blank(value):
                    continue
                yield where, name, key.start_mark.line + 1, _words(value)
            elif names and not names <= codes:
                yield from _leaves(value, (*where, name), codes)


def _name(item: Node) -> str:
    if not isinstance(item, MappingNode):
        return ""
    found = (value.value for key, value in item.value if key.value == "id")
    return str(next(found, ""))


def _words(node: Node) -> str:
    """The words of a leaf: a text, or the plural forms of a counted one."""
    if isinstance(node, MappingNode):
        return "\n".join(f"{key.value}: {_words(value)}" for key, value in node.value)
    return str(node.value)
