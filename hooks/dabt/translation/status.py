"""The state as text: for a terminal, for the log of continuous integration."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from dabt.translation.survey import CONFIRM, IN_STEP, REVIEW, STATES, WRITE, Entry, Survey

NEXT = 5
REASONS = {
    REVIEW: "review: {changed} changed since it was confirmed",
    CONFIRM: "confirm: nobody has said yet that it says the same as {present}",
    WRITE: "write: it is there in {present}",
}
NO_REASON = "review: the others were confirmed without it"


@dataclass(frozen=True)
class Task:
    """One thing to do in one language: an entry, or all those of a chapter that is not there."""

    entries: tuple[Entry, ...]

    @property
    def state(self) -> str:
        """Return what is to be done."""
        return self.entries[0].state


def percent(entries: tuple[Entry, ...]) -> int:
    """Return how much is in step; 100 only when all is."""
    done = sum(one.state == IN_STEP for one in entries)
    return 100 * done // len(entries) if entries else 100


def tasks(found: Survey, language: str) -> tuple[Task, ...]:
    """Return what is to be done in a language, the most pressing first."""
    open_ = [one for one in found.of(language) if one.state != IN_STEP]
    made: list[Task] = []
    for (slug, state), group in groupby(open_, key=lambda one: (one.unit.slug, one.state)):
        entries = tuple(group)
        whole = len(entries) == len(found.of(language, slug)) or slug.startswith("_data/")
        together = state == CONFIRM or (state == WRITE and whole)
        made += [Task(entries)] if together else [Task((one,)) for one in entries]
    return tuple(sorted(made, key=lambda task: STATES.index(task.state)))


def render_status(found: Survey, most: int = 0) -> str:
    """Return the state of every language, then its tasks: the first `most`, or all of them."""
    shares = ", ".join(f"{one.code} {percent(found.of(one.code))} %" for one in found.languages)
    lines = [f"translations: {shares} in step"]
    for language in found.languages:
        todo = tasks(found, language.code)
        shown = todo[:most] if most else todo
        lines += [f"  {line}" for task in shown for line in _lines(task, language.code)]
        if len(shown) < len(todo):
            lines.append(f"  {language.code}: {len(todo) - len(shown)} more (status --all)")
    return "\n".join(lines)


def render_chapters(found: Survey) -> str:
    """Return one line for each chapter or data file that is not in step everywhere."""
    slugs = dict.fromkeys(unit.slug for unit in found.units)
    codes = [language.code for language in found.languages]
    width = max((len(slug) for slug in slugs), default=0)
    lines = []
    for slug in slugs:
        shares = [percent(found.of(code, slug)) for code in codes]
        if min(shares) < 100:
            listed = "  ".join(f"{c} {s:3} %" for c, s in zip(codes, shares, strict=True))
            lines.append(f"{slug:<{width}}  {listed}")
    return "\n".join(lines)


def _lines(task: Task, code: str) -> Iterator[str]:
    first = task.entries[0]
    unit = first.unit
    side = unit.sides.get(code) or next(iter(unit.sides.values()))
    place = f"{side.file}:{side.line}"
    present = ", ".join(one for one in unit.sides if one != code)
    reason = REASONS[first.state].format(changed=", ".join(first.because), present=present)
    if first.state == REVIEW and not first.because:
        reason = NO_REASON
    name = f"{unit.slug}#{unit.key}"
    if len(task.entries) > 1:
        name = f"{unit.slug} ({len(task.entries)} parts)"
    yield f"{code}: {name}: {reason} ({place})"
