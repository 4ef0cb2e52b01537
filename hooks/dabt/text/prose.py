"""What of a source file is prose in a language: all else is blanked, and places stay the same.

Not prose: code, math, addresses, markup, front matter, comments, what stands between quotation
marks, and English in brackets, which these pages set in italics.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt import yamlsource
from dabt.directives import first_line, outside_code

# Neither a letter nor a space: no word and no phrase is found across it.
BLANK = "\0"
MARKUP = re.compile(
    r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"  # code
    r"|\$[^$\n]+\$"  # math
    r"|\+\+[\w+-]+\+\+"  # keys
    r"|<[^<>\n]+>"  # tags and addresses
    r"|(?<=\])\([^()\s]*\)|(?<=\])\[[^\]\n]*\]"  # targets of links
    r"|(?:https?|mailto):[^\s<>)\]«»]+"
    r"|\{[^{}\n]*\}"  # attributes, and the holes of interface strings
    r"|\[\^[^\]\n]+\]",
    re.DOTALL,
)
QUOTED = re.compile(r"«[^«»]{0,400}»|“[^“”]{0,400}”")
IN_BRACKETS = re.compile(r"\((?:\*[^*()\n]+\*(?:, )?)+\)|\*\([^*()\n]+\)\*")
PATTERNS = (MARKUP, QUOTED, IN_BRACKETS)
SKIPPED = re.compile(r"\s*(?::::|--8<--|\[[^\]]+\]:\s)")
# How a text is written matters in notes, quotations and front matter too.
SKIPPED_IN_WRITING = re.compile(r"\s*(?::::|--8<--|\[[^\]^][^\]]*\]:\s)")
FRONT_TEXT = re.compile(r"""(?P<before>(?:title|description):\s*["']?)(?P<text>.*?)["']?\s*$""")
# The title of a box or a tab stands between quotation marks that are no part of it.
BOX = re.compile(r'(?P<before>\s*(?:!!!|\?\?\?\+?|===)[^"]*")(?P<text>.*)"\s*$')
NOTE = re.compile(r"(?P<before>\s*\[\^[^\]]+\]:)(?P<text>.*)$")
# The title of a work keeps the typography of its own language.
WORK = re.compile(r"(?<=\[)\*[^*\n]+\*(?=\])")
# A run of another language keeps the marks of that language.
FOREIGN = re.compile(r"<(\w+)\b[^<>]*\blang=[^<>]*>[^\n]*?</\1>")
WRITING = (FOREIGN, MARKUP, WORK)


@dataclass(frozen=True)
class Prose:
    """The prose of a file in one language: as long as the file, with blanks for the rest."""

    file: str
    language: str
    text: str

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column, both from 1, of an offset."""
        line = self.text.count("\n", 0, offset)
        return line + 1, offset - (self.text.rfind("\n", 0, offset) + 1) + 1


def markdown_prose(text: str, file: str, language: str) -> Prose:
    """The prose of a Markdown page, as far as the choice of its words is its own."""
    begins = first_line(text) - 1
    lines = text.split("\n")
    kept = {
        number
        for number, line in outside_code(lines)
        if number >= begins and not SKIPPED.match(line)
    }
    rows = (line if number in kept else BLANK * len(line) for number, line in enumerate(lines))
    return Prose(file, language, blanked("\n".join(rows)))


def markdown_writing(text: str, file: str, language: str) -> Prose:
    """All that is written in a Markdown page, with its title, quotations and notes."""
    begins = first_line(text) - 1
    lines = text.split("\n")
    inside = dict(outside_code(lines))
    rows = [
        _between(FRONT_TEXT, line) or BLANK * len(line)
        if number < begins
        else _written(line)
        if number in inside
        else BLANK * len(line)
        for number, line in enumerate(lines)
    ]
    return Prose(file, language, blanked("\n".join(rows), WRITING))


def _written(line: str) -> str:
    """What is written in a line of Markdown outside code, all else blanked."""
    if SKIPPED_IN_WRITING.match(line):
        return BLANK * len(line)
    return _between(BOX, line) or _between(NOTE, line) or line


def _between(pattern: re.Pattern[str], line: str) -> str:
    """A line with all blanked but the text that a pattern finds in it; empty if it does not."""
    match = pattern.match(line)
    if not match:
        return ""
    start, end = match.span("text")
    return BLANK * start + line[start:end] + BLANK * (len(line) - end)


def yaml_prose(path: Path, codes: tuple[str, ...]) -> Iterator[Prose]:
    """The prose of a data file, by language: texts below a key that names one."""
    root, findings = yamlsource.read(path)
    for code in codes if root is not None else ():
        yield _kept(findings, code, _texts(root, code, False), 0, PATTERNS)


def yaml_writing(text: str, file: str, code: str) -> Prose:
    """All that is written in a data file in a language, without the quotes of YAML."""
    findings = yamlsource.Findings(file)
    root = yamlsource.compose(text, findings)
    nodes = () if root is None else _texts(root, code, False)
    return _kept(findings, code, nodes, 1, WRITING)


def _kept(
    findings: yamlsource.Findings,
    code: str,
    nodes: Iterable[ScalarNode],
    trim: int,
    patterns: Sequence[re.Pattern[str]],
) -> Prose:
    """A file in which only some texts are left; `trim` takes that many signs off a quoted one."""
    text, kept, end = findings.text, [], 0
    for node in nodes:
        off = trim if node.style in ("'", '"') else 0
        start, stop = node.start_mark.index + off, node.end_mark.index - off
        kept += [_blank(text[end:start]), text[start:stop]]
        end = stop
    return Prose(findings.file, code, blanked("".join([*kept, _blank(text[end:])]), patterns))


def _texts(node: Node, code: str, inside: bool) -> Iterator[ScalarNode]:
    """The texts of a language, in the order of the file."""
    if isinstance(node, ScalarNode):
        if inside:
            yield node
    elif isinstance(node, SequenceNode):
        for item in node.value:
            yield from _texts(item, code, inside)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _texts(value, code, inside or key.value == code)


def blanked(text: str, patterns: Sequence[re.Pattern[str]] = PATTERNS) -> str:
    """A text without what is no prose inside a line, as long as before."""
    for pattern in patterns:
        text = pattern.sub(lambda match: _blank(match[0]), text)
    return text


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", BLANK, text)
