"""A recorded row of tokens goes in; boxes come out, and the same in words for a screen reader."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from dabt.figures import read_figures, render_figure
from dabt.languages import Language
from dabt.problems import report
from dabt.ui import load_ui

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
UI = load_ui(ROOT / "docs/_data", LANGUAGES)
TEXT = """\
figure: labels
kind: tokens
source: record.json
rows: rows
names: {cut: {ar: مقتطع, fr: tronqué}, masked: {ar: محجوب, fr: masqué}}
caption: {ar: محادثة, fr: une conversation}
"""
BEGIN, END = ("<s>", True), ("</s>", True)
ARABIC = (BEGIN, ("ما", False), (" هي", False), ("؟", False), ("هي", False), (" باريس", False), END)
FRENCH = (BEGIN, ("Où", False), (" ?", False), ("À", False), (" Paris", False), END)


def row(name: str, language: str, tokens: tuple, learnt: range, right: bool = True) -> dict:
    return {
        "id": name,
        "language": language,
        "right": right,
        "tokens": [
            {"token": text, "special": special, "label": place if place in learnt else -100}
            for place, (text, special) in enumerate(tokens)
        ],
    }


ROWS = [
    row("cut", "ar", ARABIC[:5], range(4, 5), right=False),
    row("masked", "ar", ARABIC, range(4, 7)),
    row("cut", "fr", FRENCH[:3], range(0), right=False),
    row("masked", "fr", FRENCH, range(3, 6)),
]


def read(folder: Path, rows: object = ROWS, text: str = TEXT) -> tuple[dict, str]:
    (folder / "record.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    (folder / "labels.yml").write_text(text, encoding="utf-8")
    figures, problems = read_figures(folder, folder, LANGUAGES)
    return figures, report(problems)


def draw(folder: Path, language: str, rows: object = ROWS) -> list[str]:
    """The rows of the drawing, one under the other."""
    figures, problems = read(folder, rows)
    assert not problems
    html = render_figure(figures["labels"], language, UI)
    return re.findall(r"<li>(<p.*?)</li>", html)


def spoken(drawn: str) -> str:
    return unescape(re.search(r'role="img" aria-label="([^"]*)"', drawn)[1])


def test_each_page_shows_tokens_of_its_own_language(tmp_path: Path) -> None:
    arabic, french = (draw(tmp_path, code) for code in ("ar", "fr"))
    assert len(arabic) == len(french) == 2
    assert 'dir="rtl"' in arabic[1] and "باريس" in arabic[1] and "Paris" not in arabic[1]
    assert 'dir="ltr"' in french[1] and "Paris" in french[1] and "باريس" not in french[1]


def test_without_rows_in_a_language_every_page_shows_the_same(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row["language"] == "fr"]
    assert all("Paris" in draw(tmp_path, code, rows)[1] for code in ("ar", "fr"))
    for one in (rows := json.loads(json.dumps(rows))):
        del one["language"]
    assert "Paris" in draw(tmp_path, "ar", rows)[1]


def test_a_screen_reader_hears_which_tokens_are_learnt(tmp_path: Path) -> None:
    cut, masked = draw(tmp_path, "fr")
    said = "appris\u00a0: «\u00a0À Paris</s>\u00a0». masqué\u00a0: «\u00a0<s>Où ?\u00a0»."
    assert spoken(masked) == said
    assert "appris" not in spoken(cut) and "absent\u00a0: «\u00a0À Paris</s>\u00a0»." in spoken(cut)


def test_what_is_learnt_in_two_places_is_said_as_two(tmp_path: Path) -> None:
    two = row("masked", "fr", FRENCH, range(0, 6, 3))
    assert "appris\u00a0: «\u00a0<s> … À\u00a0»." in spoken(draw(tmp_path, "fr", [ROWS[2], two])[1])


def test_what_is_cut_away_stays_visible_as_absent(tmp_path: Path) -> None:
    cut, masked = draw(tmp_path, "ar")
    assert cut.count('class="dabt-token dabt-token--absent') == 2
    assert cut.count("dabt-token--trained") == 1 and cut.count("dabt-token--masked") == 4
    assert masked.count("dabt-token--trained") == 3 and "absent" not in masked
    assert "dabt-token--trained dabt-token--special" in masked


def test_counts_agree_with_the_language(tmp_path: Path) -> None:
    arabic, french = draw(tmp_path, "ar"), draw(tmp_path, "fr")
    assert "يُتعلَّم رمز واحد من أصل 5" in arabic[0] and "تُتعلَّم 3 رموز من أصل 7" in arabic[1]
    assert "0 token appris sur 3" in french[0] and "3 tokens appris sur 6" in french[1]
    assert "incorrect" in french[0] and "incorrect" not in french[1]


def test_a_row_that_is_neither_right_nor_wrong_has_no_verdict(tmp_path: Path) -> None:
    for one in (rows := json.loads(json.dumps(ROWS))):
        del one["right"]
    assert not any("verdict" in one for one in draw(tmp_path, "fr", rows))


def test_each_token_keeps_its_own_direction_and_its_spaces(tmp_path: Path) -> None:
    line = draw(tmp_path, "ar")[1]
    assert '<bdi class="dabt-token dabt-token--masked"><i class="dabt-token__space"></i>هي' in line
    assert "&lt;/s&gt;</bdi>" in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokens": []}, "the row 'cut' has no list 'tokens' [figure-tokens]"),
        ({"tokens": None}, "the row 'cut' has no list 'tokens' [figure-tokens]"),
        ({"tokens": [1]}, "the row 'cut' has no list 'tokens' [figure-tokens]"),
        ({"right": "yes"}, "'right' in the row 'cut' is neither true nor false"),
        ({"tokens": [{"token": "a", "label": 1}]}, "lacks 'token', 'special' or 'label'"),
        ({"id": "masked"}, "the record has 2 rows 'masked' in 'ar' [figure-rows]"),
        ({"id": "other"}, "the key 'other' is missing"),
    ],
)
def test_a_row_that_cannot_be_drawn_stops(tmp_path: Path, change: dict, message: str) -> None:
    figures, problems = read(tmp_path, [ROWS[0] | change, *ROWS[1:]])
    assert not figures and message in problems


def test_a_record_without_rows_stops(tmp_path: Path) -> None:
    assert "no list 'rows' of rows with an 'id'" in read(tmp_path, [])[1]
