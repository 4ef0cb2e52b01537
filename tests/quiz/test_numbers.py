"""Numbers as readers type them."""

from decimal import Decimal

import pytest

from dabt.quiz.numbers import is_accepted, parse_number
from dabt.quiz.render import plain_number, write_number


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("16", "16"),
        ("16,0", "16"),
        ("16.0", "16"),
        ("١٦", "16"),
        ("١٦٫٠", "16"),
        ("۱۶", "16"),
        (" 16 ", "16"),
        ("3 750", "3750"),
        ("3\u202f750", "3750"),
        ("3\u00a0750,5", "3750.5"),
        ("٣٬٧٥٠", "3750"),
        ("\u200e16\u200f", "16"),
        ("\u2066-16\u2069", "-16"),
        ("−16", "-16"),
        ("+0,5", "0.5"),
        (",5", "0.5"),
        ("5.", "5"),
        ("1,234,567", "1234567"),
        ("1,234.5", "1234.5"),
        ("1,234", "1.234"),
        ("2e-5", "0.00002"),
        ("2E3", "2000"),
        ("1'000", "1000"),
    ],
)
def test_number(typed: str, value: str) -> None:
    assert parse_number(typed) == Decimal(value)


@pytest.mark.parametrize(
    "typed",
    ["", " ", "seize", "16 Go", "1,2,3", "1.2.3", "--1", "e5", "16%", "1,23,456", "nan", "."],
)
def test_not_a_number(typed: str) -> None:
    assert parse_number(typed) is None


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("15.9", True),
        ("16,1", True),
        ("١٦٫١", True),
        ("16.11", False),
        ("15,89", False),
        ("", False),
    ],
)
def test_tolerance_holds_at_its_ends(typed: str, right: bool) -> None:
    assert is_accepted(typed, Decimal(16), Decimal("0.1")) == right


@pytest.mark.parametrize(
    ("value", "script", "french", "arabic"),
    [
        ("16", "16", "16", "16"),
        ("16.50", "16.5", "16,5", "16.5"),
        ("3750", "3750", "3\u202f750", "3,750"),
        ("-1234567.25", "-1234567.25", "-1\u202f234\u202f567,25", "-1,234,567.25"),
        ("2e-5", "0.00002", "0,00002", "0.00002"),
        ("1E+3", "1000", "1\u202f000", "1,000"),
    ],
)
def test_numbers_are_written_for_scripts_and_readers(
    value: str, script: str, french: str, arabic: str
) -> None:
    number = Decimal(value)
    assert plain_number(number) == script
    assert write_number(number, "fr") == french
    assert write_number(number, "ar") == arabic
    assert parse_number(french) == number
