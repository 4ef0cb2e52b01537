"""A chapter as a notebook tells it: the sections that show code, in the Markdown of notebooks.

Boxes are opened, figures and quizzes left to the page, notes become a list at the end, and links
lead to the published site; without its address their words stay.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, normpath

from dabt.directives import DIRECTIVE, FENCE, FRONT_MATTER
from dabt.links import page_folder
from dabt.notebooks.program import plain_code
from dabt.pages import HEADING
from dabt.snippets import INCLUDE, read_included

BOX = re.compile(r'(?:!!!|\?\?\?\+?|===)[ \t]*(?:[\w-]+[ \t]*)*(?:"(?P<title>.*)")?[ \t]*$')
# `code`{ .dabt-whole }, ## Title { #id }: attributes that only the site reads.
ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}]*\}")
TITLE = re.compile(r'title="(?P<title>[^"]*)"')
NOTE = re.compile(r"\[\^(?P<name>[\w-]+)\]")
NOTE_TEXT = re.compile(r"^\[\^(?P<name>[\w-]+)\]:[ \t]*(?P<text>.*)$")
LINK = re.compile(r"(?<!!)\[(?P<words>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<to>[^()\s]+)\)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LANGUAGE = re.compile(r"\.?(?P<name>[a-z]\w*)")
MARKUP = re.compile(r"^</?div[^>]*>$")


@dataclass(frozen=True)
class Text:
    """Markdown; `code` when it is a fence, which runs from left to right in any language."""

    markdown: str
    code: bool = False


@dataclass(frozen=True)
class Shown:
    """The place where the page shows a region of the notebook's program."""

    region: str


@dataclass(frozen=True)
class Told:
    """A chapter: its title, what stands before its first section, the sections, the notes."""

    title: str
    parts: tuple[Text | Shown, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Where:
    """A page (`peft/lora.md`), its program, and the address of its language's tree or ``."""

    page: str
    program: str
    examples: Path
    address: str


def tell(source: str, where: Where) -> Told:
    """The parts of a page that go into a notebook."""
    text = FRONT_MATTER.sub("", source, count=1)
    defined = dict(_notes(text))
    lines = [line for line in text.split("\n") if not NOTE_TEXT.match(line)]
    title, sections = _sections(lines)
    shown = [one for number, one in enumerate(sections) if number == 0 or _has_code(one)]
    numbers: dict[str, int] = {}
    parts = [part for section in shown for part in _parts(section, where, numbers)]
    notes = tuple(_inline(defined[name], where, numbers) for name in list(numbers))
    return Told(_inline(title, where, numbers), tuple(_merge(parts)), notes)


def regions(told: Told) -> tuple[str, ...]:
    """The regions of the program, in the order of the page."""
    return tuple(part.region for part in told.parts if isinstance(part, Shown))


def _notes(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if match := NOTE_TEXT.match(line):
            yield match["name"], match["text"]


def _sections(lines: Sequence[str]) -> tuple[str, list[list[str]]]:
    """The title, then what comes before the first section, then each section."""
    title, found, fence = "", [[]], ""
    for line in lines:
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark["mark"]
        elif mark and mark["mark"].startswith(fence) and not mark["info"].strip():
            fence = ""
        heading = None if fence else HEADING.match(line)
        if heading and heading["marks"] == "#":
            title = heading["title"]
            continue
        if heading and heading["marks"] == "##":
            found.append([])
        found[-1].append(line)
    return title, found


def _has_code(section: Sequence[str]) -> bool:
    return any((found := INCLUDE.match(line)) and found["path"].endswith(".py") for line in section)


def _parts(lines: Sequence[str], where: Where, notes: dict[str, int]) -> Iterator[Text | Shown]:
    """Yield text line by line and fences whole, boxes opened."""
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence := FENCE.match(line):
            inside = []
            while number < len(lines) and lines[number].strip() != fence["mark"]:
                inside.append(lines[number])
                number += 1
            number += 1
            yield from _fence(fence["info"], inside, where)
        elif box := BOX.match(line):
            end = number
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
                end += 1
            if box["title"]:
                yield Text(f"**{_inline(box['title'], where, notes)}**\n")
            yield from _parts([one[4:] for one in lines[number:end]], where, notes)
            number = end
        elif not DIRECTIVE.match(line) and not MARKUP.match(line):
            yield Text(_inline(line, where, notes))


def _fence(info: str, inside: Sequence[str], where: Where) -> Iterator[Text | Shown]:
    found = INCLUDE.match(inside[0]) if len(inside) == 1 else None
    if found and found["path"] == where.program:
        yield Shown(found["region"])
        return
    indent = len(inside[0]) - len(inside[0].lstrip()) if inside else 0
    text = "\n".join(line[indent:] if not line[:indent].strip() else line for line in inside)
    if found:
        text = plain_code(read_included(found["path"], found["region"] or "", where.examples))
    language = LANGUAGE.search(info.replace("{", ""))
    if title := TITLE.search(info):
        yield Text(f"`{title['title']}`\n")
    yield Text(f"```{language['name'] if language else ''}\n{text}\n```", code=True)


def _inline(line: str, where: Where, notes: dict[str, int]) -> str:
    """A line of text without what only the site reads, outside code."""
    result, end = [], 0
    codes = [*CODE.finditer(line)]
    for match in codes:
        result += [line[end : match.start()], match[0]]
        end = match.end()
    result.append(line[end:])
    result[::2] = [_note(ATTRIBUTES.sub("", one), notes) for one in result[::2]]
    return LINK.sub(lambda match: _link(match, where), "".join(result)).rstrip()


def _note(text: str, notes: dict[str, int]) -> str:
    return NOTE.sub(lambda m: f" [{notes.setdefault(m['name'], len(notes) + 1)}]", text)


def _link(match: re.Match[str], where: Where) -> str:
    target = match["to"]
    if re.match(r"[a-z]+:", target):
        return match[0]
    if not where.address:
        return match["words"]
    path, mark, section = target.partition("#")
    page = normpath(f"{dirname(where.page)}/{path}") if path else where.page
    folder = page_folder(page) if page.endswith(".md") else page.rstrip("/")
    return f"[{match['words']}]({where.address}{folder}/{mark}{section})"


def _merge(parts: Sequence[Text | Shown]) -> Iterator[Text | Shown]:
    """Yield the parts with the text between two fences in one piece."""
    lines: list[str] = []
    for part in (*parts, None):
        if isinstance(part, Text) and not part.code:
            lines.append(part.markdown)
            continue
        if text := re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n"):
            yield Text(text)
        lines = []
        if part:
            yield part
