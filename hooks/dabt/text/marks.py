"""What readers who do not see need, and links that last: texts of pictures, ids of headings."""

import re
from collections.abc import Iterator

from dabt.directives import first_line, outside_code
from dabt.pages import HEADING, SECTION_ID, Page
from dabt.problems import Problem

PICTURE = re.compile(r"!\[(?P<alt>[^\]\n]*)\](?=[(\[])|<img\b(?P<tag>[^>\n]*)>")
ALT = re.compile(r"""\balt\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')""")
FILE_NAME = re.compile(r"^\S+\.(?:png|jpe?g|svg|webp|gif)$", re.IGNORECASE)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def check_marks(page: Page) -> Iterator[Problem]:
    """The headings without an id for links, and the pictures without a text, of a page."""
    begins = first_line(page.text) - 1
    for number, line in outside_code(page.text.split("\n")):
        if number < begins:
            continue
        yield from _check_heading(page, number + 1, line)
        yield from _check_pictures(page, number + 1, line)


def _check_heading(page: Page, number: int, line: str) -> Iterator[Problem]:
    heading = HEADING.match(line)
    if not heading:
        return
    name = SECTION_ID.search(heading["attributes"] or "")
    if not name:
        message = f"the heading '{heading['title']}' has no id"
        mend = "add one in English, the same in every language: '## Title { #short-name }'"
    elif not KEBAB.fullmatch(name[1]):
        message = f"'#{name[1]}' is no id that a link can carry in every language"
        mend = "write small letters and digits with '-' between words: { #short-name }"
    else:
        return
    yield Problem(page.file, number, 1, message, "heading-id", mend)


def _check_pictures(page: Page, number: int, line: str) -> Iterator[Problem]:
    for match in PICTURE.finditer(CODE.sub(lambda code: " " * len(code[0]), line)):
        alt = match["alt"] if match["tag"] is None else _alt(match["tag"])
        if alt.strip() and not FILE_NAME.match(alt.strip()):
            continue
        message = "a picture without a text" if not alt.strip() else f"'{alt}' is a file's name"
        mend = "say what it shows to somebody who does not see it: ![what it shows](file.png)"
        yield Problem(page.file, number, match.start() + 1, message, "alt-text", mend)


def _alt(attributes: str) -> str:
    match = ALT.search(attributes)
    return (match["double"] or match["single"] or "") if match else ""
