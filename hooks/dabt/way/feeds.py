"""What others read of the course: `llms.txt` (llmstxt.org) and a feed of changes, for a language.

The feed is Atom (RFC 4287): an entry keeps its id when its page changes, and says when it did; in
RSS 2.0 a reader that knows an item is not told that it changed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, tostring

from dabt.languages import Language
from dabt.links import served
from dabt.ui import Ui
from dabt.way.pages import Way

ATOM = "http://www.w3.org/2005/Atom"
FEED, LLMS = "feed.xml", "llms.txt"
# Pages that say nothing to who is not there.
LEFT_OUT = frozenset(("index.md", "progress.md"))
FIRST_LETTERS = 300


@dataclass(frozen=True)
class Change:
    """A page of the feed: its path (`peft/lora.md`), its first lines, when it last changed."""

    page: str
    begins: str
    changed: datetime


def render_llms(way: Way, language: Language, ui: Ui, address: str = "") -> str:
    """The text of `llms.txt`: absolute links below an address, else relative to the file."""
    code = language.code
    home = way.facts.get((code, "index.md"))
    root = f"{address}{served('index.md', language)}" if address else ""
    parts = [f"# {ui.text('site.title', code)}"]
    parts += [f"> {home.description}"] if home and home.description else []
    groups = [(one.names.get(code, ""), one.pages) for one in way.menu.modules]
    # A name that the format knows: what may be skipped.
    groups.append(("Optional", tuple(p for p in way.menu.others if p not in LEFT_OUT)))
    for name, pages in groups:
        lines = "\n".join(
            _link(page, way, code, root) for page in pages if (code, page) in way.facts
        )
        parts += [f"## {name}", lines] if lines else []
    return "\n\n".join(parts) + "\n"


def _link(page: str, way: Way, code: str, root: str) -> str:
    facts = way.facts[code, page]
    notes = f": {facts.description}" if facts.description else ""
    return f"- [{facts.title}]({root}{page.removesuffix('.md')}/){notes}"


def find_changes(
    way: Way, language: str, dates: Mapping[str, datetime], begins: Mapping[str, str]
) -> Iterator[Change]:
    """Yield the pages of the menu that are written in a language, the newest change first."""
    pages = [page for module in way.menu.modules for page in module.pages]
    pages += [page for page in way.menu.others if page not in LEFT_OUT]
    known = [
        page for page in pages if f"{language}/{page}" in dates and (language, page) in way.facts
    ]
    for page in sorted(known, key=lambda one: dates[f"{language}/{one}"], reverse=True):
        yield Change(page, begins.get(page, ""), dates[f"{language}/{page}"])


def render_feed(
    changes: Iterable[Change], way: Way, language: Language, ui: Ui, address: str
) -> str:
    """The feed of a language below the address of the site; nothing where nothing is dated."""
    listed = list(changes)
    if not listed:
        return ""
    home = f"{address}{served('index.md', language)}"
    feed = Element("feed", {"xmlns": ATOM, "xml:lang": language.code})
    _add(feed, "title", ui.text("site.title", language.code))
    _add(feed, "id", f"{home}{FEED}")
    SubElement(feed, "link", {"rel": "self", "href": f"{home}{FEED}"})
    SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": home})
    _add(feed, "updated", listed[0].changed.isoformat())
    _add(SubElement(feed, "author"), "name", ui.text("card.name", language.code))
    for change in listed:
        facts = way.facts[language.code, change.page]
        link = f"{address}{served(change.page, language)}"
        entry = SubElement(feed, "entry")
        _add(entry, "title", facts.title)
        _add(entry, "id", link)
        SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": link})
        _add(entry, "updated", change.changed.isoformat())
        _add(entry, "summary", _shorten(change.begins or facts.description))
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(feed, encoding="unicode")}\n'


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def _shorten(text: str) -> str:
    """The first lines of a text, cut between two words."""
    if len(text) <= FIRST_LETTERS:
        return text
    return f"{text[:FIRST_LETTERS].rpartition(' ')[0]} …"
