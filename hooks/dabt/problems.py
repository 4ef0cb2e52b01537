"""Problems: what is wrong, where, and how to mend it. All of the project reports with these."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

MOST_LISTED = 12
# The file that explains each code, and the page that shows it.
CHECKS, CHECKS_PAGE = "checks.yml", "contribute/checks/"


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong in one place. Lines and columns count from 1.

    `code` is a short, lasting name of the rule (`no-answer`); `mend` says what to do about it;
    `severity` is "error" (the build stops) or "warning".
    """

    file: str
    line: int
    column: int
    message: str
    code: str
    mend: str
    severity: str = "error"

    def __str__(self) -> str:
        """Two lines in the form compilers use, so that editors can jump to the place."""
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.severity}: {self.message} [{self.code}]\n  mend: {self.mend}"


class DabtError(Exception):
    """All the problems of one piece of work, raised together; `str()` is the report."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the problems sorted by place, each one once."""
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__(report(self.problems))


def report(problems: Iterable[Problem]) -> str:
    """All problems as text: sorted by place, each one once; where its rule is explained, once."""
    lines: list[str] = []
    said: set[str] = set()
    for problem in sorted(set(problems)):
        lines.append(str(problem))
        if problem.code not in said:
            lines.append(f"  see: {explained(problem.code)}")
        said.add(problem.code)
    return "\n".join(lines)


def explained(code: str) -> str:
    """Where a rule is explained: in the published course when its address is known."""
    address = os.environ.get("DABT_SITE_URL", "").rstrip("/")
    place = f"{address}/{CHECKS_PAGE}" if address else f"docs/_data/{CHECKS}"
    return f"{place}#{code}"


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Only the problems that must stop a build."""
    return tuple(problem for problem in problems if problem.severity == "error")


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A sentence for `mend`: the known word that looks like this one, or the known words."""
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    listed = ", ".join(known[:MOST_LISTED]) + (", …" if len(known) > MOST_LISTED else "")
    return f"known here: {listed}" if known else "nothing is known here yet"


def shown(path: Path) -> str:
    """A path as messages show it: relative to the working folder when it lies in it."""
    absolute, here = path.absolute(), Path.cwd()
    inside = absolute.is_relative_to(here)
    return (absolute.relative_to(here) if inside else path).as_posix()
