"""Highlighted code goes in; the same text with less markup, and its explanations, comes out."""

import re

import pytest
from markdown import Markdown

from dabt.weight.code import lighten
from dabt.weight.notes import with_notes
from dabt.weight.tables import with_scrolling

EXTENSIONS = ["pymdownx.superfences", "pymdownx.highlight", "tables"]
OPTIONS = {"pymdownx.highlight": {"line_spans": "__span"}}
PROGRAM = '''``` { .python .annotate }
@cache
def f(x: int) -> str:  # (1)!
    """What for."""
    return [x[0], not x.y, f"{x}\\n", 1e-3]  # (2)!
```
'''


def render(text: str) -> str:
    return Markdown(extensions=EXTENSIONS, extension_configs=OPTIONS).convert(text)


def words(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_the_text_is_the_same_and_each_line_has_its_span():
    html = render(PROGRAM)
    light = lighten(html)
    assert words(light) == words(html)
    assert light.count("<span>") == 4
    assert "__span" not in light and len(light) < len(html) / 2


def test_what_has_an_ink_of_its_own_keeps_it():
    light = lighten(render(PROGRAM))
    assert '<span class="k">def</span> <span class="nf">f</span>(x' in light
    assert '<span class="sd">"""What for."""</span>' in light
    assert '<span class="m">1e-3</span>' in light
    assert '<span class="se">\\n</span>' in light


def test_a_session_keeps_its_prompts_and_text_outside_code_is_left_alone():
    session = "``` console\n$ ls\nname\n```\n"
    assert 'class="gp"' in lighten(render(session))
    prose = '<p><span class="n">x</span></p>'
    assert lighten(prose) == prose


def test_markers_become_buttons_that_open_their_explanation():
    html = with_notes(
        lighten(render(PROGRAM + "\n1.  One.\n\n    1. Inner.\n\n2.  Two.\n")), "Note"
    )
    assert "(1)!" not in html
    assert 'popovertarget="note-1-2" data-note="2" aria-label="Note 2"></button>' in html
    assert re.findall(r'<li id="([^"]+)" popover>', html) == ["note-1-1", "note-1-2"]
    assert html.count("<li") == 3 and html.count('<ol class="dabt-notes">') == 1


@pytest.mark.parametrize(
    "after", ["", "\n1.  One.\n", "\n1.  A.\n2.  B.\n3.  C.\n", "\n- A.\n- B."]
)
def test_explanations_that_do_not_add_up_are_left_to_the_check(after: str):
    html = lighten(render(PROGRAM + after))
    assert with_notes(html, "Note") == html


def test_only_plain_tables_are_put_in_a_box():
    html = with_scrolling(render("| a |\n|---|\n| 1 |\n") + '<table class="x"></table>')
    assert html.startswith(
        '<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>'
    )
    assert html.endswith('</table></div></div><table class="x"></table>')
