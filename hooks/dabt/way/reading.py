"""How long a page takes to read: words at the pace of its language, lines of code at one pace.

Words: the rates of Trauzettel-Klosinski and Dietz (2012, doi:10.1167/iovs.11-8284), Arabic 138 and
French 195 words a minute. They were measured on texts read aloud, which is about the pace at which
one studies; silent reading is faster (Brysbaert 2019, doi:10.1016/j.jml.2019.104047). Code: two
seconds a line, an estimate of ours, for which we know no measurement.
"""

import re
from pathlib import Path

from dabt.directives import DIRECTIVE, FRONT_MATTER, outside_code
from dabt.snippets import INCLUDE, read_included

WORDS_A_MINUTE = {
    "ar": 138,
    "fr": 195,
}
# The mean of the 17 languages of that study.
OTHER_LANGUAGES = 184
LINES_A_MINUTE = 30
# What Markdown says without showing it: tags, targets of links, attributes, comments.
UNSEEN = re.compile(r"<[^<>]+>|(?<=\])\([^()]*\)|\{[^{}]*\}|^\[\^[^\]]+\]:.*")
WORD = re.compile(r"[^\W_][\w’'.-]*")


def minutes(text: str, language: str, examples: Path) -> int:
    """The whole minutes, at least one, that the Markdown source of a page takes to read."""
    body = FRONT_MATTER.sub("", text, count=1).split("\n")
    prose = dict(outside_code(body))
    words = sum(map(_count_words, prose.values()))
    code = [line for number, line in enumerate(body) if number not in prose]
    pace = WORDS_A_MINUTE.get(language.split("-")[0], OTHER_LANGUAGES)
    lines = sum(_count_lines(line, examples) for line in code)
    return max(1, round(words / pace + lines / LINES_A_MINUTE))


def _count_words(line: str) -> int:
    return 0 if DIRECTIVE.match(line) else len(WORD.findall(UNSEEN.sub("", line)))


def _count_lines(line: str, examples: Path) -> int:
    """Count the lines that a line of a fence stands for: those of a file, or itself."""
    include = INCLUDE.match(line)
    shown = read_included(include["path"], include["region"] or "", examples) if include else line
    return sum(1 for one in shown.split("\n") if one.strip() and not one.lstrip().startswith("```"))
