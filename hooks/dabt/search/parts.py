"""The words of each section by where they stand: in its title, among the names it teaches, …"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dabt.search.sections import Page, Section
from dabt.search.terms import Concept
from dabt.search.words import Rules, Word

# Measured values, which nobody types: decimals, and numbers of more digits than a card's memory.
VALUE = re.compile(r"\d+[.,٫]\d+|\d{3,}")
# Of code, names are asked for: no number, no sign, no letter alone.
NAME = re.compile(r"[^\W\d]\w{2,}")
Parts = Mapping[str, tuple[Word, ...]]


@dataclass(frozen=True)
class Place:
    """A section in the order of the index."""

    page: Page
    section: Section

    @property
    def key(self) -> str:
        """What the glossary calls it."""
        return f"{self.page.slug}#{self.section.id}"

    @property
    def opens(self) -> bool:
        """Whether it is the first one of its page, which stands for the page."""
        return self.section is self.page.sections[0]


def places(pages: Iterable[Page]) -> tuple[Place, ...]:
    """Every section of all pages; its number in the index is its place here."""
    return tuple(Place(page, section) for page in pages for section in page.sections)


def numbers_of(found: Sequence[Place]) -> dict[str, int]:
    """The number of each section by `slug#section`; `slug#` is the section that opens a page."""
    numbers: dict[str, int] = {}
    for number, place in enumerate(found):
        # A box has the id of its section, which comes first.
        numbers.setdefault(place.key, number)
    return numbers | {f"{p.page.slug}#": number for number, p in enumerate(found) if p.opens}


def read_parts(
    found: Sequence[Place], concepts: Iterable[Concept], rules: Rules
) -> tuple[Parts, ...]:
    """The words of each section; of code, those that its page has not shown before."""
    names = _names_taught(concepts, numbers_of(found))
    shown: dict[str, set[Word]] = defaultdict(set)
    read = []
    for number, place in enumerate(found):
        section, slug = place.section, place.page.slug
        code = {word for name in NAME.findall(section.code) for word in rules.words(name)}
        text = tuple(rules.words(VALUE.sub(" ", section.text)))
        title = section.title or (place.page.title if place.opens else "")
        parts = {
            "title": tuple(rules.words(title)),
            "alias": tuple(word for name in names[number] for word in rules.asked(name)),
            "slug": tuple(rules.words(slug)) if place.opens else (),
            "text": text,
            "code": tuple(code - shown[slug] - set(text)),
        }
        shown[slug] |= code
        read.append(parts)
    return tuple(read)


def _names_taught(
    concepts: Iterable[Concept], numbers: Mapping[str, int]
) -> defaultdict[int, list[str]]:
    """The names of every term, with the section that is the first to teach it."""
    names: defaultdict[int, list[str]] = defaultdict(list)
    for one in concepts:
        if one.places:
            names[numbers[one.places[0]]] += one.names
    return names


def all_words(parts: Iterable[Parts]) -> Iterator[Word]:
    """Every word of every part, as often as it is there."""
    for one in parts:
        for words in one.values():
            yield from words
