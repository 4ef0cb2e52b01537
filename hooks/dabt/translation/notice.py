"""The line under a section that lags, and the one where a section is missing.

`docs/assets/site.css` styles `dabt-lag`; `data-section` tells the check of the built site that the
section may be built otherwise than in the other languages.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dabt.languages import Language, direction, fallbacks
from dabt.links import crossing_link
from dabt.quiz.inline import to_html, typeset
from dabt.translation.survey import REVIEW, WRITE, Entry, Survey, Unit
from dabt.ui import Ui

HEADING = r'<h([1-6])\b[^>]*\bid="{id}"[^>]*>.*?</h\1>'
NEXT = re.compile(r'<h[1-6]\b[^>]*\bid="|<div class="footnote">')
# A missing section leaves its id to the line that stands for it: links to it still lead somewhere.
NOTICE = Markup(
    '<p class="dabt-lag"{anchor}{spoken} data-section="{id}" data-search-exclude>'
    "{words} {links}</p>\n"
)
LINK = Markup('<a href="{href}" hreflang="{code}" lang="{code}" dir="{direction}">{name}</a>')


@dataclass(frozen=True)
class Reader:
    """Whom a page speaks to: the language, and the page in that language's tree.

    `tree` is the language whose folder serves the page: another one where it stands in for a
    page that is not written. `spoken` is the language of what is said of other languages: the
    reader's own once that is written.
    """

    language: str
    page: str
    languages: Sequence[Language]
    ui: Ui
    spoken: str = ""
    tree: str = ""

    def words(self, key: str, **values: object) -> str:
        """An interface string on translations, typeset for the language that it is in."""
        text = self.ui.text(f"translation.{key}", self.language, **values)
        return typeset(text, self.spoken or self.language)

    def attributes(self) -> Markup:
        """The attributes of an element whose words are not in the language of the page."""
        if self.spoken in ("", self.language):
            return Markup("")
        return Markup(' lang="{}" dir="{}"').format(self.spoken, direction(self.spoken))

    def others(self, known: Collection[str]) -> tuple[str, ...]:
        """Other languages in the order in which this reader would rather read them."""
        chain = fallbacks(self.language, self.languages)
        rest = (code for code in known if code not in chain and code != self.language)
        return (*(code for code in chain if code in known), *rest)

    def link(self, code: str, section: str, name: str | Markup = "") -> Markup:
        """A link to the same page in another language, in the name of that language."""
        by_code = {one.code: one for one in self.languages}
        other = by_code[code]
        here = by_code[self.tree or self.language]
        href = crossing_link(self.page, here, other, section)
        return LINK.format(href=href, code=code, direction=other.direction, name=name or other.name)


def missing_sections(found: Survey, language: str, page: str) -> frozenset[str]:
    """Return the ids of the sections that a language lacks in a page that it has."""
    slug = page.removesuffix(".md")
    entries = found.of(language, slug)
    if all(entry.state == WRITE for entry in entries):
        return frozenset()
    return frozenset(entry.unit.key for entry in entries if entry.state == WRITE)


def with_notices(html: str, found: Survey, reader: Reader) -> str:
    """Return the page's HTML with its notices; as it was when nothing lags."""
    slug = reader.page.removesuffix(".md")
    missing = missing_sections(found, reader.language, reader.page)
    units = [one for one in found.units if one.slug == slug]
    for entry in found.of(reader.language, slug):
        if entry.state == REVIEW:
            html = _under(html, entry.unit.key, _lags(entry, reader))
        elif entry.unit.key in missing:
            before = _before(entry.unit, units, reader.language)
            html = _after_section(html, before, _missing(entry.unit, reader))
    return html


def _lags(entry: Entry, reader: Reader) -> Markup:
    key = entry.unit.key
    codes = reader.others(entry.because or entry.unit.sides)
    links = Markup(" · ").join(reader.link(code, key) for code in codes)
    return _notice("lags", "", key, links, reader)


def _missing(unit: Unit, reader: Reader) -> Markup:
    links = Markup(" · ").join(
        reader.link(code, unit.key, to_html(unit.sides[code].title, code))
        for code in reader.others(unit.sides)
    )
    return _notice("missing", Markup(' id="{}"').format(unit.key), unit.key, links, reader)


def _notice(words: str, anchor: str, section: str, links: Markup, reader: Reader) -> Markup:
    return NOTICE.format(
        anchor=anchor,
        spoken=reader.attributes(),
        id=section,
        words=reader.words(words),
        links=links,
    )


def _under(html: str, section: str, notice: str) -> str:
    heading = re.search(HEADING.format(id=re.escape(section)), html, re.DOTALL)
    return f"{html[: heading.end()]}\n{notice}{html[heading.end() :]}" if heading else html


def _after_section(html: str, section: str, notice: str) -> str:
    """Put a notice before the heading that follows a section, or before the footnotes."""
    heading = re.search(HEADING.format(id=re.escape(section)), html, re.DOTALL)
    following = NEXT.search(html, heading.end() if heading else 0)
    place = following.start() if following else len(html)
    return f"{html[:place]}{notice}{html[place:]}"


def _before(unit: Unit, units: Sequence[Unit], language: str) -> str:
    """Return the nearest section above that the reader has too, in a language that has this one."""
    code, side = next(iter(unit.sides.items()))
    above = (one for one in _ordered(units, code) if one.sides[code].line < side.line)
    return next((one.key for one in above if language in one.sides), "")


def _ordered(units: Sequence[Unit], code: str) -> Iterator[Unit]:
    """Yield the sections that a language has, from the last to the first."""
    known: Mapping[str, Unit] = {one.key: one for one in units if code in one.sides}
    yield from sorted(known.values(), key=lambda one: -one.sides[code].line)
