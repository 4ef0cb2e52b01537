"""The menu as modules, and the list that `::: progress` makes of it."""

import json
import re
from html import unescape
from pathlib import Path

from dabt.course import read_course
from dabt.directives import Place
from dabt.way.menu import read_menu
from dabt.way.progress import render_progress

ROOT = Path(__file__).parents[2]
COURSE, _ = read_course(ROOT / "docs")
MENU = """\
site_url: !ENV [X, ""]
plugins:
  - i18n:
      languages:
        - locale: fr
          nav_translations: {one: Premier}
        - locale: ar
nav:
  - index.md
  - one: [one/a.md, quizzes/q.md]
  - about.md
"""


def test_the_menu_is_read_with_the_names_of_each_language(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(MENU)
    menu = read_menu(tmp_path / "mkdocs.yml")
    assert menu.others == ("index.md", "about.md")
    assert menu.modules[0].names == {"fr": "Premier", "ar": "one"}
    pages = ("index.md", "one/a.md", "quizzes/q.md", "about.md")
    assert [menu.kind(page) for page in pages] == ["home", "chapter", "quiz", ""]
    assert read_menu(tmp_path / "none.yml").modules == ()


def rows(language: str) -> dict[str, tuple[str, dict]]:
    place = Place("progress.md", 1, language, "progress.md")
    html = render_progress(COURSE.way, COURSE.quizzes, place, COURSE.ui)
    found = re.findall(r'data-slug="([^"]+)" data-questions="([^"]*)"><a href="([^"]+)"', html)
    return {slug: (href, json.loads(unescape(asked))) for slug, asked, href in found}


def test_each_page_of_the_menu_is_linked_with_its_questions() -> None:
    arabic = rows("ar")
    assert [f"{slug}.md" for slug in arabic] == [
        page for module in COURSE.way.menu.modules for page in module.pages
    ]
    assert arabic == rows("fr")
    href, asked = arabic["quizzes/lora"]
    questions = COURSE.quizzes["lora"].questions
    assert href == "../quizzes/lora/"
    assert asked == {one.id: one.revision for one in questions}
    # The quick check of a chapter: those of its questions that it shows.
    assert 0 < len(arabic["peft/lora"][1]) < len(questions)
