"""Latin names with hyphens stay on one line: in Arabic, `few-shot` cut in two reads backwards."""

import re
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.util import AtomicString

# At most 32 characters: a longer one could be wider than a phone.
NAME = (
    r"(?<![\w/.@#%&=-])(?=\S{1,32}(?![\w-]))"
    r"([A-Za-z][A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)*-[A-Za-z0-9.]*[A-Za-z0-9])(?![\w-])"
)
# After code, links and raw HTML have been taken out of the text.
PRIORITY = 15


class WholeNames(InlineProcessor):
    """Wraps a name in an element that the style keeps whole in pages from right to left."""

    def handleMatch(self, m: re.Match, data: str) -> tuple[Element, int, int]:
        """Return the element that replaces a match."""
        element = Element("span", {"class": "dabt-name"})
        element.text = AtomicString(m[1])
        return element, m.start(0), m.end(0)


class WholeNamesExtension(Extension):
    """Finds the names in what is left of a text when code, links and HTML are out of it."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the pattern."""
        md.inlinePatterns.register(WholeNames(NAME, md), "dabt-names", PRIORITY)
