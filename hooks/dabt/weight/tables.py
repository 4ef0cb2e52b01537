"""Tables that scroll by themselves, from the first paint on: a script would move the page.

Their headers say what they head.
"""

import re

# Markdown writes headers of columns only; our own templates write the scope of theirs.
HEADER = re.compile(r"<th(?=[ >])(?![^>]*\bscope=)")
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def with_scrolling(html: str) -> str:
    """Return a page whose plain tables stand in a box as wide as the text, with scoped headers."""
    box = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">'
    html = HEADER.sub('<th scope="col"', html)
    return TABLE.sub(lambda table: f"{box}{table[0]}</div></div>", html)
