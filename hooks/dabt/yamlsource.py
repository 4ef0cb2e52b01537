"""YAML read as text with places: every value keeps its line and column, and stays as it is typed.

Values are PyYAML's own nodes (`ScalarNode`, `MappingNode`, `SequenceNode`): `no`, `07`, `12:30` and
`~` stay text, two equal keys are seen, and a text that YAML would change in silence (`&a`, `!b`,
`*c` at its beginning) is a problem. Libyaml does the work where it is installed.
"""

from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt.problems import Problem, did_you_mean, shown

# Without libyaml, PyYAML refuses `?` in an unquoted text inside { }, which YAML allows.
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
PLAIN_TAG = "tag:yaml.org,2002:"
QUOTE = "put the whole text between double quotes, or on its own line after '>-'"
KIND_NAMES = {ScalarNode: "a text", MappingNode: "a map", SequenceNode: "a list"}


@dataclass
class Findings:
    """The problems of one file, gathered while it is read; `text` is what was read."""

    file: str
    text: str = ""
    problems: list[Problem] = field(default_factory=list)

    def at(self, node: Node, message: str, code: str, mend: str, severity: str = "error") -> None:
        """Note a problem at the beginning of a node."""
        mark = node.start_mark
        place = (self.file, mark.line + 1, mark.column + 1)
        self.problems.append(Problem(*place, message, code, mend, severity))


def read(path: Path) -> tuple[Node | None, Findings]:
    """The root node of a YAML file; None when it cannot be read, and then a problem says why."""
    findings = Findings(shown(path))
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        mend = "save the file as UTF-8" if isinstance(error, UnicodeError) else "create the file"
        message = f"the file cannot be read: {error}"
        findings.problems.append(Problem(findings.file, 1, 1, message, "unreadable", mend))
        return None, findings
    return compose(text, findings, LOADER), findings


def files(folder: Path) -> tuple[list[Path], list[Problem]]:
    """The `.yml` files of a folder, and a problem for each that another ending would hide."""
    others = sorted(path for path in folder.glob("*") if path.suffix.lower() in (".yaml", ".yml"))
    problems = [
        Problem(
            shown(path),
            1,
            1,
            f"a file that ends in '{path.suffix}' is not read",
            "file-name",
            f"rename it {path.stem}.yml",
        )
        for path in others
        if path.suffix != ".yml"
    ]
    return [path for path in others if path.suffix == ".yml"], problems


def compose(text: str, findings: Findings, loader: type = LOADER) -> Node | None:
    """The root node of a YAML text, after the checks that hold for every file."""
    findings.text = text
    try:
        root = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        findings.problems.append(_syntax_problem(error, text, findings.file))
        return None
    if root is None:
        message, mend = "the file is empty", "write its content, or delete the file"
        findings.problems.append(Problem(findings.file, 1, 1, message, "empty", mend))
        return None
    _check_nodes(root, text, findings)
    return root


def _syntax_problem(error: yaml.YAMLError, text: str, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow: only its position is known
        before = text[: getattr(error, "position", 0)]
        line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1)
        reason = "a character that YAML does not allow"
        mend = "delete the invisible character"
    else:
        line, column = mark.line, mark.column
        reason = getattr(error, "problem", None) or "the text ends too early"
        lines = text.splitlines() or [""]
        mend = _syntax_mend(reason, lines[min(line, len(lines) - 1)], column)
    return Problem(file, line + 1, column + 1, f"not valid YAML: {reason}", "yaml", mend)


def _syntax_mend(reason: str, line: str, column: int) -> str:
    sign = line[column : column + 1]
    if sign == "\t" or line.lstrip(" ").startswith("\t"):
        return "indent with spaces, never with tabs"
    if sign and sign in "`@%*&!":
        return f"a text that begins with one of ` @ % * & ! needs quotes: {QUOTE}"
    if sign == ":" or reason.startswith("mapping values"):
        return f"a text that holds ': ' needs quotes: {QUOTE}"
    if "{" in line or "[" in line:
        return f"inside {{ }} a text that holds one of , : ? {{ }} [ ] needs quotes: {QUOTE}"
    return "look at this line and the one before: indentation, quotes, closing braces"


def _check_nodes(root: Node, text: str, findings: Findings) -> None:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            findings.at(node, "an alias (*name) repeats this value", "alias", "write it again")
            continue
        seen.add(id(node))
        _check_begin(node, text, findings)
        if isinstance(node, MappingNode):
            _check_keys(node, findings)
            waiting.extend(child for pair in node.value for child in pair)
        elif isinstance(node, SequenceNode):
            waiting.extend(node.value)


def _check_begin(node: Node, text: str, findings: Findings) -> None:
    begin = text[node.start_mark.index : node.start_mark.index + 1]
    anchored = begin == "&"
    if anchored or not node.tag.startswith(PLAIN_TAG):
        message = f"YAML takes the word after '{'&' if anchored else '!'}' away from this value"
        findings.at(node, message, "yaml", f"if it is part of the text: {QUOTE}")


def _check_keys(node: MappingNode, findings: Findings) -> None:
    lines: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            findings.at(key, "a key must be a word", "yaml", QUOTE)
        elif key.value in lines:
            message = f"the key '{key.value}' is already on line {lines[key.value]}"
            findings.at(key, message, "duplicate-key", "keep one of the two")
        else:
            lines[key.value] = key.start_mark.line + 1


def entries(
    node: Node | None, findings: Findings, known: tuple[str, ...], required: tuple[str, ...] = ()
) -> dict[str, Node]:
    """The values of a map by key, after checking its keys; empty when it is not a map."""
    if node is None or not is_kind(node, MappingNode, findings):
        return {}
    found: dict[str, Node] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, ScalarNode) else ""
        if name in known:
            found.setdefault(name, value)
        elif name:
            findings.at(
                key, f"unknown key '{name}'", "unknown-key", _key_mend(node, value, known, name)
            )
    for name in required:
        if name not in found:
            findings.at(node, f"the key '{name}' is missing", "missing-key", f"add '{name}:'")
    return found


def _key_mend(node: MappingNode, value: Node, known: tuple[str, ...], name: str) -> str:
    if node.flow_style and isinstance(value, ScalarNode) and not value.value:
        return "inside { } a comma begins a new key: put the text that holds it between quotes"
    return did_you_mean(name, known)


def is_kind(node: Node, kind: type[Node], findings: Findings) -> bool:
    """Whether a node is of a kind; a problem is noted when it is not."""
    if isinstance(node, kind):
        return True
    message = f"expected {KIND_NAMES[kind]}, found {KIND_NAMES[type(node)]}"
    mend = f"write {KIND_NAMES[kind]} here"
    if kind is ScalarNode:
        mend += " (if it holds ': ', put it between quotes)"
    findings.at(node, message, "wrong-kind", mend)
    return False


def items(node: Node | None, findings: Findings) -> list[Node]:
    """The values of a list; empty, with a problem, when it is not a list."""
    if node is None or not is_kind(node, SequenceNode, findings):
        return []
    return list(node.value)


def text_of(node: Node | None, findings: Findings) -> str:
    """The text of a scalar as it was typed; empty, with a problem, when it is not a text."""
    if node is None or not is_kind(node, ScalarNode, findings):
        return ""
    return node.value
