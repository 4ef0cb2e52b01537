"""An HTML page as flat, immutable lists: what the rules look through."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from html.parser import HTMLParser

VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"))
VOID |= {"param", "source", "track", "wbr"}


@dataclass(frozen=True)
class Element:
    """One tag. Its descendants are `elements[index + 1 : end]`; `parent` is -1 at the top."""

    index: int
    end: int
    parent: int
    tag: str
    attributes: Mapping[str, str]
    line: int
    column: int

    def get(self, name: str) -> str:
        """Return the value of an attribute; empty when it is empty or not there."""
        return self.attributes.get(name, "")

    def tokens(self, name: str) -> list[str]:
        """Return the words of an attribute, such as `class` or `rel`."""
        return self.get(name).split()

    def holds(self, other: "Element") -> bool:
        """Tell whether `other` lies inside this element."""
        return self.index < other.index < self.end


@dataclass(frozen=True)
class Text:
    """A run of text inside the element of index `parent`, after `position` opened elements."""

    parent: int
    position: int
    content: str
    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """The tags and texts of one page, each in the order of the file."""

    elements: tuple[Element, ...]
    texts: tuple[Text, ...]

    def all(self, *tags: str) -> Iterator[Element]:
        """Yield the elements with one of these tags."""
        return (element for element in self.elements if element.tag in tags)

    def with_class(self, name: str) -> Iterator[Element]:
        """Yield the elements of a class."""
        return (element for element in self.elements if name in element.tokens("class"))

    def ancestors(self, index: int) -> Iterator[Element]:
        """Yield the element of that index and those around it, from the inside out."""
        while index >= 0:
            yield self.elements[index]
            index = self.elements[index].parent

    def children(self, element: Element) -> Iterator[Element]:
        """Yield the elements directly inside another."""
        inside = self.elements[element.index + 1 : element.end]
        return (child for child in inside if child.parent == element.index)

    def text_of(self, element: Element) -> str:
        """Return all the text inside an element."""
        first = bisect_left(self.texts, element.index + 1, key=lambda text: text.position)
        last = bisect_right(self.texts, element.end, key=lambda text: text.position)
        return "".join(
            text.content
            for text in self.texts[first:last]
            if element.index <= text.parent < element.end
        )

    @cached_property
    def ids(self) -> frozenset[str]:
        """Everything that a #fragment can name."""
        found = {element.get("id") for element in self.elements}
        return frozenset(found | {a.get("name") for a in self.all("a")}) - {""}


def read(html: str) -> Document:
    """Read a page. Unclosed tags end with the element around them, as browsers mostly do."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.leave(0)
    return Document(tuple(reader.elements), tuple(reader.texts))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.texts: list[Text] = []
        self.open: list[int] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        line, column = self.getpos()
        index, parent = len(self.elements), self.open[-1] if self.open else -1
        # The first of two equal attributes counts, as in browsers.
        values = {name: value or "" for name, value in reversed(attributes)}
        self.elements.append(Element(index, index + 1, parent, tag, values, line, column + 1))
        if tag not in VOID:
            self.open.append(index)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        # `<path/>` closes in SVG only; in HTML the slash says nothing.
        if tag not in VOID and any(self.elements[index].tag == "svg" for index in self.open):
            self.leave(len(self.open) - 1)

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.open) - 1, -1, -1):
            if self.elements[self.open[depth]].tag == tag:
                return self.leave(depth)
        return None

    def handle_data(self, data: str) -> None:
        line, column = self.getpos()
        parent = self.open[-1] if self.open else -1
        self.texts.append(Text(parent, len(self.elements), data, line, column + 1))

    def leave(self, depth: int) -> None:
        """Close every element from that depth on."""
        for index in self.open[depth:]:
            self.elements[index] = replace(self.elements[index], end=len(self.elements))
        del self.open[depth:]
