"""A page that a language does not have yet, in the language in which it is shown instead.

`data-written` tells the check of the built site; `docs/assets/site.js` remembers the language that
a reader chose (`data-dabt-choice`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dabt.languages import Language, direction, fallbacks
from dabt.links import crossing_link
from dabt.translation.notice import Reader

NOTE = Markup('<p class="dabt-elsewhere"{spoken} data-shown="{shown}">{words} {links}</p>\n')
BODY = Markup('<div class="dabt-written" data-written="{}" lang="{}" dir="{}">\n')


def language_shown(docs: Path, page: str, code: str, languages: Sequence[Language]) -> str:
    """Return the language in which a page is shown to readers of a language that may lack it."""
    chain = (code, *fallbacks(code, languages))
    return next((one for one in chain if (docs / one / page).is_file()), code)


def show_elsewhere(html: str, written: str, reader: Reader) -> str:
    """Return a page in another language than the reader's, with a note and links to originals."""
    others = fallbacks(reader.language, reader.languages)
    links = Markup(" · ").join(_link(code, reader) for code in others)
    note = NOTE.format(
        spoken=reader.attributes(), shown=written, words=reader.words("elsewhere"), links=links
    )
    return f"{note}{marked_text(html, written)}"


def marked_text(html: str, written: str) -> str:
    """Return the text of a page inside its own language and direction."""
    return f"{BODY.format(written, written, direction(written))}{html}\n</div>"


def mark_contents(title: str, contents: Iterable[Any], written: str) -> str:
    """Return a title for menus, which are in the reader's language; mark those of the contents.

    `contents` are MkDocs' links of a table of contents: each has a `title` and `children`.
    """
    for link in contents:
        link.title = mark_contents(link.title, link.children, written)
    return f'<span lang="{written}" dir="{direction(written)}">{title}</span>'


def _link(code: str, reader: Reader) -> Markup:
    by_code = {one.code: one for one in reader.languages}
    href = crossing_link(reader.page, by_code[reader.language], by_code[code])
    return Markup(
        '<a href="{}" hreflang="{}" lang="{}" dir="{}" data-dabt-choice="{}">{}</a>'
    ).format(href, code, code, by_code[code].direction, code, by_code[code].name)
