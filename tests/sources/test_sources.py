"""The link to edit a page leads to the file that holds what it shows."""

import pytest

from dabt.sources import sources_of, with_repository

PAGES = {
    "a chapter": ("# A\n\nText.\n", ("fr/a.md",)),
    "a chapter with a figure": (
        "# A\n\n::: figure loss\n",
        ("fr/a.md", "_data/figures/loss.yml"),
    ),
    "a chapter with some questions": (
        "::: quiz lora#a,b\n\n::: quiz lora#c\n",
        ("fr/a.md", "_data/quizzes/lora.yml"),
    ),
    "a quiz": ("# Quiz\n\n::: quiz lora\n", ("_data/quizzes/lora.yml", "fr/a.md")),
    "the glossary": ("::: glossary\n", ("_data/glossary.yml", "fr/a.md")),
    "the checks": ("::: checks a\n\n::: checks b\n", ("_data/checks.yml", "fr/a.md")),
    "code that shows a directive": ("```text\n::: glossary\n```\n", ("fr/a.md",)),
}


@pytest.mark.parametrize("kind", PAGES)
def test_each_kind_of_page_leads_to_its_source_first(kind):
    text, wanted = PAGES[kind]
    assert sources_of(text, "fr/a.md") == wanted


SPAN = '<p><span data-repository="issues/new">Ouvrez</span> ici.</p>'


def test_a_place_in_the_repository_is_a_link_once_its_address_is_known():
    link = '<p><a href="https://host.example/o/r/issues/new">Ouvrez</a> ici.</p>'
    assert with_repository(SPAN, "https://host.example/o/r/") == link


def test_without_an_address_the_sentence_is_left():
    assert with_repository(SPAN, "") == "<p>Ouvrez ici.</p>"
