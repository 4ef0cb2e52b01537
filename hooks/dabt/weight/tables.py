"""Tables that scroll by themselves, from the first paint on: a script would move the page."""

import re

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def with_scrolling(html: str) -> str:
    """Return a page whose plain tables stand in a box as wide as the text."""
    box = '<div class="md-typeset__scrollwrap"><div class="md-typeset__table">'
    return TABLE.sub(lambda table: f"{box}{table[0]}</div></div>", html)
