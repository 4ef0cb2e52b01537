"""A page goes in; the links that leave its language come out, with their places."""

import pytest

from dabt.crossing import check_crossing
from dabt.languages import Language
from dabt.pages import Page

LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))


def find(text: str) -> list[str]:
    page = Page("docs/fr/full/a.md", "fr", "full/a.md", text)
    return [str(one).split("\n")[0] for one in check_crossing(page, LANGUAGES)]


@pytest.mark.parametrize(
    "link", ["../../ar/full/a.md", "../../ar/full/a.md#idea", "<../../ar/x.md>"]
)
def test_a_link_into_the_other_language_is_a_problem(link: str) -> None:
    target = link.strip("<>")
    column = 10 + link.startswith("<")
    assert find(f"# Titre\n\nUn [mot]({link}).\n") == [
        f"docs/fr/full/a.md:3:{column}: error: '{target}' leads from 'fr' into 'ar' [link-crossing]"
    ]


def test_a_reference_is_a_link_too() -> None:
    assert "3:6: error" in find("[mot][a]\n\n[a]: ../../ar/a.md\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        "[a](../quizzes/b.md) [b](#c) [c](https://host/ar/) [d](/ar/)",
        "```\n[a](../../ar/a.md)\n```",
        "[a](../ar/a.md)",
    ],
)
def test_other_links_are_left_alone(text: str) -> None:
    assert find(text) == []
