"""A program goes in; the blocks of a notebook come out, in an order that runs."""

from dabt.notebooks.program import order, plain_code, read_program

PROGRAM = '''\
"""What it does."""

import sys

LIMIT = 3


# --8<-- [start:late]
@dataclass
class Late:
    """Named in an annotation."""

    steps: int = 1  # (1)!
# --8<-- [end:late]


def helper(value: Late) -> int:
    return value.steps + OTHER


# a comment of its own
OTHER = 2


# --8<-- [start:early]
def early(late: Late, most: int = helper(Late())) -> int:
    return late.steps  # (1)!
    # --8<-- [end:early]


def main() -> None:
    early(Late())


if __name__ == "__main__":
    main()
'''


def placed(*regions: str) -> list[tuple[str, list[str]]]:
    found = order(read_program(PROGRAM), regions)
    return [(name, [sorted(b.defines)[0] for b in blocks]) for name, blocks in found]


def test_imports_and_constants_come_first() -> None:
    program = read_program(PROGRAM)
    assert program.text == "What it does."
    assert program.head == "import sys\n\nLIMIT = 3"


def test_every_line_of_code_comes_once_and_main_is_not_called() -> None:
    program = read_program(PROGRAM)
    code = "\n".join([program.head, *(b.code for _, bs in order(program, ["early"]) for b in bs)])
    kept = [one.strip() for one in PROGRAM.split("\n")[2:-3] if one.strip() and "8<" not in one]
    lines = [one.strip() for one in code.split("\n") if one.strip()]
    assert sorted(lines) == sorted(one.replace("# (1)!", "# (1)") for one in kept)


def test_the_order_is_the_page_s_where_it_can_be() -> None:
    """A default that is computed needs a function and its constant; an annotation nothing."""
    assert placed("late", "early") == [
        ("late", ["Late"]),
        ("early", ["OTHER", "helper", "early"]),
        ("", ["main"]),
    ]
    assert placed("early", "late") == [
        ("early", ["Late", "OTHER", "helper", "early"]),
        ("", ["main"]),
    ]


def test_a_region_shown_twice_comes_once() -> None:
    rest = ["helper", "OTHER", "early", "main"]
    assert placed("late", "late") == [("late", ["Late"]), ("", rest)]


def test_a_region_within_a_function_brings_all_of_it() -> None:
    marked = "    # --8<-- [start:in]\n    b = 2\n    # --8<-- [end:in]\n"
    source = f"def f():\n    a = 1\n{marked}    return a + b\n"
    [(name, [block])] = order(read_program(source), ["in"])
    assert name == "in" and block.code == "def f():\n    a = 1\n    b = 2\n    return a + b"


def test_the_marks_of_a_region_do_not_stay() -> None:
    assert plain_code("x = 1  # (1)!\n# ") == "x = 1  # (1)"
