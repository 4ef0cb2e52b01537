"""The line under the title of a page: how long it takes to read, and when it last changed."""

import re
from datetime import datetime

from markupsafe import Markup

from dabt.quiz.inline import typeset
from dabt.ui import Ui
from dabt.way.dates import spell_date
from dabt.way.pages import Way

END_OF_TITLE = "</h1>"
PERMALINK = re.compile(r'(<a class="headerlink" href="[^"]*") title="([^"]*)"')
LINE = Markup('\n<p class="dabt-line" data-search-exclude>{}</p>')
TIME = Markup('<time datetime="{}">{}</time>')


def render_line(way: Way, page: str, language: str, changed: datetime | None, ui: Ui) -> str:
    """The line of a page as HTML: reading time for chapters, the date where it is known."""
    facts, kind = way.facts.get((language, page)), way.menu.kind(page)
    parts = []
    if facts and kind == "chapter":
        text = ui.counted("way.minutes", language, facts.minutes)
        parts.append(Markup("{}").format(typeset(text, language)))
    if changed and kind != "home":
        words = typeset(ui.text("way.changed", language), language)
        date = TIME.format(changed.date().isoformat(), spell_date(changed, language, ui))
        parts.append(Markup("{} {}").format(words, date))
    return LINE.format(Markup(" · ").join(parts)) if parts else ""


def plain_title(html: str) -> str:
    """The title of a page, which may hold code, as text."""
    return Markup(html).striptags()


def name_permalinks(html: str) -> str:
    """A page whose links on headings are named by their title, not by the sign that is in them."""
    return PERMALINK.sub(r'\1 aria-label="\2" title="\2"', html)


def under_title(html: str, line: str) -> str:
    """A page with a line under its title; as it is when it has none."""
    before, end, after = html.partition(END_OF_TITLE)
    return f"{before}{end}{line}{after}" if end else html
