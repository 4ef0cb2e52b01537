"""What others read of the course: llms.txt and the feed of changes."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree

from dabt.languages import Language
from dabt.way.feeds import ATOM, FIRST_LETTERS, find_changes, render_feed, render_llms
from dabt.way.menu import Menu, Module
from dabt.way.pages import Facts, Way
from tests.way.test_dates import UI

FRENCH = Language("fr", "Français", "ltr")
ADDRESS = "https://a.example/course/"
MENU = Menu(
    (Module({"fr": "Premier", "ar": "الأولى"}, ("one/a.md", "one/b.md")),),
    ("index.md", "progress.md", "about.md"),
)
WAY = Way(
    MENU,
    {
        ("fr", "index.md"): Facts("Accueil", "Un cours", 1, ()),
        ("fr", "one/a.md"): Facts("A < B & C", "d’une ligne", 5, ()),
        ("fr", "about.md"): Facts("À propos", "", 1, ()),
        ("fr", "progress.md"): Facts("Progression", "", 1, ()),
        ("ar", "one/a.md"): Facts("أ", "", 5, ()),
    },
)
DATES = {
    "fr/one/a.md": datetime(2026, 12, 1, tzinfo=UTC),
    "fr/about.md": datetime(2026, 12, 2, tzinfo=UTC),
    "fr/progress.md": datetime(2026, 12, 3, tzinfo=UTC),
}


def test_llms_has_a_title_a_summary_and_links_with_what_they_lead_to() -> None:
    text = render_llms(WAY, FRENCH, UI, ADDRESS)
    assert re.match(r"# Dabt.*\n\n> Un cours\n\n## Premier\n\n- \[", text)
    assert f"- [A < B & C]({ADDRESS}fr/one/a/): d’une ligne\n" in text
    # Not written in this language, or of no use to who has no browser: not there.
    assert "one/b" not in text and "progress" not in text
    assert text.endswith(f"## Optional\n\n- [À propos]({ADDRESS}fr/about/)\n")


def test_llms_links_from_its_own_folder_where_no_address_is_known() -> None:
    assert "](one/a/): d’une ligne" in render_llms(WAY, FRENCH, UI)


def feed(begins: dict[str, str]) -> ElementTree.Element:
    changes = find_changes(WAY, "fr", DATES, begins)
    return ElementTree.fromstring(render_feed(changes, WAY, FRENCH, UI, ADDRESS).encode())


def test_the_feed_has_what_atom_requires_the_newest_change_first() -> None:
    root = feed({"one/a.md": "Début " * 100})
    name = f"{{{ATOM}}}"
    assert root.tag == f"{name}feed"
    assert root.findtext(f"{name}id") == f"{ADDRESS}fr/feed.xml"
    assert root.findtext(f"{name}updated") == "2026-12-02T00:00:00+00:00"
    assert root.findtext(f"{name}author/{name}name")
    entries = root.findall(f"{name}entry")
    # The same for ever, whatever changes: the address of the page.
    ids = [one.findtext(f"{name}id") for one in entries]
    assert ids == [f"{ADDRESS}fr/about/", f"{ADDRESS}fr/one/a/"]
    last = entries[-1]
    assert last.findtext(f"{name}title") == "A < B & C"
    assert last.find(f"{name}link").get("href") == ids[1]
    summary = last.findtext(f"{name}summary")
    assert summary.endswith("Début …") and len(summary) <= FIRST_LETTERS + 2


def test_no_feed_where_nothing_is_dated() -> None:
    assert render_feed(find_changes(WAY, "fr", {}, {}), WAY, FRENCH, UI, ADDRESS) == ""
    assert list(find_changes(WAY, "ar", DATES, {})) == []
