"""Included code: every `--8<-- "file:region"` of a page must name code that exists.

The build stops too when one does not, but without saying where. Here the page and its line are
named, all of them at once, and the explanations under a program are counted against its markers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from dabt.directives import FENCE
from dabt.problems import Problem, did_you_mean

# All that pymdownx.snippets takes for an include: any number of hyphens, either quote.
INCLUDE = re.compile(
    r"""^(?P<indent>[ \t]*)-+8<-+[ \t]+(?P<quote>["'])"""
    r"""(?P<path>(?:(?!(?P=quote))[^:;])+)(?::(?P<region>(?:(?!(?P=quote)).)*))?(?P=quote)[ \t]*$"""
)
BLOCK = re.compile(r"^(?P<indent>[ \t]*)-+8<-+[ \t]*$")
# A marker after `;` is escaped: text, not a region.
SECTION = r"(?<![;-])-+8<-+[ \t]+\[[ \t]*{kind}[ \t]*:[ \t]*{name}[ \t]*\]"
REGION = re.compile(SECTION.format(kind="start", name=r"(?P<name>[A-Za-z][\w-]*)"))
MARKER = re.compile(r"[ \t]*# \((?P<number>\d+)\)!?[ \t]*$", re.MULTILINE)
ITEM = re.compile(r"[ \t]*\d+\.[ \t]+\S")
# Between snippets (32), which bring the code in, and fences (25), which take it out of reach.
CLEAN_PRIORITY = 28
# One range of lines or several: `3:9`, `:5`, `1:3,8:`.
RANGE = r"-?\d*(?::-?\d*)?"
NUMBERS = re.compile(rf"{RANGE}(?:,{RANGE})*")


@dataclass(frozen=True)
class Include:
    """One line that includes a file or one of its regions. `annotated` when its fence says so."""

    path: str
    region: str
    line: int
    column: int
    annotated: bool
    explanations: int


def scan_includes(text: str) -> tuple[Include, ...]:
    """Return what a Markdown source includes, with the explanations counted under each fence."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        if match := INCLUDE.match(line):
            found.append(
                Include(
                    path=match["path"],
                    region=match["region"] or "",
                    line=number + 1,
                    column=len(match["indent"]) + 1,
                    annotated=number > 0 and ".annotate" in lines[number - 1],
                    explanations=_count_items(lines[number + 2 :]),
                )
            )
    return tuple(found)


def _count_items(lines: list[str]) -> int:
    """Count the items of the list that follows a fence, until another kind of block begins."""
    count = 0
    for line in lines:
        if ITEM.match(line):
            count += 1
        elif line.strip() and not line.startswith((" ", "\t")):
            return count
    return count


def check_includes(text: str, file: str, examples: Path) -> Iterator[Problem]:
    """Yield the includes that name no file or region, and the explanations that do not add up."""
    yield from _check_blocks(text, file)
    for include in scan_includes(text):
        place = (file, include.line, include.column)
        source = examples / include.path
        inside = source.resolve().is_relative_to(examples.resolve())
        if not inside or not source.is_file():
            known = sorted(
                one.relative_to(examples).as_posix()
                for one in (source.parent.glob("*") if inside else ())
                if one.is_file()
            )
            message = f"no file '{include.path}' in {examples.name}/"
            yield Problem(*place, message, "snippet-file", did_you_mean(include.path, known))
            continue
        try:
            code = source.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            message = f"'{include.path}' is not text in UTF-8"
            yield Problem(*place, message, "snippet-file", "save the file as UTF-8")
            continue
        regions = [match["name"] for match in REGION.finditer(code)]
        if include.region and not NUMBERS.fullmatch(include.region):
            if include.region not in regions:
                message = f"no region '{include.region}' in '{include.path}'"
                yield Problem(
                    *place, message, "snippet-region", did_you_mean(include.region, regions)
                )
                continue
            if not _end_of(include.region, code):
                message = f"the region '{include.region}' of '{include.path}' has no end"
                mend = f"write '--8<-- [end:{include.region}]' where it ends"
                yield Problem(*place, message, "snippet-region", mend)
                continue
            code = _cut(code, include.region)
        if include.annotated:
            yield from _check_explanations(include, code, place)


def _check_blocks(text: str, file: str) -> Iterator[Problem]:
    """Yield the beginnings of the block form, whose lines are not checked here."""
    marks = [
        (number, len(match["indent"]) + 1)
        for number, line in enumerate(text.split("\n"), 1)
        if (match := BLOCK.match(line))
    ]
    for number, column in marks[::2]:
        mend = 'write each file on a line of its own: --8<-- "file:region"'
        yield Problem(file, number, column, "a block of includes", "snippet-block", mend)


def read_included(path: str, region: str, examples: Path) -> str:
    """Return the text that an include brings into a page; nothing where there is none."""
    source = examples / path
    code = source.read_text(encoding="utf-8", errors="replace") if source.is_file() else ""
    if not region:
        return code
    if not NUMBERS.fullmatch(region):
        return _cut(code, region)
    return "\n".join(_lines_of(code.split("\n"), region))


def _lines_of(lines: list[str], ranges: str) -> Iterator[str]:
    """Yield the lines of ranges such as `3:9,12`; numbers below zero count from the end."""
    count = len(lines)
    for one in ranges.split(","):
        first, mark, last = one.partition(":")
        begin = int(first or 1)
        end = int(last or count) if mark else begin
        begin, end = (number + count + 1 if number < 0 else number for number in (begin, end))
        yield from lines[max(begin - 1, 0) : end]


def _end_of(region: str, code: str) -> re.Match[str] | None:
    return re.search(SECTION.format(kind="end", name=re.escape(region)), code)


def _cut(code: str, region: str) -> str:
    begin = re.search(SECTION.format(kind="start", name=re.escape(region)), code)
    end = _end_of(region, code)
    return code[begin.end() if begin else 0 : end.start() if end else len(code)]


def _check_explanations(
    include: Include, code: str, place: tuple[str, int, int]
) -> Iterator[Problem]:
    numbers = [int(match["number"]) for match in MARKER.finditer(code)]
    if numbers != list(range(1, len(numbers) + 1)):
        message = f"the markers of '{include.path}:{include.region}' are {numbers}"
        yield Problem(*place, message, "annotation-order", "number them 1, 2, 3 … in the program")
    elif len(numbers) != include.explanations:
        message = (
            f"{len(numbers)} markers in '{include.path}:{include.region}', "
            f"{include.explanations} explanations under it"
        )
        yield Problem(*place, message, "annotation-count", "write one list item for each marker")


class PlainCodeExtension(Extension):
    """Takes the markers out of code that is shown without explanations: a whole program, say."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the preprocessor."""
        md.preprocessors.register(_Clean(md), "dabt-plain-code", CLEAN_PRIORITY)


class _Clean(Preprocessor):
    """Removes `# (1)!` in every fence that is not `.annotate`."""

    def run(self, lines: list[str]) -> list[str]:
        closing, annotated, result = "", False, []
        for line in lines:
            fence = FENCE.match(line)
            # "```a```" is code within a line: it opens nothing.
            if fence and not closing and "`" not in fence["info"]:
                closing, annotated = fence["mark"], ".annotate" in fence["info"]
            elif fence and fence["mark"].startswith(closing) and not fence["info"].strip():
                closing = ""
            elif closing and not annotated:
                line = MARKER.sub("", line)
            result.append(line)
        return result
