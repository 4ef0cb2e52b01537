"""The ids of all rules that the code can print, read from its source.

A registry would have to be kept by hand, and a run shows only what it meets; the source knows all.
An id that is computed is resolved by `COMPUTED`; a new kind of it fails until it is added there.
"""

import ast
import re
from collections.abc import Iterator

from dabt.text.check import RULES
from tools.environment import ROOT

# What makes a problem, and where the id stands among its arguments.
POSITIONS = {"Problem": 4, "at": 2, "problem": 3}
PLACE = ("file", "line", "column")  # what `*place` stands for
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Expressions that hold an id made elsewhere, or the ids that they can become.
COMPUTED = {
    "code": (),
    "rule.code": (),
    "f'duplicate-{what}'": ("duplicate-option", "duplicate-item"),
    "f'{code}-twice'": ("sitemap-twice",),
    "f'{code}-unlisted'": ("sitemap-unlisted",),
    "f'{code}-missing'": ("sitemap-missing",),
}


def rule_ids() -> dict[str, str]:
    """Return each id with a place that makes it."""
    found = {rule.code: f"hooks/dabt/text: {rule.code}" for rule in RULES}
    for folder in ("hooks/dabt", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            for node, expression in _expressions(ast.parse(path.read_text("utf-8"))):
                place = f"{name}:{node.lineno}"
                found |= {one: place for one in _values(expression, place) if one not in found}
    return found


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    positions = POSITIONS | _makers(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((node, one) for one in _of_call(node, positions))
        elif isinstance(node, ast.Yield | ast.Return) and isinstance(node.value, ast.Tuple):
            yield from ((node, one) for one in _of_finding(node.value.elts))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            yield from ((node, one) for one in _of_names(node))


def _makers(tree: ast.Module) -> dict[str, int]:
    """Return the functions of a module that are handed an id."""
    functions = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))
    names = {one.name: [argument.arg for argument in one.args.args] for one in functions}
    return {
        name: arguments.index("code")
        for name, arguments in names.items()
        if "code" in arguments and "mend" in arguments and arguments[0] != "self"
    }


def _of_call(node: ast.Call, positions: dict[str, int]) -> Iterator[ast.expr]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    spread: list[ast.expr | None] = []
    for one in node.args:
        spread += [None] * len(PLACE) if isinstance(one, ast.Starred) else [one]
    if name in positions and len(spread) > positions[name] and spread[positions[name]]:
        yield spread[positions[name]]


def _of_finding(parts: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield the id of (…, message, id, cure) or (id, cure), which a caller makes a problem of."""
    if len(parts) < 2 or not isinstance(parts[-2], ast.Constant):
        return
    cure = parts[-1]
    words = isinstance(cure, ast.Constant) and " " in str(cure.value)
    table = all(isinstance(one, ast.Constant) and " " not in str(one.value) for one in parts)
    if words or isinstance(cure, ast.JoinedStr) or (len(parts) > 2 and not table):
        yield parts[-2]


def _of_names(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.expr]:
    """Yield the ids of a table of rules, and those that a name `code` is given."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    name, value = getattr(target, "id", ""), node.value
    if name == "RULES" and isinstance(value, ast.Dict):
        yield from (key for key in value.keys if key)
    elif name == "PARTS" and isinstance(value, ast.Tuple):
        yield from (one.elts[0] for one in value.elts if isinstance(one, ast.Tuple))
    elif name == "code" and isinstance(value, ast.IfExp):
        yield from (one for one in (value.body, value.orelse) if isinstance(one, ast.Constant))


def _values(expression: ast.expr, place: str) -> tuple[str, ...]:
    if isinstance(expression, ast.Constant):
        value = str(expression.value)
        return (value,) if ID.fullmatch(value) else ()
    written = ast.unparse(expression)
    assert written in COMPUTED, f"{place}: which ids can {written} be? say it in COMPUTED"
    return COMPUTED[written]
