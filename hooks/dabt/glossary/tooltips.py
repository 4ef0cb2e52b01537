"""Marks under terms: the first use of each in a section links to the glossary, with its definition.

A Markdown extension. It works on the tree, when code, quizzes and figures are still out of reach;
headings, links, captions, titles of boxes and heads of tables are left alone. The definitions,
first sentences, are one file for each language: `docs/assets/terms.js` asks for it when a reader
first needs it, and without it the marks are links.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER_RE
from markupsafe import Markup

from dabt.glossary.matching import Finder, finder
from dabt.glossary.model import Glossary
from dabt.glossary.page import PAGE, anchor
from dabt.links import relative_link
from dabt.quiz.inline import to_html
from dabt.ui import Ui

# After inline markup, attributes and links (whose address is no longer looked at): the last one.
PRIORITY = -20
# A page of a chapter lies in the folder of its module; what is around chapters has no marks.
OTHER_FOLDERS = ("quizzes/",)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
SKIPPED = HEADINGS | {
    "a", "abbr", "button", "code", "dfn", "figcaption", "figure", "form", "input", "kbd", "label",
    "math", "pre", "samp", "script", "style", "sub", "summary", "sup", "svg", "th",
}  # fmt: skip
SKIPPED_CLASSES = frozenset({"admonition-title", "footnote", "highlight", "dabt-lead", "dabt-meta"})
RAW_OPENINGS = re.compile(r"<(?:a|abbr|button|code|dfn|kbd|label|pre|samp|svg)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Setting:
    """The page that is marked: its own language and its path in that language's tree."""

    glossary: Glossary
    ui: Ui
    language: str
    page: str

    @property
    def wanted(self) -> bool:
        """Whether this is a chapter."""
        return "/" in self.page and not self.page.startswith(OTHER_FOLDERS)


class TermsExtension(Extension):
    """The Markdown extension for one page; a new one is made for each."""

    def __init__(self, setting: Setting) -> None:
        """Keep the page and the glossary."""
        super().__init__()
        self.setting = setting

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the tree processor."""
        if self.setting.wanted:
            md.treeprocessors.register(_MarkTerms(md, self.setting), "dabt-terms", PRIORITY)


def with_terms(extensions: Sequence[object], setting: Setting) -> list[object]:
    """The list of Markdown extensions in which terms are marked on one page."""
    others = [item for item in extensions if not isinstance(item, TermsExtension)]
    return [*others, TermsExtension(setting)]


class _MarkTerms(Treeprocessor):
    """Marks terms in a page's tree, and adds their definitions at its end."""

    def __init__(self, md: Markdown, setting: Setting) -> None:
        super().__init__(md)
        self.setting = setting
        self.finder: Finder = finder(setting.glossary, setting.language)
        self.terms = setting.glossary.by_id()

    def run(self, root: Element) -> None:
        self.used: dict[str, None] = {}
        # No mark above the first section: what opens a chapter is read at one stroke.
        self.seen = set(self.terms)
        before: Element | None = None
        for child in list(root):
            if child.tag in HEADINGS:
                if child.tag == "h2":
                    self.seen = {one for one in self.used if self.terms[one].mark == "once"}
                self.seen |= self._taught_in(child.get("id", ""))
            elif not (child.tag == "ol" and self._is_annotated(before)):
                self._mark(child)
            before = child
        if self.used:
            box = SubElement(root, "p")
            box.text = self.md.htmlStash.store(place_for_definitions(self.setting))

    def _taught_in(self, section: str) -> set[str]:
        """The terms that a section teaches: it needs no mark for them."""
        here = (self.setting.page, section)
        return {
            term.id
            for term in self.terms.values()
            if any((one.page, one.section) == here for one in term.taught)
        }

    def _is_annotated(self, before: Element | None) -> bool:
        """Whether an element is code whose explanations follow: the theme moves them into it."""
        text = "" if before is None else (before.text or "").strip()
        match = HTML_PLACEHOLDER_RE.fullmatch(text)
        return bool(match) and "annotate" in self._raw(match)[:200]

    def _raw(self, match: re.Match[str]) -> str:
        return str(self.md.htmlStash.rawHtmlBlocks[int(match[1])])

    def _mark(self, element: Element) -> None:
        classes = set(element.get("class", "").split())
        if element.tag in SKIPPED or classes & SKIPPED_CLASSES or self._holds_raw(element):
            return
        children = list(element)
        ahead = element.text or ""
        first = self._split(ahead)
        element.text = first[0]
        at = _insert(element, 0, first[1])
        before: Element | None = None
        for child in children:
            english = child.tag == "em" and ahead.endswith("(")
            if not english and not (child.tag == "ol" and self._is_annotated(before)):
                self._mark(child)
            before, ahead = child, child.tail or ""
            tail = self._split(ahead)
            child.tail = tail[0]
            at = _insert(element, at + 1, tail[1])

    def _holds_raw(self, element: Element) -> bool:
        """Whether raw HTML in a text opens what marks may not be in."""
        texts = [element.text or "", *(child.tail or "" for child in element)]
        found = (match for text in texts for match in HTML_PLACEHOLDER_RE.finditer(text))
        return any(RAW_OPENINGS.search(self._raw(match)) for match in found)

    def _split(self, text: str) -> tuple[str, list[Element]]:
        """A text up to its first mark, and the marks, each with the text after it as its tail."""
        marks: list[Element] = []
        kept, end = "", 0
        for found in self.finder.find(text):
            if found.term in self.seen:
                continue
            self.seen.add(found.term)
            between = text[end : found.start]
            if marks:
                marks[-1].tail = between
            else:
                kept = between
            marks.append(self._link(found.term, text[found.start : found.end]))
            end = found.end
        if not marks:
            return text, []
        marks[-1].tail = text[end:]
        return kept, marks

    def _link(self, name: str, text: str) -> Element:
        self.used[name] = None
        link = Element("a")
        link.set("class", "dabt-term")
        link.set("href", relative_link(self.setting.page, PAGE, anchor(name)))
        link.text = text
        return link


def _insert(parent: Element, at: int, marks: Sequence[Element]) -> int:
    """Insert marks from a place on; return the place after them."""
    for mark in marks:
        parent.insert(at, mark)
        at += 1
    return at


def place_for_definitions(setting: Setting) -> str:
    """Where a page's definitions are kept once they are loaded."""
    more = setting.ui.text("glossary.more", setting.language)
    return str(Markup('<div class="dabt-terms" data-more="{}" hidden></div>').format(more))


def definitions(glossary: Glossary, language: str) -> dict[str, str]:
    """Each term's definition as it is shown over a page, in HTML, by the id of the term."""
    entry = Markup('<b>{}</b> (<span lang="en" dir="ltr">{}</span>)<br>{}')
    return {
        term.id: entry.format(
            to_html(term.name[language], language),
            term.english,
            to_html(first_sentence(term.define[language]), language),
        )
        for term in glossary.terms
    }


def definitions_file(glossary: Glossary, language: str) -> tuple[str, str]:
    """Return the address of a language's definitions and their text, a table in JSON."""
    found = definitions(glossary, language)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"assets/terms/{language}.{sha256(text.encode()).hexdigest()[:8]}.json", text


def first_sentence(text: str) -> str:
    """A definition up to the end of its first sentence: it says what the thing is."""
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
