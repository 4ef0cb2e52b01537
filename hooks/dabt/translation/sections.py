"""A page cut into its sections: what each says, and what it is made of."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from dabt.directives import FENCE, FRONT_MATTER, outside_code, scan
from dabt.pages import HEADING, SECTION_ID
from dabt.snippets import INCLUDE

# What stands before the first heading with an id; front matter is said again by the first section.
UNNAMED = "page"
IMAGE = re.compile(r"!\[[^\]]*\]\(\s*<?(?P<target>[^)\s>]+)")
NOTE = re.compile(r"\[\^(?P<name>[^\]\s]+)\]")
DEFINITION = re.compile(r"\[\^(?P<name>[^\]\s]+)\]:")


@dataclass(frozen=True)
class Section:
    """A heading with an id and all under it, up to the next one of any level.

    `text` has the title too with its level, and the footnotes first mentioned here.
    `parts` are what must be the same in every language: level, code, directives, images.
    """

    id: str
    level: int
    line: int
    title: str
    text: str
    parts: tuple[str, ...]


def read_sections(source: str) -> tuple[Section, ...]:
    """Return the sections of a Markdown source, in order; two with the same id are one."""
    lines = source.split("\n")
    matter = FRONT_MATTER.match(source)
    begin = matter[0].count("\n") if matter else 0
    prose = dict(outside_code(lines))
    notes = _definitions(lines, prose)
    body = [number for number in range(begin, len(lines)) if number not in notes]
    found: dict[str, list[int]] = {}
    name = UNNAMED
    for number in body:
        name = _id_of(prose.get(number, "")) or name
        found.setdefault(name, []).append(number)
    if UNNAMED in found and not "".join(lines[number] for number in found[UNNAMED]).strip():
        del found[UNNAMED]
    footnotes = _by_section(found, prose, lines, notes)
    sections = [_section(one, numbers, lines, prose, footnotes) for one, numbers in found.items()]
    if matter and sections:
        first = sections[0]
        text = f"{_said_by(matter[0])}\n{first.text}"
        sections[0] = Section(first.id, first.level, first.line, first.title, text, first.parts)
    return tuple(sections)


def _id_of(line: str) -> str:
    heading = HEADING.match(line)
    name = SECTION_ID.search(heading["attributes"] or "") if heading else None
    return name[1] if name else ""


def _section(
    name: str, numbers: list[int], lines: list[str], prose: dict[int, str], notes: dict[str, str]
) -> Section:
    heading = HEADING.match(prose.get(numbers[0], ""))
    title = heading["title"] if heading else ""
    rest = numbers[1:] if heading else numbers
    level = len(heading["marks"]) if heading else 0
    first = f"{'#' * level} {title}"
    text = "\n".join([first, *(lines[number] for number in rest), notes.get(name, "")])
    parts = (f"level {level}", *_parts([lines[number] for number in rest]))
    return Section(name, level, numbers[0] + 1, title, text, parts)


def _parts(lines: list[str]) -> Iterator[str]:
    """Yield what a section is made of, in order, as a message can name it."""
    prose = dict(outside_code(lines))
    directives = {one.line - 1: one for one in scan("\n".join(lines))}
    code: list[str] = []
    for number, line in enumerate(lines):
        if number not in prose:
            code.append(line.strip())
            continue
        yield from _code(code)
        code = []
        if number in directives:
            yield f"{directives[number].name} {directives[number].argument}"
        elif include := INCLUDE.match(line):
            yield f"include {include['path']}:{include['region'] or ''}"
        else:
            yield from (f"image {match['target']}" for match in IMAGE.finditer(prose[number]))
    yield from _code(code)


def _code(lines: list[str]) -> Iterator[str]:
    """Yield the fences of consecutive lines out of Markdown's reach; comments are nobody's."""
    mark, inside = "", []
    for line in lines:
        fence = FENCE.match(line)
        if not mark and fence:
            mark, inside = fence["mark"], []
        elif mark and fence and fence["mark"].startswith(mark) and not fence["info"].strip():
            yield f"code {' '.join(' '.join(inside).split())}"
            mark = ""
        elif mark:
            inside.append(line)


def _definitions(lines: list[str], prose: dict[int, str]) -> dict[int, str]:
    """Return line → name for the lines of footnotes, which stand at the end of a page."""
    found: dict[int, str] = {}
    name = ""
    for number, line in enumerate(lines):
        begins = DEFINITION.match(line) if number in prose else None
        if begins:
            name = begins["name"]
        elif line.strip() and not line.startswith((" ", "\t")):
            name = ""
        if name and line.strip():
            found[number] = name
    return found


def _by_section(
    found: dict[str, list[int]], prose: dict[int, str], lines: list[str], notes: dict[int, str]
) -> dict[str, str]:
    """Return the footnotes that each section is the first to mention; the others go to the last."""
    texts: dict[str, list[str]] = {}
    for number, name in notes.items():
        texts.setdefault(name, []).append(lines[number])
    said: dict[str, str] = {}
    for section, numbers in found.items():
        mentioned = [m["name"] for n in numbers for m in NOTE.finditer(prose.get(n, ""))]
        own = [texts.pop(name) for name in mentioned if name in texts]
        said[section] = "\n".join(line for note in own for line in note)
    if texts and found:
        left = "\n".join(line for note in texts.values() for line in note)
        last = list(found)[-1]
        said[last] = f"{said[last]}\n{left}"
    return said


def _said_by(matter: str) -> str:
    """Return the title and the description of a page's front matter: what a reader is shown."""
    try:
        values = yaml.load(matter.strip().strip("-."), yaml.BaseLoader)
    except yaml.YAMLError:
        return matter
    if not isinstance(values, dict):
        return matter
    return "\n".join(str(values[key]) for key in ("title", "description") if key in values)
