"""A script goes in; the same without its comments and indentation comes out."""

from pathlib import Path

import pytest

from dabt.weight.scripts import bare

ASSETS = Path(__file__).resolve().parents[2] / "docs/assets"


@pytest.mark.parametrize(
    ("source", "sent"),
    [
        ("/* Why. */\nlet a = 1;\n", "let a = 1;\n"),
        ("// Why.\n  let a = 1;\n\n  // Why.\nb();\n", "let a = 1;\nb();\n"),
        ("/* Two\n * lines. */\na {\n  b: c;\n}\n", "a {\nb: c;\n}\n"),
        ('x("// no", "/* no */"); // stays\n', 'x("// no", "/* no */"); // stays\n'),
        ("a = /* stays */ 1;\n", "a = /* stays */ 1;\n"),
    ],
)
def test_whole_lines_of_comment_go(source: str, sent: str):
    assert bare(source) == sent


@pytest.mark.parametrize("path", sorted(ASSETS.rglob("*.js")), ids=lambda path: path.name)
def test_no_text_in_backquotes_goes_over_a_line(path: Path):
    for number, line in enumerate(bare(path.read_text("utf-8")).splitlines(), 1):
        assert line.count("`") % 2 == 0, f"{path.name}, sent line {number}: {line}"
