"""What a reader sees: the line under a section that lags, and the page of the state."""

import pytest

from dabt.languages import load_languages
from dabt.sitecheck.document import read
from dabt.translation.notice import Reader, with_notices
from dabt.translation.page import render_page
from dabt.ui import load_ui
from tools.environment import ROOT

DATA = ROOT / "docs" / "_data"
LANGUAGES = load_languages(DATA / "languages.yml")
UI = load_ui(DATA, LANGUAGES)
PAGE = (
    '<h1 id="lora">LoRA</h1>\n<p>a</p>\n<h2 id="idea">b</h2>\n<p>c</p>\n<h2 id="next">d</h2>\n'
    '<p>e</p>\n<div class="footnote"></div>'
)


def reader(code: str, page: str = "peft/lora.md") -> Reader:
    return Reader(code, page, LANGUAGES, UI)


def notices(course, code: str) -> list[tuple[str, str, str, str]]:
    """Return section, address, language and words of each notice of the page."""
    document = read(with_notices(PAGE, course.survey(), reader(code)))
    found = []
    for one in document.with_class("dabt-lag"):
        (link,) = (e for e in document.children(one) if e.tag == "a")
        words = " ".join(document.text_of(one).split())
        found.append((one.get("data-section"), link.get("href"), link.get("lang"), words))
    return found


def test_a_page_in_step_stays_as_it_is(course):
    assert with_notices(PAGE, course.survey(), reader("fr")) == PAGE


def test_the_reader_is_told_in_his_language_where_it_is_newer(course):
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    ((section, href, lang, words),) = notices(course, "fr")
    assert (section, href, lang) == ("idea", "../../../peft/lora/#idea", "ar")
    assert words.startswith("Cette section a changé")
    assert words.endswith("العربية")
    assert notices(course, "ar") == []


def test_the_line_stands_under_the_heading(course):
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    html = with_notices(PAGE, course.survey(), reader("fr"))
    assert html.index('id="idea"') < html.index("dabt-lag") < html.index("<p>c</p>")


@pytest.mark.parametrize(
    ("before", "follows"),
    [("## L'idée", '<h2 id="idea">'), ("## La suite", '<h2 id="next">'), ("[^one]: ", "<div")],
)
def test_a_missing_section_is_named_where_it_should_be(course, before, follows):
    course.edit("fr/peft/lora.md", before, f"## Neuf {'{ #new }'}\n\nNeuf.\n\n{before}")
    ((section, href, lang, words),) = notices(course, "ar")
    assert (section, href, lang) == ("new", "../../fr/peft/lora/#new", "fr")
    assert words.endswith("Neuf")
    html = with_notices(PAGE, course.survey(), reader("ar"))
    assert html[html.index("dabt-lag") :].split("</p>\n", 1)[1].startswith(follows)
    assert notices(course, "fr") == []


def test_the_page_of_the_state_counts_and_says_what_is_next(course):
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    html = render_page(course.survey(), reader("fr", "contribute/status.md"))
    document = read(html)
    rows = [document.text_of(one) for one in document.all("tr")]
    assert "LoRA100\u202f%66\u202f%" in rows
    assert "_data/quizzes/lora100\u202f%100\u202f%" in rows
    (item,) = document.all("li")
    assert document.text_of(item) == "à revoir · LoRA · L'idée"
    (link,) = (one for one in document.all("a") if item.holds(one))
    assert link.get("href") == "../../peft/lora/#idea"


def test_another_language_says_so_in_the_page(course):
    html = render_page(course.survey(), reader("fr", "contribute/status.md"))
    assert '<span lang="ar" dir="rtl">العربية</span>' in html
