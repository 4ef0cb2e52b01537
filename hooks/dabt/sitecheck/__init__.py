"""Checks of a built site, file by file: what neither the strict build nor axe can see.

`check(load(folder, languages, address))` returns all problems; nothing is read but the folder.
"""

from dabt.problems import Problem
from dabt.sitecheck.rules import (
    alternates,
    foreign,
    language,
    links,
    markers,
    outputs,
    parity,
    semantics,
)
from dabt.sitecheck.site import Site, load

__all__ = ["RULES", "Site", "check", "load"]

RULES = tuple(
    module.check
    for module in (parity, language, markers, foreign, links, alternates, semantics, outputs)
)


def check(site: Site) -> tuple[Problem, ...]:
    """Return every problem of a site, sorted by file and place."""
    return tuple(sorted({problem for rule in RULES for problem in rule(site)}))
