"""Marks under terms: where they are, where they are not, and the definitions that follow."""

import json
import re

import pytest
from markdown import Markdown

from dabt.glossary.tooltips import Setting, definitions_file, first_sentence, with_terms
from dabt.ui import load_ui
from tests.glossary.small_glossary import LANGUAGES, ROOT

UI = load_ui(ROOT / "docs/_data", LANGUAGES)
EXTENSIONS = ["attr_list", "admonition", "footnotes", "tables", "md_in_html"]
SUPER = ["pymdownx.superfences", "pymdownx.highlight", "pymdownx.details"]


def render(glossary, text: str, language: str = "fr", page: str = "full/x.md") -> str:
    setting = Setting(glossary, UI, language, page)
    return Markdown(extensions=with_terms([*EXTENSIONS, *SUPER], setting)).convert(text)


def marks(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<a class="dabt-term" href="[^"]*#term-([^"]+)">([^<]*)</a>', html)


def test_the_first_use_in_each_section(small):
    text = "## A { #a }\n\nLa perte, la perte.\n\n### B { #b }\n\nLa perte.\n\n## C\n\nSa perte.\n"
    html = render(small, text)
    assert marks(html) == [("loss", "perte"), ("loss", "perte")]
    assert (
        '<p>La <a class="dabt-term" href="../../glossary/#term-loss">perte</a>, la perte.' in html
    )
    assert html.count('class="dabt-terms"') == 1


def test_once_a_page(small):
    html = render(small, "## A\n\nLoRA.\n\n## B\n\nLoRA et une adaptation de rang faible.\n")
    assert marks(html) == [("lora", "LoRA")]


def test_arabic_with_its_prefix(small):
    html = render(small, "## أ\n\nتهبط **الخسارة** بمعدلِ التعلّم، وبالـLoRA.\n", "ar")
    assert marks(html) == [
        ("loss", "الخسارة"),
        ("learning-rate", "بمعدلِ التعلّم"),
        ("lora", "وبالـLoRA"),
    ]


NOT_MARKED = {
    "above the first section": "# T\n\nLa perte.\n\n## A",
    "headings": "## La perte\n\n### La perte",
    "code": "## A\n\n`perte`",
    "fences": "## A\n\n```\nperte\n```",
    "links": "## A\n\n[la perte](x.md)",
    "titles of boxes": '## A\n\n!!! note "La perte"\n    Rien.',
    "titles of details": '## A\n\n??? note "La perte"\n    Rien.',
    "heads of tables": "## A\n\n| perte |\n|---|\n| x |",
    "footnotes": "## A\n\nx[^1]\n\n[^1]: La perte.",
    "English in brackets": "## A\n\nAdaptation (*LoRA*)",
    "raw code": "## A\n\nVoir <code>la perte</code>.",
    "raw links": '## A\n\nVoir <a href="y">la perte</a>.',
    "raw blocks": "## A\n\n<figure>la perte</figure>",
    "words that get no mark": "## A\n\nun pas",
    "explanations of code": (
        "## A\n\n``` { .python .annotate }\nx = 1  # (1)!\n```\n\n1.  La perte baisse."
    ),
}


@pytest.mark.parametrize("text", NOT_MARKED.values(), ids=NOT_MARKED)
def test_not_marked(small, text: str):
    html = render(small, text)
    assert marks(html) == []
    assert "dabt-terms" not in html
    assert marks(render(small, f"{text}\n\n## Z\n\nLa perte.\n")) == [("loss", "perte")]


def test_marked_inside_boxes_lists_and_cells(small):
    boxes = "## A\n\n!!! note\n    La perte.\n\n## B\n\n- la *perte*\n\n"
    text = boxes + "## C\n\n| x |\n|---|\n| perte |\n"
    assert marks(render(small, text)) == [("loss", "perte")] * 3


def test_the_section_that_teaches_a_term_has_no_mark_for_it(small):
    text = "## A { #a }\n\nLa perte.\n\n## B\n\n### Idée { #idea }\n\nLa perte.\n"
    assert len(marks(render(small, text, page="peft/lora.md"))) == 1
    assert len(marks(render(small, text, page="peft/other.md"))) == 2


@pytest.mark.parametrize("page", ["index.md", "about.md", "glossary.md", "quizzes/x.md"])
def test_other_pages_have_no_marks(small, page: str):
    assert marks(render(small, "## A\n\nLa perte.\n", page=page)) == []


def test_definitions_are_short_and_in_a_file_of_their_own(small):
    html = render(small, "## A\n\nLa perte.\n")
    assert html.endswith('<div class="dabt-terms" data-more="Dans le glossaire" hidden></div>')
    address, text = definitions_file(small, "fr")
    assert re.fullmatch(r"assets/terms/fr\.[0-9a-f]{8}\.json", address)
    assert json.loads(text)["loss"] == (
        '<b>perte</b> (<span lang="en" dir="ltr">loss</span>)<br>'
        "Nombre qui mesure l’écart aux étiquettes."
    )


def test_rendering_twice_gives_the_same(small):
    text = "## A\n\nLa perte et LoRA.\n"
    md = Markdown(extensions=with_terms(EXTENSIONS, Setting(small, UI, "fr", "full/x.md")))
    assert md.convert(text) == md.reset().convert(text)


@pytest.mark.parametrize(
    ("text", "first"),
    [("Un. Deux.", "Un."), ("Vaut 1.5 fois. Plus.", "Vaut 1.5 fois."), ("Seule", "Seule")],
)
def test_first_sentence(text: str, first: str):
    assert first_sentence(text) == first
