"""A program as the blocks of a notebook: its regions in the order of the page, all code once.

A page explains regions in its own order, a program defines names in another. A block is placed
where the page shows it; what it needs *when it is defined* (its base class, the value of a
default) comes before it, and all the rest comes after the last region. Annotations need nothing:
the first cell of the program puts their evaluation off.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dabt.snippets import REGION, SECTION

MARKED_LINE = re.compile(r"^[ \t]*#[ \t]*-+8<-+.*\n?", re.MULTILINE)
MARKER = re.compile(r"# \((\d+)\)!?", re.MULTILINE)
NEW_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Block:
    """Statements that stay together. `regions`: the names under which pages include them."""

    code: str
    regions: tuple[str, ...]
    defines: frozenset[str]
    needs: frozenset[str]  # to be defined
    uses: frozenset[str]  # to be defined, and to run
    runs: bool  # it calls something when it is defined


@dataclass(frozen=True)
class Program:
    """A program without its last lines, which call `main`."""

    text: str  # what its first lines say
    head: str  # imports and constants before the first function, class or region
    blocks: tuple[Block, ...]


def read_program(source: str) -> Program:
    """Take a program apart. Raises SyntaxError for a text that is no Python."""
    statements = ast.parse(source).body
    text = ast.get_docstring(ast.Module(statements, [])) or ""
    if text:
        statements = statements[1:]
    statements = [one for one in statements if not _calls_main(one)]
    spans = list(_spans(source, statements))
    head = 0
    while head < len(spans) and not spans[head][1] and not isinstance(statements[head], NEW_SCOPE):
        head += 1
    begin = "\n".join(code for code, _ in spans[:head])
    return Program(text, _clean(begin), tuple(_join(spans[head:], statements[head:])))


def _calls_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in _names(statement.test)


def _spans(source: str, statements: Sequence[ast.stmt]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the lines of each statement, with the comments before it, and its regions."""
    lines = source.split("\n")
    regions = dict(_regions(source))
    after = _first_line(statements[0]) if statements else 0
    for statement in statements:
        begin, end = _first_line(statement), statement.end_lineno
        found = {name for name, (a, b) in regions.items() if a < end and begin < b}
        yield "\n".join(lines[after - 1 : end]), frozenset(found)
        after = end + 1


def _first_line(statement: ast.stmt) -> int:
    return min(
        [statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))]
    )


def _regions(source: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each region with the lines of its marks."""
    for start in REGION.finditer(source):
        end = re.search(SECTION.format(kind="end", name=re.escape(start["name"])), source)
        last = source.count("\n", 0, end.start()) + 1 if end else source.count("\n") + 2
        yield start["name"], (source.count("\n", 0, start.start()) + 1, last)


def _join(
    spans: Sequence[tuple[str, frozenset[str]]], statements: Sequence[ast.stmt]
) -> Iterator[Block]:
    """Yield blocks: the statements of a region are one; every other statement is its own."""
    group: list[int] = []
    for number, (_, regions) in enumerate(spans):
        if group and not (regions and regions & spans[group[-1]][1]):
            yield _block(group, spans, statements)
            group = []
        group.append(number)
    if group:
        yield _block(group, spans, statements)


def _block(
    group: Sequence[int],
    spans: Sequence[tuple[str, frozenset[str]]],
    statements: Sequence[ast.stmt],
) -> Block:
    within = [statements[number] for number in group]
    defines = frozenset(name for one in within for name in _defined(one))
    return Block(
        code=_clean("\n".join(spans[number][0] for number in group)),
        regions=tuple(sorted({name for number in group for name in spans[number][1]})),
        defines=defines,
        needs=frozenset(name for one in within for name in _needed(one)) - defines,
        uses=frozenset(name for one in within for name in _names(one)) - defines,
        runs=any(_calls(one) for one in within),
    )


def _clean(code: str) -> str:
    """Take out the marks of regions; `# (1)!` becomes `# (1)`, as the list under it says."""
    return MARKER.sub(r"# (\1)", MARKED_LINE.sub("", code)).strip("\n")


def plain_code(code: str) -> str:
    """The code of a region that a notebook quotes, without what is left of its marks."""
    return re.sub(r"^[ \t]*#[ \t]*$", "", _clean(code), flags=re.MULTILINE).strip("\n")


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, NEW_SCOPE):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _needed(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that must exist when a statement is reached."""
    for part in _evaluated(statement):
        yield from _names(part)


def _calls(statement: ast.stmt) -> bool:
    """Say whether something is called when a statement is reached."""
    return any(isinstance(one, ast.Call) for p in _evaluated(statement) for one in ast.walk(p))


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that Python evaluates when it is reached."""
    if isinstance(statement, FUNCTION):
        values = (*statement.args.defaults, *statement.args.kw_defaults)
        yield from (*statement.decorator_list, *(one for one in values if one))
    elif isinstance(statement, ast.ClassDef):
        yield from (*statement.decorator_list, *statement.bases)
        for part in statement.body:
            yield from _evaluated(part)
    elif isinstance(statement, ast.AnnAssign):
        yield from (statement.value,) if statement.value else ()
    else:
        yield statement


def order(program: Program, regions: Sequence[str]) -> list[tuple[str, tuple[Block, ...]]]:
    """The blocks by region, in the order of the page, then by `` those that no region shows.

    A region already placed, because an earlier one needs it, comes no second time.
    """
    owners = {name: block for block in program.blocks for name in block.defines}
    placed: list[Block] = []
    begun: set[tuple[Block, bool]] = set()
    result = []
    for region in regions:
        begin = len(placed)
        for block in program.blocks:
            if region in block.regions:
                _place(block, owners, placed, begun)
        if placed[begin:]:
            result.append((region, tuple(placed[begin:])))
    begin = len(placed)
    for block in program.blocks:
        _place(block, owners, placed, begun)
    return [*result, ("", tuple(placed[begin:]))] if placed[begin:] else result


def _place(
    block: Block,
    owners: Mapping[str, Block],
    placed: list[Block],
    begun: set[tuple[Block, bool]],
    run: bool = False,
) -> None:
    """Place a block after what it needs; `run`: it is called before the program is whole."""
    if (block, run) in begun:
        return
    begun.add((block, run))
    for name in sorted(block.uses if run else block.needs):
        if name in owners:
            _place(owners[name], owners, placed, begun, run or block.runs)
    if block not in placed:
        placed.append(block)
