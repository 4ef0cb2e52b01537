"""Which files a page is made of, for its link to edit it; links into the repository."""

import re
from html import escape

from dabt.directives import scan

DATA = {
    "quiz": "_data/quizzes/{}.yml",
    "figure": "_data/figures/{}.yml",
    "glossary": "_data/glossary.yml",
    "checks": "_data/checks.yml",
}
REPOSITORY = re.compile(r'<span data-repository="(?P<path>[^"]*)">(?P<words>.*?)</span>', re.DOTALL)


def sources_of(text: str, file: str) -> tuple[str, ...]:
    """The files below `docs` that hold what a page shows; first the one that holds most of it.

    That is the page itself, unless a whole quiz or a whole list fills it.
    """
    before, after = [], []
    for one in scan(text):
        if one.name in DATA:
            name, mark, _ = one.argument.partition("#")
            whole = one.name != "figure" and not mark
            (before if whole else after).append(DATA[one.name].format(name))
    return tuple(dict.fromkeys((*before, file, *after)))


def with_repository(html: str, address: str) -> str:
    """HTML whose `<span data-repository="issues">` are links, once the address is known."""
    root = escape(address.rstrip("/"))

    def link(match: re.Match[str]) -> str:
        path = f"/{match['path']}" if match["path"] else ""
        return f'<a href="{root}{path}">{match["words"]}</a>' if root else match["words"]

    return REPOSITORY.sub(link, html)
