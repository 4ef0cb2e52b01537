"""When a page last changed: what one `git log` says of all of them, and a date in words."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from dabt.quiz.inline import typeset
from dabt.ui import Ui

# One call for all pages: the author's date of a commit, then the files that it touched. Quoted
# paths would hide those that are not ASCII.
GIT_LOG = ("-c", "core.quotePath=off", "log", "--format=%x01%aI", "--name-only", "--relative")
MARK = "\x01"


def read_log(log: str) -> dict[str, datetime]:
    """The date of the newest commit of each path, from the output of `git` with GIT_LOG."""
    found: dict[str, datetime] = {}
    for commit in log.split(MARK)[1:]:
        date, *paths = commit.split("\n")
        for path in filter(None, paths):
            found.setdefault(path, datetime.fromisoformat(date))
    return found


def latest(dates: Mapping[str, datetime], paths: Iterable[str]) -> datetime | None:
    """The newest date of some paths, if any of them has one."""
    return max((dates[path] for path in paths if path in dates), default=None)


def spell_date(date: datetime, language: str, ui: Ui) -> str:
    """The day in words: `1 ديسمبر 2026`, `1er décembre 2026`."""
    names = ui.text("way.months", language).split()
    day = ui.text("way.first_day", language) if date.day == 1 else str(date.day)
    values = {"day": day, "month": names[date.month - 1], "year": date.year}
    return typeset(ui.text("way.date", language, **values), language)
