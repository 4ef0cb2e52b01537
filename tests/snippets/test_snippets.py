"""Included code: a page and the examples go in, located problems come out."""

from pathlib import Path

import pytest
from markdown import markdown

from dabt.snippets import PlainCodeExtension, check_includes

PROGRAM = """\
# --8<-- [start:load]
model = load()  # (1)!
model.train()  # (2)!
# --8<-- [end:load]
# --8<-- [start:odd]
step()  # (1)!
step()  # (3)!
# --8<-- [end:odd]
# --8<-- [start:open]
log()
#;--8<-- [start:escaped]
"""
PAGE = """\
# Title

``` { .python .annotate title="train.py" }
--8<-- "run/train.py:load"
```

1.  First.

    More of the first.

2.  Second.

Prose.

1.  A list of its own.
"""


def find(folder: Path, page: str) -> list[str]:
    source = folder / "examples" / "run" / "train.py"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(PROGRAM, encoding="utf-8")
    return [str(one) for one in check_includes(page, "docs/ar/a.md", folder / "examples")]


def test_a_page_that_is_right_has_no_problem(tmp_path: Path) -> None:
    assert find(tmp_path, PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "train.py:load",
            "train.py:lode",
            "docs/ar/a.md:4:1: error: no region 'lode' in 'run/train.py' [snippet-region]\n"
            "  mend: did you mean 'load'?",
        ),
        (
            "run/train.py",
            "run/trian.py",
            "docs/ar/a.md:4:1: error: no file 'run/trian.py' in examples/ [snippet-file]\n"
            "  mend: did you mean 'run/train.py'?",
        ),
        (
            "2.  Second.\n",
            "",
            "docs/ar/a.md:4:1: error: 2 markers in 'run/train.py:load', 1 explanations under it"
            " [annotation-count]\n  mend: write one list item for each marker",
        ),
        (
            "train.py:load",
            "train.py:odd",
            "docs/ar/a.md:4:1: error: the markers of 'run/train.py:odd' are [1, 3]"
            " [annotation-order]\n  mend: number them 1, 2, 3 … in the program",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert find(tmp_path, PAGE.replace(old, new)) == [message]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--8<-- 'run/trian.py'", "1:1: error: no file 'run/trian.py'"),
        ('-8<- "run/trian.py"', "1:1: error: no file 'run/trian.py'"),
        ('  ---8<---  "run/trian.py"', "1:3: error: no file 'run/trian.py'"),
        ('--8<-- "../secret.py"', "no file '../secret.py' in examples/ [snippet-file]"),
        ('--8<-- "/etc/hostname"', "no file '/etc/hostname' in examples/ [snippet-file]"),
        ('--8<-- "run/train.py:open"', "the region 'open' of 'run/train.py' has no end"),
        ('--8<-- "run/train.py:escaped"', "no region 'escaped' in 'run/train.py'"),
        ('--8<-- "run/train.py:1:2:3"', "no region '1:2:3' in 'run/train.py'"),
        ("--8<--\nrun/train.py:load\n--8<--", "1:1: error: a block of includes [snippet-block]"),
        ('--8<-- "run/model.bin"', "'run/model.bin' is not text in UTF-8 [snippet-file]"),
    ],
)
def test_every_form_that_the_build_takes_is_checked(
    tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "secret.py").write_text("x", encoding="utf-8")
    binary = tmp_path / "examples" / "run" / "model.bin"
    binary.parent.mkdir(parents=True)
    binary.write_bytes(b"\xff\xfe")
    (problem,) = find(tmp_path, line + "\n")
    assert message in problem


@pytest.mark.parametrize(
    "line",
    [
        ';--8<-- "none.py"',
        '--8<-- "; none.py"',
        '--8<-- "run/train.py:1:3,5:"',
        '--8<-- "run/train.py:-2:"',
    ],
)
def test_escapes_and_ranges_of_lines_are_left_alone(tmp_path: Path, line: str) -> None:
    assert find(tmp_path, line + "\n") == []


def test_code_within_a_line_opens_no_fence() -> None:
    text = "```a``` is code.\n\n``` { .python .annotate }\nload()  # (1)!\n```\n"
    extensions = ["attr_list", "pymdownx.superfences", PlainCodeExtension()]
    assert "# (1)!" in markdown(text, extensions=extensions)


def test_a_fence_without_explanations_needs_none(tmp_path: Path) -> None:
    assert find(tmp_path, '``` python\n--8<-- "run/train.py:load"\n```\n') == []


def test_markers_stay_only_where_they_are_explained() -> None:
    text = "``` {%s}\nload()  # (1)!\n```\n\nstep  # (2)!\n"
    extensions = ["attr_list", "pymdownx.superfences", PlainCodeExtension()]
    plain = markdown(text % " .python ", extensions=extensions)
    annotated = markdown(text % " .python .annotate ", extensions=extensions)
    assert "(1)" not in plain and "load" in plain and "# (2)!" in plain
    assert "# (1)!" in annotated
