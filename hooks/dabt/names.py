"""Latin names with hyphens stay on one line: in Arabic, `few-shot` cut in two reads backwards.

So do a number and its unit or sign, and a date: next to Arabic, `16 GB` is drawn as GB 16, -3 as
3- and 2026-11-30 as 30-11-2026. Long names in code may break, but only behind one of their signs.
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
    rf"([-−+]?{_NUMBER}[ \u00a0\u202f]{_UNIT}(?![\w-])|[-−+]{_NUMBER}%?(?![\w-])"
    r"|\d{4}-\d\d-\d\d(?![\w-]))"
)
# Code in the HTML, where `<`, `>` and `&` are entities.
INLINE_CODE = re.compile(
    r"(?<!<pre>)(?<!<pre><span></span>)(<code(?![^>]*dabt-whole)(?: [^>]*)?>)"
    r"((?:(?!&lt;)[^<])+)(?=</code>)"
)
# An option is not parted from its hyphens; `8-` is no option.
OPTION = re.compile(r"((?<![\w-])--[\w-]{1,24}(?![\w-]))")
# Nor is a file from its suffix, nor a number at its point.
SUFFIX = r"\.(?:py|jsonl?|txt|md|ya?ml|sh|safetensors|gguf)\b"
SIGN = re.compile(rf"(?<=[\w)\]])(?!{SUFFIX}|(?<=\d)[.,]\d)[_./=:,(\[-]+(?=\w)")
# Shorter ones go to the next line whole.
LONG = 16
TITLE = re.compile(r'<h[2-6] id="([^"]+)">(.*?)<a class="headerlink"', re.DOTALL)
NOT_CODE = re.compile(r"<(?!/?code\b)[^>]*>")
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


def with_breaks(html: str) -> str:
    """Return a page's HTML whose inline code says where a line may end in it, and where not."""
    return INLINE_CODE.sub(lambda code: code[1] + _broken(code[2]), html)


def _broken(code: str) -> str:
    pieces = OPTION.split(code)
    breaks = SIGN if len(code) >= LONG else None
    for number, piece in enumerate(pieces):
        if number % 2:
            pieces[number] = f'<span class="dabt-whole">{piece}</span>'
        elif breaks:
            pieces[number] = breaks.sub(r"\g<0><wbr>", piece)
    return "".join(pieces)


def titles_with_code(html: str) -> dict[str, str]:
    """Return id → title for the headings of a page that hold code, with no other markup left.

    A table of contents drops the markup of titles, and `--tiny` is then drawn as tiny--.
    """
    found = {name: NOT_CODE.sub("", title).strip() for name, title in TITLE.findall(html)}
    return {name: title for name, title in found.items() if "<code" in title}
