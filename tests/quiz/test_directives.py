"""Directives in Markdown: where they count, where they are refused, where they are left alone."""

import markdown
import pytest

from dabt.directives import (
    DirectiveExtension,
    Place,
    at_page,
    check,
    first_line,
    renderers,
    scan,
    with_renderer,
)
from dabt.problems import DabtError, Problem

PLACE = Place("docs/fr/x.md", 1, "fr", "x.md")


def show(argument: str, place: Place) -> str:
    if argument == "bad":
        raise DabtError([Problem(place.file, place.line, 1, "bad argument", "bad", "mend it")])
    return f'<section title="{argument}">line {place.line} <b>a</b>\n\n    *raw*</section>'


def convert(text: str, place: Place = PLACE, extensions: tuple[str, ...] = ()) -> str:
    extension = DirectiveExtension({"quiz": show}, place)
    return markdown.markdown(text, extensions=[*extensions, extension])


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n::: quiz lora\n\nb",
        "a\n::: quiz lora\nb",
        "::: quiz lora",
        "- a\n::: quiz lora",
        ":::  quiz   lora  ",
        ":::\u00a0quiz\u00a0lora",
        "A comment begins with `<!--`.\n\n::: quiz lora",
        "<!-- never closed\n\n::: quiz lora",
        "```\nnever closed\n\n::: quiz lora",
        "> ```\n> closed by the end of the quotation\n\n::: quiz lora",
        "```` md\n```\n````\n::: quiz lora",
    ],
)
def test_html_goes_out_untouched_and_in_no_paragraph(text: str) -> None:
    line = text.split("\n").index(next(x for x in text.split("\n") if ":::" in x)) + 1
    html = convert(text)
    assert f'<section title="lora">line {line} <b>a</b>\n\n    *raw*</section>' in html
    assert "<p><section" not in html and "<li><section" not in html


@pytest.mark.parametrize(
    ("text", "extensions"),
    [
        ("```\n::: quiz lora\n```", ("fenced_code",)),
        ("~~~ text\n::: quiz lora\n~~~", ("fenced_code",)),
        ("````\n```\n::: quiz lora\n```\n````", ("fenced_code",)),
        ("```\n::: quiz lora\n```", ("pymdownx.superfences",)),
        ("- a\n\n    ```\n    ::: quiz lora\n    ```", ("pymdownx.superfences",)),
        ("Write `::: quiz lora` alone.", ()),
        ("<!--\n::: quiz lora\n-->", ()),
    ],
)
def test_fences_code_and_comments_are_left_alone(text: str, extensions: tuple[str, ...]) -> None:
    html = convert(text, extensions=extensions)
    assert "::: quiz lora" in html
    assert "<section" not in html
    assert scan(text) == ()


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("- a\n\n    ::: quiz lora", 3, 5),
        ("- ::: quiz lora", 1, 3),
        ("1. ::: quiz lora", 1, 4),
        ("> ::: quiz lora", 1, 3),
        ('=== "tab"\n\n    ::: quiz lora', 3, 5),
        ("!!! note\n\n    ::: quiz lora", 3, 5),
        (" ::: quiz lora", 1, 2),
        ("\t::: quiz lora", 1, 2),
        ("\u200f::: quiz lora", 1, 2),
        ("\u00a0::: quiz lora", 1, 2),
        ("\ufeff:::\u00a0quiz lora", 1, 2),
    ],
)
def test_nested_directive_is_refused(text: str, line: int, column: int) -> None:
    with pytest.raises(DabtError) as caught:
        convert(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.code) == (line, column, "nested-directive")
    assert check(text, PLACE.file, ["quiz"]) == (problem,)


def test_unknown_and_empty_names() -> None:
    with pytest.raises(DabtError) as caught:
        convert("::: quis lora\n\n:::\n\n::: quiz bad")
    assert [(p.line, p.code, p.mend) for p in caught.value.problems] == [
        (1, "unknown-directive", "did you mean 'quiz'?"),
        (3, "unknown-directive", "known here: quiz"),
        (5, "bad", "mend it"),
    ]


def test_lines_are_those_of_the_source() -> None:
    source = "---\ntitle: x\n---\n\n# A\n\n```python\na = 1\nb = 2\n```\n\n::: quiz lora\n"
    begin = first_line(source)
    assert begin == 5
    text = source.split("\n", begin - 1)[-1]
    place = Place("x.md", begin, "fr")
    html = convert(text, place, ("fenced_code",))
    assert "line 12 " in html
    assert source.split("\n")[11] == "::: quiz lora"
    assert first_line("# A\n") == 1


def test_scan_gives_names_and_arguments() -> None:
    found = scan("::: quiz lora#a,b\n\n::: figure loss curve\n\n:::: quiz x\n")
    assert [(one.name, one.argument, one.line) for one in found] == [
        ("quiz", "lora#a,b", 1),
        ("figure", "loss curve", 3),
        (":", "quiz x", 5),
    ]


def test_adapters_share_one_extension_and_may_repeat_themselves() -> None:
    extensions: list[object] = ["toc"]
    for _ in range(2):
        extensions = with_renderer(extensions, "quiz", show)
        extensions = with_renderer(
            extensions, "figure", lambda argument, place: "<figure></figure>"
        )
        extensions = at_page(extensions, PLACE)
    assert len(extensions) == 2 and extensions[0] == "toc"
    assert sorted(renderers(extensions)) == ["figure", "quiz"]
    html = markdown.markdown("::: figure x\n\n::: quiz lora", extensions=extensions)
    assert "<figure></figure>" in html and "line 3 " in html
