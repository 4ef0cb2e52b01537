"""A page goes in; what a notebook tells comes out."""

from pathlib import Path

import pytest

from dabt.notebooks.prose import Shown, Text, Where, regions, tell

PAGE = """\
---
title: "T"
---

# The title { #t }

Why to read on.[^one]

## Goals { #goals }

Left out.

## The lesson { #lesson }

Read `--tiny`{ .dabt-whole } in [the other](../full/other.md#there) and [here](#goals).[^two]

::: figure some-figure

??? note "How it is **done**"

    ``` { .python .annotate title="train.py" }
    --8<-- "peft/one/train.py:load"
    ```

    1.  An explanation.

``` { .python title="side.py" }
--8<-- "peft/one/side.py:part"
```

``` { .text .no-copy title="outputs/a.txt" }
--8<-- "peft/one/outputs/a.txt"
```

[^one]: First [source](https://a.example).
[^two]: Second.
[^three]: Not asked for.
"""


@pytest.fixture
def where(tmp_path: Path) -> Where:
    folder = tmp_path / "peft/one"
    (folder / "outputs").mkdir(parents=True)
    (folder / "side.py").write_text("# --8<-- [start:part]\nx = 1  # (1)!\n# --8<-- [end:part]\n")
    (folder / "outputs/a.txt").write_text("loss 0.5\n")
    return Where("peft/one.md", "peft/one/train.py", tmp_path, "https://c.example/fr/")


def text(told) -> str:
    return "\n\n".join(part.markdown for part in told.parts if isinstance(part, Text))


def test_only_the_sections_with_code_are_told(where) -> None:
    told = tell(PAGE, where)
    assert told.title == "The title"
    assert "Why to read on" in text(told) and "## The lesson" in text(told)
    assert "Left out" not in text(told)


def test_the_program_s_regions_are_places_and_other_code_is_quoted(where) -> None:
    told = tell(PAGE, where)
    assert regions(told) == ("load",)
    place = told.parts.index(Shown("load"))
    assert told.parts[place - 1].markdown.endswith("**How it is **done****")
    assert told.parts[place + 1].markdown.startswith("1.  An explanation.")
    quoted = [part.markdown for part in told.parts if isinstance(part, Text) and part.code]
    assert quoted == ["```python\nx = 1  # (1)\n```", "```text\nloss 0.5\n```"]


def test_what_only_the_site_reads_is_taken_out(where) -> None:
    told = text(tell(PAGE, where))
    for mark in ("{ ", ":::", "[^", "8<", "???"):
        assert mark not in told
    assert "`--tiny` in" in told


def test_notes_become_a_list_in_the_order_of_reading(where) -> None:
    told = tell(PAGE, where)
    assert told.notes == ("First [source](https://a.example).", "Second.")
    assert "read on. [1]" in text(told) and "[2]" in text(told)


def test_links_lead_to_the_site_or_are_words(where) -> None:
    from dataclasses import replace

    told = text(tell(PAGE, where))
    assert "[the other](https://c.example/fr/full/other/#there)" in told
    assert "[here](https://c.example/fr/peft/one/#goals)" in told
    told = text(tell(PAGE, replace(where, address="")))
    assert "in the other and here. [2]" in told
