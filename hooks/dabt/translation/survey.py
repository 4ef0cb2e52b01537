"""The one function: what stands where in every language, against what was confirmed."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dabt.languages import Language
from dabt.pages import Page, read_pages
from dabt.problems import Problem, shown
from dabt.translation.fingerprint import fingerprint
from dabt.translation.record import Confirmed, Records, read_records
from dabt.translation.sections import Section, read_sections
from dabt.translation.texts import data_files, read_texts, slug_of

# In the order of what to do first: a reader is misled, nobody has looked, nothing is there.
REVIEW, CONFIRM, WRITE, IN_STEP = "review", "confirm", "write", "in step"
MENU = re.compile(r"^\s*- (?:.*: )?([\w/-]+\.md)\s*$", re.MULTILINE)
STATES = (REVIEW, CONFIRM, WRITE, IN_STEP)


@dataclass(frozen=True)
class Side:
    """One unit in one language: its fingerprint, its title, what it is made of, and where."""

    print: str
    title: str
    parts: tuple[str, ...]
    file: str
    line: int


@dataclass(frozen=True)
class Unit:
    """A section, a question, a term or a string; `sides` are the languages that have it."""

    slug: str
    key: str
    sides: Mapping[str, Side]


@dataclass(frozen=True)
class Entry:
    """How a unit stands in a language, and the languages that changed since it was confirmed."""

    unit: Unit
    language: str
    state: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """All units in the order of reading, each with its state in every language."""

    languages: tuple[Language, ...] = ()
    units: tuple[Unit, ...] = ()
    entries: tuple[Entry, ...] = ()
    records: Records = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def of(self, language: str, slug: str = "") -> tuple[Entry, ...]:
        """The entries of a language, of one slug or of all."""
        return tuple(
            one for one in self.entries if one.language == language and slug in ("", one.unit.slug)
        )

    def has(self, language: str, slug: str, keys: Collection[str] = ()) -> bool:
        """Tell whether a language has written all of a slug, or some units of it."""
        return all(
            language in unit.sides
            for unit in self.units
            if unit.slug == slug and (not keys or unit.key in keys)
        )


def reading_order(menu: Path) -> tuple[str, ...]:
    """Return the pages that mkdocs.yml lists, in its order: the first to write come first."""
    text = menu.read_text(encoding="utf-8") if menu.is_file() else ""
    return tuple(match[1] for match in MENU.finditer(text))


def survey(
    docs: Path, languages: Sequence[Language], order: Sequence[str] = (), pages: Sequence[Page] = ()
) -> Survey:
    """Compare all texts with what was confirmed. `order` are the pages as the menu has them."""
    codes = tuple(language.code for language in languages)
    found = pages or tuple(read_pages(docs, languages))
    units = [*_page_units(found, order), *_data_units(docs, codes)]
    records, problems = read_records(docs / "_data")
    known = with_renamed(units, records)
    entries = tuple(
        entry for unit in units for entry in compare(unit, known.get(unit.slug, {}), codes)
    )
    return Survey(
        tuple(languages), tuple(units), entries, known, (*problems, *structure(units, known))
    )


def _page_units(pages: Sequence[Page], order: Sequence[str]) -> Iterator[Unit]:
    places = {path: place for place, path in enumerate(order)}
    paths = sorted({page.path for page in pages}, key=lambda path: (places.get(path, 9999), path))
    for path in paths:
        sections: dict[str, dict[str, Side]] = {}
        for page in (one for one in pages if one.path == path):
            for section in read_sections(page.text):
                sections.setdefault(section.id, {})[page.language] = _side(section, page.file)
        for key, sides in sections.items():
            yield Unit(path.removesuffix(".md"), key, sides)


def _side(section: Section, file: str) -> Side:
    return Side(fingerprint(section.text), section.title, section.parts, file, section.line)


def _data_units(docs: Path, codes: Sequence[str]) -> Iterator[Unit]:
    found: dict[tuple[str, str], dict[str, Side]] = {}
    for path in data_files(docs / "_data"):
        for key, texts in read_texts(path, codes).items():
            sides = found.setdefault((f"_data/{slug_of(path)}", key), {})
            for code, (line, text) in texts.items():
                sides[code] = Side(fingerprint(text), "", (), shown(path), line)
    return (Unit(slug, key, sides) for (slug, key), sides in found.items() if sides)


def compare(unit: Unit, record: Mapping[str, Confirmed], codes: Sequence[str]) -> Iterator[Entry]:
    """Yield how a unit stands in each language. Whoever changed is right; the others lag.

    What only one language has is in step there: there is nothing to compare it with.
    """
    confirmed = record.get(unit.key, Confirmed({}))
    changed = tuple(
        code
        for code, side in unit.sides.items()
        if confirmed.prints.get(code, side.print) != side.print
    )
    for code in codes:
        others = tuple(one for one in changed if one != code)
        if code not in unit.sides:
            yield Entry(unit, code, WRITE)
        elif code not in confirmed.prints and len(unit.sides) > 1:
            yield Entry(unit, code, CONFIRM)
        elif others or code in confirmed.behind:
            yield Entry(unit, code, REVIEW, others)
        else:
            yield Entry(unit, code, IN_STEP)


def with_renamed(units: Sequence[Unit], records: Records) -> dict[str, dict[str, Confirmed]]:
    """Return the records, under its new name that of a section that changed its id or its page.

    A section is recognised by its fingerprints. A record whose text is gone is left out.
    """
    names = {(unit.slug, unit.key) for unit in units}
    kept: dict[str, dict[str, Confirmed]] = {}
    lost: dict[frozenset[tuple[str, str]], Confirmed] = {}
    for slug, record in records.items():
        for key, confirmed in record.items():
            if (slug, key) in names:
                kept.setdefault(slug, {})[key] = confirmed
            else:
                lost[frozenset(confirmed.prints.items())] = confirmed
    for unit in units if lost else ():
        prints = frozenset((code, side.print) for code, side in unit.sides.items())
        if unit.key not in kept.get(unit.slug, {}) and prints in lost:
            kept.setdefault(unit.slug, {})[unit.key] = lost[prints]
    return kept


def structure(units: Sequence[Unit], records: Records) -> Iterator[Problem]:
    """Yield what differs between the languages in sections that are as they were confirmed."""
    for unit in units:
        confirmed = records.get(unit.slug, {}).get(unit.key)
        if confirmed is None:
            continue
        same = [
            code
            for code, side in unit.sides.items()
            if confirmed.prints.get(code) == side.print and code not in confirmed.behind
        ]
        if len(same) == len([one for one in confirmed.prints if one in unit.sides]):
            yield from differences(unit, same)


def differences(unit: Unit, codes: Sequence[str]) -> Iterator[Problem]:
    """Yield the first part in which each language differs from the first of them."""
    sides = [unit.sides[code] for code in codes if code in unit.sides]
    for side in sides[1:]:
        here, there = set(side.parts), set(sides[0].parts)
        if side.parts == sides[0].parts:
            continue
        lacking = [part for part in sides[0].parts if part not in here]
        added = [part for part in side.parts if part not in there]
        listed = [f"without '{part[:60]}'" for part in lacking[:1]]
        listed += [f"with '{part[:60]}'" for part in added[:1]]
        message = (
            f"'{unit.key}' is {' and '.join(listed) or 'in another order'}, unlike {sides[0].file}"
        )
        mend = "give both the same level, code, quizzes, figures and images, in the same order"
        yield Problem(side.file, side.line, 1, message, "structure", mend)
