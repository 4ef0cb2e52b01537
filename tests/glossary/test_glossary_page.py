"""The glossary page: every term once, in the order of each alphabet, with names and links."""

import re

import pytest

from dabt.glossary.page import Shown, first_letter, render_glossary, sort_key
from dabt.sitecheck.document import read as read_html
from dabt.ui import load_ui
from tests.glossary.small_glossary import LANGUAGES, ROOT

UI = load_ui(ROOT / "docs/_data", LANGUAGES)
TITLES = {("fr", "peft/lora.md", "idea"): "L'idée de `LoRA`"}


def shown(language: str) -> Shown:
    return Shown(language, "glossary.md", UI, TITLES, LANGUAGES)


def terms_of(html: str) -> list[str]:
    return re.findall(r'<h3 id="term-([^"]+)"', html)


def test_terms_by_the_alphabet_of_the_language(small):
    french, arabic = (render_glossary(small, shown(code)) for code in ("fr", "ar"))
    assert terms_of(french) == ["lora", "step", "loss", "learning-rate"]
    assert terms_of(arabic) == ["lora", "loss", "step", "learning-rate"]
    assert re.findall(r'id="letter-\d+" data-search-exclude>(.)', arabic) == ["ت", "خ", "م"]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("ar", ["الأوزان", "إكمال", "بذرة", "تدرّج", "التكميم", "رمز", "الزخم", "مَعْلَمة", "النسيان"]),
        ("fr", ["adaptateur", "échauffement", "écrêtage", "époque", "étiquette", "fusion", "LoRA"]),
    ],
)
def test_order_without_article_vowels_accents_and_capitals(language: str, names: list[str]):
    def key(name: str) -> tuple:
        return sort_key(name, language)

    expected = sorted(names, key=names.index)
    if language == "ar":  # ا: أكمال before أوزان
        expected[:2] = ["إكمال", "الأوزان"]
    assert sorted(reversed(names), key=key) == expected


def test_letters():
    assert [first_letter(name, "ar") for name in ("الإحماء", "الألفة", "التكميم", "لوجيتات")] == [
        "ا",
        "ا",
        "ت",
        "ل",
    ]
    assert first_letter("échauffement", "fr") == "E"


def test_names_definition_synonyms_and_link(small):
    html = render_glossary(small, shown("fr"))
    entry = html[html.index('id="term-loss"') : html.index('id="term-learning-rate"')]
    assert '<span lang="en" dir="ltr">loss</span>' in entry
    assert '<span lang="ar" dir="rtl">الخسارة</span>' in entry
    assert "Nombre qui mesure l’écart aux étiquettes. L’entraînement le réduit." in entry
    assert "<bdi>fonction de coût</bdi>" in entry
    href, title = re.search(r'<a href="([^"]+)">(.*?)</a>', entry).groups()
    assert (href, title) == ("../peft/lora/#idea", 'L&#39;idée de <code dir="ltr">LoRA</code>')


def test_a_page_that_does_not_exist_has_no_link(small):
    assert '<a href="../' not in render_glossary(small, shown("ar"))


def test_a_name_equal_to_the_english_one_is_not_repeated(small):
    html = render_glossary(small, shown("ar"))
    assert html.count("LoRA</span>") == 1


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_the_page_of_the_course(course_glossary, language: str):
    html = render_glossary(course_glossary, shown(language))
    assert sorted(terms_of(html)) == sorted(term.id for term in course_glossary.terms)
    document = read_html(html)
    ids = [one.get("id") for one in document.elements if one.get("id")]
    assert len(ids) == len(set(ids))
    assert str(len(course_glossary.terms)) in html
    letters = re.findall(r'href="#(letter-\d+)"', html)
    assert letters == [name for name in ids if name.startswith("letter-")]
