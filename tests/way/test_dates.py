"""The date of a page, from what git says, in the words of the reader's language."""

from datetime import datetime
from pathlib import Path

import pytest

from dabt.languages import load_languages
from dabt.ui import load_ui
from dabt.way.dates import read_log, spell_date
from dabt.way.line import name_permalinks, render_line, under_title
from dabt.way.menu import Menu, Module
from dabt.way.pages import Facts, Way

DATA = Path(__file__).parents[2] / "docs/_data"
UI = load_ui(DATA, load_languages(DATA / "languages.yml"))
LOG = (
    "\x012026-12-01T10:00:00+01:00\n\nar/a.md\nfr/a.md\n"
    "\x012026-11-30T23:00:00Z\n\nar/a.md\nar/b.md\n"
)
FACTS = Facts("T", "", 24, ())
WAY = Way(Menu((Module({}, ("a/b.md", "quizzes/q.md")),)), {("ar", "a/b.md"): FACTS})


def test_the_newest_commit_of_each_page_counts() -> None:
    dates = read_log(LOG)
    assert {path: date.day for path, date in dates.items()} == {
        "ar/a.md": 1,
        "fr/a.md": 1,
        "ar/b.md": 30,
    }
    assert read_log("") == {}


@pytest.mark.parametrize(
    ("day", "arabic", "french"),
    [
        ("2026-12-01", "1 ديسمبر 2026", "1er décembre 2026"),
        ("2026-08-22", "22 أغسطس 2026", "22 août 2026"),
        ("2027-01-11", "11 يناير 2027", "11 janvier 2027"),
    ],
)
def test_a_day_in_words(day: str, arabic: str, french: str) -> None:
    date = datetime.fromisoformat(day)
    assert spell_date(date, "ar", UI) == arabic
    assert spell_date(date, "fr", UI).replace("\u00a0", " ") == french


def test_the_line_says_what_is_known() -> None:
    date = datetime(2026, 12, 3)
    both = render_line(WAY, "a/b.md", "ar", date, UI)
    assert 'نحو 24 دقيقة · آخر تعديل <time datetime="2026-12-03">3 ديسمبر 2026</time>' in both
    assert "<time" not in render_line(WAY, "a/b.md", "ar", None, UI)
    assert "دقيقة" not in render_line(WAY, "quizzes/q.md", "ar", date, UI)
    assert render_line(WAY, "quizzes/q.md", "ar", None, UI) == ""
    assert render_line(WAY, "index.md", "ar", date, UI) == ""


def test_the_line_stands_under_the_title() -> None:
    assert under_title("<h1>T</h1>\n<p>a</p>", "L") == "<h1>T</h1>L\n<p>a</p>"
    assert under_title("<p>a</p>", "L") == "<p>a</p>"


def test_a_link_on_a_heading_has_its_title_for_a_name() -> None:
    link = '<a class="headerlink" href="#a" title="Lien">&para;</a>'
    named = '<a class="headerlink" href="#a" aria-label="Lien" title="Lien">&para;</a>'
    assert name_permalinks(f"<h2>A{link}</h2><a title='x'>") == f"<h2>A{named}</h2><a title='x'>"
