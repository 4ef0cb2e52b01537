"""A growing language: what it lacks is shown in another one, which is said."""

import shutil

import pytest

from dabt.course import QuizRenderer, read_course
from dabt.directives import Place
from dabt.sitecheck.document import read
from dabt.translation.fallback import language_shown, show_elsewhere
from tests.quiz.small_course import write_course
from tools.environment import ROOT

LANGUAGES = """- {code: ar, name: العربية, direction: rtl, default: true}
- {code: fr, name: Français, direction: ltr}
- {code: es, name: Español, direction: ltr, fallback: fr}
"""


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_course(tmp_path)
    (tmp_path / "docs/_data/languages.yml").write_text(LANGUAGES)
    shutil.copy(ROOT / "docs/_data/ui.translation.yml", tmp_path / "docs/_data")
    (tmp_path / "docs/es").mkdir()
    return tmp_path / "docs"


def show(docs, renderer, argument):
    course, problems = read_course(docs)
    assert problems == ()
    return renderer(course)(argument, Place("docs/es/a.md", 1, "es", "a.md"))


def test_a_quiz_is_in_one_language_the_fallback_until_all_of_it_is_written(docs):
    html = show(docs, QuizRenderer, "lora#rank")
    assert html.startswith('<div lang="fr" dir="ltr">')
    assert "Combien ?" in html.replace("\u202f", " ").replace("\u00a0", " ")
    path = docs / "_data/quizzes/lora.yml"
    text = path.read_text()
    text = text.replace("ask: {fr: Combien ?,", "ask: {es: ¿Cuánto?, fr: Combien ?,")
    text = text.replace("unit: {fr: Go,", "unit: {es: GB, fr: Go,")
    text = text.replace("title: {fr: LoRA,", "title: {es: LoRA, fr: LoRA,")
    for french, spanish in (("Bien", "Bien"), ("À revoir", "A repasar")):
        text = text.replace(f"label: {{fr: {french},", f"label: {{es: {spanish}, fr: {french},")
    path.write_text(text)
    assert show(docs, QuizRenderer, "lora#rank").startswith("<div lang")
    path.write_text(text.replace("{fr: Un calcul.,", "{es: Un cálculo., fr: Un calcul.,"))
    html = show(docs, QuizRenderer, "lora#rank")
    assert not html.startswith("<div lang")
    assert "¿Cuánto?" in html
    assert show(docs, QuizRenderer, "lora#frozen").startswith('<div lang="fr"')


def test_a_complete_language_must_have_every_text(docs):
    path = docs / "_data/quizzes/lora.yml"
    path.write_text(path.read_text().replace("{fr: Combien ?, ar: كم؟}", "{ar: كم؟, es: ¿Cuánto?}"))
    _, problems = read_course(docs)
    assert [(one.code, one.message) for one in problems] == [
        ("missing-language", "no text in 'fr'")
    ]


def test_a_quiz_may_lead_to_a_section_that_only_other_languages_have(docs):
    _, problems = read_course(docs)
    assert problems == ()
    (docs / "es/peft").mkdir()
    (docs / "es/peft/lora.md").write_text("# LoRA { #lora }\n")
    _, problems = read_course(docs)
    assert problems == ()


def test_a_missing_page_is_taken_from_the_fallback_then_from_the_others(docs):
    course, _ = read_course(docs)
    for code in ("ar", "fr"):
        (docs / code / "a.md").write_text("# A\n")
    assert language_shown(docs, "a.md", "es", course.languages) == "fr"
    (docs / "fr/a.md").unlink()
    assert language_shown(docs, "a.md", "es", course.languages) == "ar"
    (docs / "es/a.md").write_text("# A\n")
    assert language_shown(docs, "a.md", "es", course.languages) == "es"


def test_a_page_shown_instead_says_its_language_and_leads_to_the_originals(docs):
    course, _ = read_course(docs)
    document = read(show_elsewhere("<h1>x</h1>", "ar", course.reader("es", "peft/lora.md")))
    (body,) = document.with_class("dabt-written")
    assert (body.get("lang"), body.get("dir"), body.get("data-written")) == ("ar", "rtl", "ar")
    (note,) = document.with_class("dabt-elsewhere")
    assert (note.get("data-shown"), note.get("lang")) == ("ar", "fr")
    links = [(one.get("data-dabt-choice"), one.get("href")) for one in document.all("a")]
    assert links == [("fr", "../../../fr/peft/lora/"), ("ar", "../../../peft/lora/")]
    assert not body.holds(note)


def test_a_link_begins_where_the_page_is_served(docs):
    course, _ = read_course(docs)
    reader = course.reader("ar", "peft/lora.md", tree="es")
    assert 'href="../../../fr/peft/lora/#idea"' in reader.link("fr", "idea")
