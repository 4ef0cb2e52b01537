"""Style sheets go in; one without the parts that the course lacks comes out."""

from pathlib import Path

import pytest

from dabt.weight.style import make_style, one_style


@pytest.mark.parametrize(
    ("theme", "style"),
    [
        (".md-nav{color:red}.md-search__form{color:blue}", ".md-nav{color:red}"),
        (".md-nav,.md-search .x{color:red}", ".md-nav{color:red}"),
        ("@media print{.md-tabs{a:b}.md-main{c:d}}", "@media print{.md-main{c:d}}"),
        ("@media print{.md-tabs{a:b}}", ""),
        ('@charset "UTF-8";a{b:c}', "a{b:c}"),
        (".grid{a:b}.md-grid{a:b}", ".md-grid{a:b}"),
        ("a:not(.focus-visible){b:c}", "a:not(:focus-visible){b:c}"),
        ("a:not(.md-tag){b:c}", "a:not(.md-tag){b:c}"),
        ("@keyframes x{0%{a:b}to{a:c}}", "@keyframes x{0%{a:b}to{a:c}}"),
        ('[data-md-color-accent=red]{a:b}[data-md-color-scheme="slate"]{a:b}',
         '[data-md-color-scheme="slate"]{a:b}'),
        (':root{--icon:url("data:x;{},}");--other:1}.a{b:var(--icon)}',
         ':root{--icon:url("data:x;{},}")}.a{b:var(--icon)}'),
        # What only an unread variable reads goes as well.
        (":root{--a:1;--b:var(--a);--c:2}x{y:var(--c)}", ":root{--c:2}x{y:var(--c)}"),
    ],
)  # fmt: skip
def test_parts_that_no_page_uses_are_left_out(theme: str, style: str):
    assert one_style([theme], "").strip() == style


def test_ours_comes_last_whole_and_may_read_the_variables_of_the_theme():
    style = one_style([":root{--a:1;--b:2}"], "/* why */\n.x {\n  color: var(--a);\n}\n")
    assert style.startswith(":root{--a:1}")
    assert "why" not in style and "color: var(--a);" in style


def test_a_style_sheet_that_is_cut_off_says_so():
    with pytest.raises(ValueError, match="does not end"):
        one_style([".a{b:c"], "")


def test_the_address_changes_with_the_text(tmp_path: Path):
    own = tmp_path / "site.css"
    (tmp_path / "main.0.min.css").write_text("a{b:c}", encoding="utf-8")
    own.write_text("x{y:z}", encoding="utf-8")
    first = make_style([tmp_path], own)
    assert first == make_style([tmp_path], own) and "a{b:c}" in first[1]
    own.write_text("x{y:w}", encoding="utf-8")
    assert make_style([tmp_path], own)[0] != first[0]
