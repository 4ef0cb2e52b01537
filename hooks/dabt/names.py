"""Latin names with hyphens stay on one line: in Arabic, `few-shot` cut in two reads backwards.

So do a number and its unit, or its sign: next to Arabic, `16 GB` is drawn as GB 16, and -3 as 3-.
"""

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
_UNIT = r"(?:[KMGTP]i?B|kB|TFLOPS|FLOPS|[kMGT]?Hz|k?Wh?|ms|min|px)(?:/[a-z]+)?"
_NUMBER = r"\d+(?:[.,]\d+)*"
# Behind a Latin name (`A100 80 GB`) it stands right already.
MEASURE = (
    r"(?<![\w.,/)=-])(?<![A-Za-z0-9] )"
    rf"([-−+]?{_NUMBER}[ \u00a0\u202f]{_UNIT}(?![\w-])|[-−+]{_NUMBER}%?(?![\w-]))"
)
# After code, links and raw HTML have been taken out of the text.
PRIORITY = 15


class WholeNames(InlineProcessor):
    """Wraps what it finds in an element that the style keeps whole in pages from right to left."""

    def __init__(self, pattern: str, md: Markdown, classes: str) -> None:
        """Keep the classes that the element gets."""
        super().__init__(pattern, md)
        self.classes = classes

    def handleMatch(self, m: re.Match, data: str) -> tuple[Element, int, int]:
        """Return the element that replaces a match."""
        element = Element("span", {"class": self.classes})
        element.text = AtomicString(m[1])
        return element, m.start(0), m.end(0)


class WholeNamesExtension(Extension):
    """Finds names and measures in what is left when code, links and HTML are out of a text."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the patterns."""
        names = WholeNames(NAME, md, "dabt-name")
        measures = WholeNames(MEASURE, md, "dabt-name dabt-ltr")
        md.inlinePatterns.register(measures, "dabt-measures", PRIORITY + 1)
        md.inlinePatterns.register(names, "dabt-names", PRIORITY)
