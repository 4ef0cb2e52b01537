"""Confirming: somebody read a unit in its languages and says that they teach the same."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dabt.problems import DabtError, Problem, did_you_mean
from dabt.translation.record import Confirmed, write_record
from dabt.translation.survey import Survey, Unit, differences

NAME = re.compile(r"(?:docs/)?(?P<slug>[^#]+?)(?:\.md|\.yml)?(?:#(?P<key>.+))?")


def confirm(
    data: Path,
    found: Survey,
    names: Iterable[str],
    languages: Sequence[str] = (),
    unchanged: bool = False,
) -> int:
    """Write down units as confirmed; return how many were not so before.

    `names` are `peft/lora`, `peft/lora#alpha`, `docs/fr/peft/lora.md`, `_data/quizzes/lora#rank`;
    none means all. `languages` are those that were read, all by default. `unchanged` accepts the
    present words of these languages as a correction that the others need not follow.
    Raises DabtError, with nothing written, for an unknown name and where the structures differ.
    """
    codes = [one.code for one in found.languages if one.code in languages or not languages]
    chosen = [unit for name in names for unit in named(found, name)] or list(found.units)
    problems = [one for unit in chosen for one in differences(unit, codes)]
    if problems:
        raise DabtError(problems)
    records = {slug: dict(units) for slug, units in found.records.items()}
    count = 0
    for unit in chosen:
        before = records.get(unit.slug, {}).get(unit.key, Confirmed({}))
        after = _accepted(unit, before, codes) if unchanged else _confirmed(unit, before, codes)
        count += after != before
        if after.prints:
            records.setdefault(unit.slug, {})[unit.key] = after
    # A unit that changed its page takes its record along: both files are written.
    slugs = {unit.slug for unit in chosen} | (_known(data) - records.keys())
    for slug in slugs:
        write_record(data, slug, records.get(slug, {}))
    return count


def _known(data: Path) -> set[str]:
    folder = data / "translation"
    return {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yml")}


def _confirmed(unit: Unit, before: Confirmed, codes: Sequence[str]) -> Confirmed:
    """All of these languages are in step; the others are behind when one of these changed."""
    now = {code: unit.sides[code].print for code in codes if code in unit.sides}
    if len(unit.sides) < 2:
        return before
    news = any(before.prints.get(code, mark) != mark for code, mark in now.items())
    others = {code for code in before.prints if code in unit.sides and code not in now}
    behind = (before.behind | (others if news else set())) - now.keys()
    kept = {code: before.prints[code] for code in others}
    return Confirmed({**kept, **now}, frozenset(behind & others))


def _accepted(unit: Unit, before: Confirmed, codes: Sequence[str]) -> Confirmed:
    """The words of these languages are the confirmed ones; nothing else moves."""
    now = {c: unit.sides[c].print for c in codes if c in unit.sides and c in before.prints}
    return Confirmed({**before.prints, **now}, before.behind)


def named(found: Survey, name: str) -> tuple[Unit, ...]:
    """Return the units that a name means. Raises DabtError for one that means nothing."""
    match = NAME.fullmatch(name.strip().rstrip("/"))
    slug, key = (match["slug"], match["key"]) if match else (name, None)
    first, _, rest = slug.partition("/")
    if rest and first in {language.code for language in found.languages}:
        slug = rest
    units = tuple(one for one in found.units if one.slug == slug and key in (None, one.key))
    if not units:
        raise DabtError([_unknown(found, slug, key)])
    return units


def _unknown(found: Survey, slug: str, key: str | None) -> Problem:
    slugs = sorted({unit.slug for unit in found.units})
    keys = [unit.key for unit in found.units if unit.slug == slug]
    message = f"no section '{key}' in '{slug}'" if keys else f"no page or data file '{slug}'"
    mend = did_you_mean(key or "", keys) if keys else did_you_mean(slug, slugs)
    return Problem("docs/_data/translation", 1, 1, message, "unknown-name", mend)
