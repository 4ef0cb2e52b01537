"""What of a source file is prose in a language: all else is blanked, and places stay the same.

Not prose: code, math, addresses, markup, front matter, comments, what stands between quotation
marks, and English in brackets, which these pages set in italics.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt import yamlsource
from dabt.directives import first_line, outside_code
from dabt.problems import shown

# Neither a letter nor a space: no word and no phrase is found across it.
BLANK = "\0"
MARKUP = re.compile(
    r"(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"  # code
    r"|\$[^$\n]+\$"  # math
    r"|<[^<>\n]+>"  # tags and addresses
    r"|(?<=\])\([^()\s]*\)|(?<=\])\[[^\]\n]*\]"  # targets of links
    r"|(?:https?|mailto):[^\s<>)\]«»]+"
    r"|\{[^{}\n]*\}"  # attributes, and the holes of interface strings
    r"|\[\^[^\]\n]+\]",
    re.DOTALL,
)
QUOTED = re.compile(r"«[^«»]{0,400}»|“[^“”]{0,400}”")
IN_BRACKETS = re.compile(r"\((?:\*[^*()\n]+\*(?:, )?)+\)|\*\([^*()\n]+\)\*")
SKIPPED = re.compile(r"\s*(?::::|--8<--|\[[^\]]+\]:\s)")


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
    """The prose of a Markdown page."""
    begins = first_line(text) - 1
    lines = text.split("\n")
    kept = {
        number
        for number, line in outside_code(lines)
        if number >= begins and not SKIPPED.match(line)
    }
    rows = (line if number in kept else BLANK * len(line) for number, line in enumerate(lines))
    return Prose(file, language, blanked("\n".join(rows)))


def yaml_prose(path: Path, codes: tuple[str, ...]) -> Iterator[Prose]:
    """The prose of a data file, by language: texts below a key that names one."""
    root, findings = yamlsource.read(path)
    for code in codes if root is not None else ():
        text, kept, end = findings.text, [], 0
        for node in _texts(root, code, False):
            start, stop = node.start_mark.index, node.end_mark.index
            kept += [_blank(text[end:start]), text[start:stop]]
            end = stop
        yield Prose(shown(path), code, blanked("".join([*kept, _blank(text[end:])])))


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


def blanked(text: str) -> str:
    """A text without what is no prose inside a line, as long as before."""
    for pattern in (MARKUP, QUOTED, IN_BRACKETS):
        text = pattern.sub(lambda match: _blank(match[0]), text)
    return text


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", BLANK, text)
