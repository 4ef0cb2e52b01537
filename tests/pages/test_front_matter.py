"""A page whose front matter MkDocs would take for text, without a word, is a problem."""

import pytest

from dabt.frontmatter import check_front_matter
from dabt.pages import Page

GOOD = "---\ntitle: LoRA\ndescription: 'Deux matrices : A et B'\n---\n\n# LoRA { #lora }\n"


def found(text: str) -> list[tuple[int, str]]:
    """Return line and code of each problem of a page."""
    page = Page("docs/fr/x.md", "fr", "x.md", text)
    return [(one.line, one.code) for one in check_front_matter(page)]


def test_a_good_one_is_accepted():
    assert found(GOOD) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# LoRA\n", []),
        ("---\ntitle: x\n---\n# x\n", []),
        ("---\ndescription: x\n---\n# x\n", [(1, "front-matter")]),
        ("---\ntitle: ''\ndescription: y\n---\n# x\n", [(2, "front-matter")]),
        ("---\ntitle: [x]\ndescription: y\n---\n# x\n", [(2, "front-matter")]),
        ("---\n- title\n---\n# x\n", [(2, "front-matter")]),
        # ': ' inside a text, what happened to a page of the course.
        ("---\ntitle: x\ndescription: mieux: la perte\n---\n# x\n", [(3, "yaml")]),
        ("---\ntitle: x\ntitle: y\ndescription: z\n---\n# x\n", [(3, "duplicate-key")]),
    ],
)
def test_each_fault_is_told_at_its_line(text, expected):
    assert found(text) == expected
