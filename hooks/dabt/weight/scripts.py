"""Scripts and style sheets as they are sent: without the comments that tell why, nor indentation.

Whole lines only: what stands after code, or within a string, is never looked at. So no text in
backquotes may go over the end of a line: tests/weight looks for one.
"""

import re

COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/[ \t]*)\n", re.DOTALL | re.MULTILINE)


INDENT = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)


def bare(source: str) -> str:
    """Return a script or a style sheet without the lines that are comments, and its indentation."""
    return INDENT.sub("", COMMENT.sub("", source))
