"""What a page holds for the search: sections, boxes in them and quiz questions, as plain text.

A box that opens (a common mistake) is found by its own title, and leads to its section.

Never in it: answers and their explanations (a quiz is its questions), hidden text, drawings, and
what carries `data-search-exclude`. Code and outputs are kept apart: they are found, not quoted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

TAG = re.compile(r"<[^>]*>")
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "wbr")
)
HEADINGS = ("h1", "h2", "h3")
SKIPPED = frozenset(("script", "style", "template", "svg", "math", "button", "select", "nav"))
SKIPPED_CLASSES = frozenset(("headerlink", "footnote-ref", "footnote-backref", "dabt-quiz__form"))
BLOCKS = frozenset(("p", "li", "td", "th", "tr", "dt", "dd", "div", "figcaption", "summary", "pre"))
BLOCKS |= {"blockquote", "table", "ul", "ol", "h1", "h2", "h3", "h4", "legend", "fieldset"}


# Elements whose text runs from left to right in any text, and what stands for that in plain text.
CODE = frozenset(("code", "kbd", "samp"))
ISOLATE = ("\u2066", "\u2069")


@dataclass(frozen=True)
class Section:
    """A place that a result leads to. `text` is quoted in results, `code` is only found."""

    id: str
    title: str
    text: str = ""
    code: str = ""
    kind: str = "section"


@dataclass(frozen=True)
class Page:
    """A page of the site: its address below the home of the site, its title, what it holds."""

    url: str
    slug: str
    title: str
    sections: tuple[Section, ...]

    @property
    def kind(self) -> str:
        """What a reader finds there: "chapter", "quiz", "glossary" or "other"."""
        first, _, rest = self.slug.partition("/")
        if first == "quizzes":
            return "quiz"
        return "chapter" if rest else "glossary" if first == "glossary" else "other"


@dataclass
class _Open:
    """A section that is being read."""

    id: str = ""
    kind: str = "section"
    title: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def close(self) -> Section:
        """The section as it was read."""
        title, text, code = (tidy("".join(one)) for one in (self.title, self.text, self.code))
        return Section(self.id, title, text, code, self.kind)


def tidy(text: str) -> str:
    """Text with single spaces; those that do not break stay what they are."""
    return re.sub(r"[ \t\r\n\f]+", " ", text).strip()


def read_page(html: str, url: str, slug: str, title: str, direction: str = "ltr") -> Page:
    """The page of some HTML content, without the parts of it that hold nothing.

    In a text from right to left, code is between marks that keep its own order in a quotation.
    """
    reader = _Reader(ISOLATE if direction == "rtl" else ("", ""))
    reader.feed(html)
    reader.close()
    read = [one.close() for one in reader.sections]
    kept = tuple(one for one in read if one.title or one.text)
    return Page(url, slug, tidy(unescape(TAG.sub("", title))), kept)


@dataclass(frozen=True)
class _Tag:
    name: str
    role: str


class _Reader(HTMLParser):
    """Reads HTML into sections; `open` are the elements around the place read."""

    def __init__(self, isolate: tuple[str, str]) -> None:
        super().__init__(convert_charrefs=True)
        self.isolate = isolate
        self.sections = [_Open()]
        # The section that text goes to, after those around it: a box is inside a section.
        self.inside = [self.sections[0]]
        self.open: list[_Tag] = []
        self.question: _Open | None = None

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag in VOID:
            # A <wbr> stands inside a word.
            self._add("" if tag == "wbr" else " ")
            return
        role = self._role(tag, values)
        if tag in BLOCKS:
            self._add(" ")
        if role == "code" and not (self.open and self.open[-1].role == "code"):
            self.inside[-1].code.append(" ")
        self.open.append(_Tag(tag, role))
        if tag in CODE:
            self._add(self.isolate[0])
        if role == "heading" and tag in HEADINGS:
            self._begin(_Open(values.get("id", "")), [])
        elif tag == "details" and role != "skip":
            self._begin(_Open(self.inside[-1].id, "box"), self.inside)
        elif role == "question" and tag == "fieldset":
            self.question = _Open(values["id"], "question")

    def _begin(self, section: _Open, around: list[_Open]) -> None:
        self.sections.append(section)
        self.inside = [*around, section]

    def _role(self, tag: str, values: dict[str, str]) -> str:
        """What an element is for the search: what is around it comes first."""
        around = self.open[-1].role if self.open else ""
        classes = set(values.get("class", "").split())
        if around == "skip":
            return "skip"
        if "dabt-q__text" in classes and self.question:
            return "ask"
        if tag == "fieldset" and "data-question" in values and around == "quiz":
            return "question"
        if around in ("question", "ask"):
            return around
        if "dabt-quiz" in classes:
            # A part of a quiz, in a chapter, repeats questions of the quiz's own page.
            return "skip" if values.get("data-part") == "true" else "quiz"
        if "hidden" in values or "data-search-exclude" in values or tag in SKIPPED:
            return "skip"
        if around == "quiz" and "dabt-quiz__form" in classes:
            return "quiz"
        if classes & SKIPPED_CLASSES:
            return "skip"
        if (tag in HEADINGS and "id" in values) or tag == "summary":
            return "heading"
        return "code" if tag == "pre" or "filename" in classes else around

    def handle_endtag(self, tag: str) -> None:
        if tag in CODE:
            self._add(self.isolate[1])
        for depth in range(len(self.open) - 1, -1, -1):
            if self.open[depth].name == tag:
                if self.question and tag == "fieldset":
                    self._close_question()
                if tag == "details" and self.open[depth].role != "skip":
                    self.inside = self.inside[:-1]
                del self.open[depth:]
                break
        if tag in BLOCKS:
            self._add(" ")

    def _close_question(self) -> None:
        # Before the section that is open, which goes on behind the quiz.
        self.sections.insert(self.sections.index(self.inside[-1]), self.question)
        self.question = None

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, data: str) -> None:
        role = self.open[-1].role if self.open else ""
        section = self.inside[-1]
        if role == "ask" and self.question:
            self.question.title.append(data)
        elif role == "heading":
            section.title.append(data)
        elif role == "code":
            section.code.append(data.strip("".join(ISOLATE)))
        elif role not in ("skip", "question"):
            section.text.append(data)
