"""Links that leave their language.

In a French page MkDocs turns `../ar/page.md` into the page itself: the reader would be led in a
circle and the build would not say so. The switcher in the header is the way to the other language.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from dabt.directives import outside_code
from dabt.languages import Language
from dabt.pages import Page
from dabt.problems import Problem

TARGET = re.compile(r"""\]\(\s*<?(?P<inline>[^)\s>]+)|^\[[^\]]+\]:\s*<?(?P<reference>[^\s>]+)""")


def check_crossing(page: Page, languages: Sequence[Language]) -> Iterator[Problem]:
    """Yield the links of a page whose target lies in the folder of another language."""
    others = {one.code for one in languages} - {page.language}
    folder = posixpath.dirname(f"{page.language}/{page.path}")
    for number, line in outside_code(page.text.split("\n")):
        for match in TARGET.finditer(line):
            kind = "inline" if match["inline"] else "reference"
            target = match[kind]
            if "://" in target or target.startswith(("/", "#", "mailto:")):
                continue
            top = posixpath.normpath(posixpath.join(folder, target)).split("/")[0]
            if top in others:
                message = f"'{target}' leads from '{page.language}' into '{top}'"
                mend = "link to the page of the same language; the switcher leads to the other one"
                column = match.start(kind) + 1
                yield Problem(page.file, number + 1, column, message, "link-crossing", mend)
