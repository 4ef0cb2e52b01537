"""A figure file and a recorded run go in; a drawing with the page's own words comes out."""

import json
import math
import re
from itertools import accumulate
from pathlib import Path

import pytest

from dabt.figures import read_figures, render_figure
from dabt.figures.scale import choose_log_ticks, choose_ticks, write_number
from dabt.languages import Language
from dabt.problems import report
from dabt.ui import Ui

LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
UI = Ui({"figure.data": {"ar": "الأرقام", "fr": "Données"}})
LINES = """\
figure: curve
kind: lines
source: run/record.json
x: {key: step, label: {ar: الخطوة, fr: Pas}}
y: {label: {ar: الخسارة, fr: Perte}}
lines:
  - {points: history, key: loss, label: {ar: التدريب, fr: entraînement}}
  - {points: eval, key: loss, label: {ar: التحقق, fr: validation}}
mark-lowest: {ar: الأدنى, fr: minimum}
caption:
  ar: "من {first_1:.2f} إلى {last_1:.2f}، والأدنى {low_2:.2f} عند {at_2:.0f}"
  fr: "de {first_1:.2f} à {last_1:.2f}, minimum {low_2:.2f} au pas {at_2:.0f}"
"""
RECORD = {
    "history": [{"step": n, "loss": 5 - n / 10} for n in range(1, 41)],
    "eval": [{"step": n, "loss": 2 + abs(n - 20) / 10} for n in (10, 20, 30, 40)],
    "rows": [
        {"id": "adam", "weights": 4, "states": 8},
        {"id": "sgd", "weights": 4, "states": 0},
        {"id": "adafactor", "weights": 4, "states": 0.0003},
    ],
}
LOG_X = LINES.replace("fr: Pas}}", "fr: Pas}, scale: logarithmic}")
BARS = """\
figure: bytes
kind: bars
source: run/record.json
rows: rows
heading: {ar: المُحسِّن, fr: Optimiseur}
parts:
  - {key: weights, label: {ar: الأوزان, fr: poids}}
  - {key: states, label: {ar: الحالات, fr: états}}
total: {ar: المجموع, fr: total}
digits: 2
names: {adam: {ar: آدم, fr: Adam}, sgd: {ar: SGD, fr: SGD}, adafactor: {ar: Ada, fr: Ada}}
caption: {ar: بايت لكل مَعْلَمة, fr: octets par paramètre}
"""


def write(folder: Path, name: str, text: str, record: object = RECORD) -> Path:
    source = folder / "examples" / "run" / "record.json"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(json.dumps(record), encoding="utf-8")
    path = folder / f"{name}.yml"
    path.write_text(text, encoding="utf-8")
    return path


def draw(folder: Path, name: str, text: str, language: str, record: object = RECORD) -> str:
    write(folder, name, text, record)
    figures, problems = read_figures(folder, folder / "examples", LANGUAGES)
    assert not problems
    return render_figure(figures[name], language, UI)


def problems(folder: Path, text: str, name: str = "curve", record: object = RECORD) -> str:
    write(folder, name, text, record)
    figures, problems = read_figures(folder, folder / "examples", LANGUAGES)
    assert not figures
    return report(problems)


def test_caption_computes_its_numbers_from_the_record(tmp_path: Path) -> None:
    html = draw(tmp_path, "curve", LINES, "fr")
    assert "<figcaption>de 4,90 à 1,00, minimum 2,00 au pas 20</figcaption>" in html
    assert 'aria-label="de 4,90 à 1,00, minimum 2,00 au pas 20"' in html


def test_arabic_labels_are_text_and_their_anchor_turns_round(tmp_path: Path) -> None:
    arabic, french = (draw(tmp_path, "curve", LINES, code) for code in ("ar", "fr"))
    label = re.search(r"<text[^>]*>الخسارة</text>", arabic)
    assert label and 'text-anchor="end"' in label[0] and 'direction="rtl"' in label[0]
    label = re.search(r"<text[^>]*>Perte</text>", french)
    assert label and 'text-anchor="start"' in label[0] and 'direction="ltr"' in label[0]


def test_both_languages_draw_the_same_lines(tmp_path: Path) -> None:
    paths = [
        re.findall(r' d="([^"]+)"', draw(tmp_path, "curve", LINES, code)) for code in ("ar", "fr")
    ]
    assert paths[0] == paths[1] and len(paths[0]) > 3


def test_lines_lie_where_the_numbers_say(tmp_path: Path) -> None:
    html = draw(tmp_path, "curve", LINES, "fr")
    line = re.search(r'dabt-chart__line--2" d="M[\d.]+ ([\d.]+)l([^"]+)"', html)
    assert line
    steps = [float(number) for number in line[2].split()]
    assert steps[::2] == pytest.approx([88, 88, 88], abs=0.2)
    ys = list(accumulate([float(line[1]), *steps[1::2]]))
    assert ys.index(max(ys)) == 1, "the lowest loss is drawn lowest"


def test_data_table_holds_the_numbers(tmp_path: Path) -> None:
    html = draw(tmp_path, "curve", LINES, "fr")
    assert '<tr><th scope="row">20</th><td>3</td><td>2</td></tr>' in html


@pytest.mark.parametrize(
    ("value", "cell"),
    [(0.12345, "0,123"), (999.4, "999"), (999.6, "1\u202f000"), (34615, "34\u202f615")],
)
def test_the_data_table_writes_large_numbers_out(tmp_path: Path, value: float, cell: str) -> None:
    record = RECORD | {"history": [{"step": 10, "loss": value}, {"step": 20, "loss": 2}]}
    assert f"<td>{cell}</td>" in draw(tmp_path, "curve", LINES, "fr", record)


def test_bars_are_a_table_with_totals_and_shares(tmp_path: Path) -> None:
    html = draw(tmp_path, "bytes", BARS, "ar")
    assert '<th scope="row">آدم<span' in html
    assert "</span></th><td>4</td><td>8</td><td>12</td>" in html
    assert "inline-size:66.67%" in html and "inline-size:33.33%" in html
    assert "<td>&lt;\u00a00.01</td>" in html, "a size that rounds to zero is not shown as zero"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: lines", "kind: line", "curve.yml:2:7: error: unknown kind 'line' [figure-kind]"),
        ("figure: curve", "figure: other", "mend: write 'figure: curve'"),
        ("run/record.json", "run/none.json", "the record 'run/none.json' cannot be read"),
        (
            "key: loss, label: {ar: التدريب",
            "key: lost, label: {ar: التدريب",
            "did you mean 'loss'?",
        ),
        ("{ar: الخطوة, fr: Pas}", "{ar: الخطوة}", "the key 'fr' is missing [missing-key]"),
        ("mark-lowest", "mark-low", "did you mean 'mark-lowest'?"),
        ("fr: Perte}}", "fr: Perte}, scale: log}", "unknown scale 'log' [figure-scale]"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in problems(tmp_path, LINES.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be written"),
        ("}", "cannot be written"),
        ("{}", "cannot be written"),
        ("{first_1!r}", "cannot be written"),
        ("{first_1:zz}", "cannot be written"),
        ("{first_1:{none}}", "cannot be written"),
        ("{first_1.real}", "unknown number 'first_1.real'"),
        ("", "the text is empty [empty]"),
    ],
)
def test_a_caption_that_cannot_be_written_stops(tmp_path: Path, text: str, message: str) -> None:
    caption = f'{LINES.partition("caption:")[0]}caption: {{ar: a, fr: "{text}"}}\n'
    assert message in problems(tmp_path, caption)


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([(1, math.nan), (2, 1)], "'loss' in 'history' is nan, which is no number"),
        ([(1, math.inf), (2, 1)], "is inf, which is no number"),
        ([(1, None), (2, 1)], "is None, which is no number"),
        ([(1, "3.5"), (2, 1)], "is '3.5', which is no number"),
        ([(1, 2)], "has 1 points: no line [figure-points]"),
        ([(2, 1), (1, 2)], "the values of the x axis do not rise"),
        ([(1, 1), (1, 2)], "the values of the x axis do not rise"),
        ([], "the record has no 'loss' in 'history'"),
    ],
)
def test_a_record_that_cannot_be_drawn_as_lines_stops(
    tmp_path: Path, history: list[tuple[float, object]], message: str
) -> None:
    record = {**RECORD, "history": [{"step": x, "loss": y} for x, y in history]}
    assert message in problems(tmp_path, LINES, record=record)


@pytest.mark.parametrize("history", [5, None, "loss", {"loss": 1}])
def test_a_record_of_another_shape_stops(tmp_path: Path, history: object) -> None:
    record = {**RECORD, "history": history}
    assert "the record has no 'loss' in 'history'" in problems(tmp_path, LINES, record=record)


@pytest.mark.parametrize(
    ("scale", "losses", "message"),
    [
        ("linear", (0, 0), "no value of the y axis is above 0"),
        ("logarithmic", (0, 1), "a logarithmic y axis needs different values above 0"),
        ("logarithmic", (2, 2), "a logarithmic y axis needs different values above 0"),
    ],
)
def test_an_axis_without_a_span_stops(
    tmp_path: Path, scale: str, losses: tuple[float, ...], message: str
) -> None:
    text = LINES.replace("fr: Perte}}", f"fr: Perte}}, scale: {scale}}}")
    points = [{"step": x, "loss": y} for x, y in enumerate(losses)]
    assert message in problems(tmp_path, text, record={"history": points, "eval": points})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "adam", "weights": 1}, "'states' in 'rows' is 'nothing'"),
        ({"id": "adam", "weights": 1, "states": None}, "is None, which is no number"),
        ({"id": "adam", "weights": 1, "states": math.nan}, "is nan, which is no number"),
        ({"id": "adam", "weights": 1, "states": -5}, "bars need sizes of 0 or more"),
        ({"weights": 1, "states": 1}, "no list 'rows' of rows with an 'id'"),
        (5, "no list 'rows' of rows with an 'id'"),
    ],
)
def test_a_row_that_cannot_be_drawn_stops(tmp_path: Path, row: object, message: str) -> None:
    record = {"rows": [row, *RECORD["rows"][1:]]}
    assert message in problems(tmp_path, BARS, "bytes", record)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("digits: 2", "digits: two", "'two' is no number of digits [number]"),
        ("digits: 2", "digits: -1", "'-1' is no number of digits [number]"),
        ("total: {ar: المجموع, fr: total}\n", "", "the key 'total' is missing"),
        ("digits: 2", "mark-lowest: {ar: a, fr: b}", "unknown key 'mark-lowest'"),
        ("rows: rows", "rows: rowz", "did you mean 'rows'?"),
    ],
)
def test_what_is_wrong_in_bars_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert message in problems(tmp_path, BARS.replace(old, new, 1), "bytes")


def test_a_row_without_a_name_stops(tmp_path: Path) -> None:
    text = BARS.replace("sgd: {ar: SGD, fr: SGD}, ", "")
    assert "the key 'sgd' is missing" in problems(tmp_path, text, "bytes")


def test_a_caption_that_asks_for_an_unknown_number_stops(tmp_path: Path) -> None:
    text = LINES.replace("{first_1:.2f} à", "{first_9:.2f} à")
    assert "first_9" in problems(tmp_path, text)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 4.2, (0, 1, 2, 3, 4, 5)),
        (0, 2e-5, (0, 5e-6, 1e-5, 1.5e-5, 2e-5)),
        (0, 189, (0, 50, 100, 150, 200)),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert choose_ticks(low, high) == pytest.approx(ticks)


def test_a_logarithmic_axis_makes_equal_ratios_equal_distances(tmp_path: Path) -> None:
    text = LINES.replace("fr: Perte}}", "fr: Perte}, scale: logarithmic}")
    html = draw(tmp_path, "curve", text, "fr")
    ticks = re.findall(r'y="([\d.]+)" text-anchor="end">([\d,]+)<', html)
    places = {text: float(y) for y, text in ticks}
    assert set(places) == {"1", "2", "5"}
    ratio = (places["1"] - places["2"]) / (places["2"] - places["5"])
    assert ratio == pytest.approx(math.log(2) / math.log(2.5), rel=0.01)


def test_the_x_axis_may_be_logarithmic_too(tmp_path: Path) -> None:
    rates = (1e-6, 1e-5, 2e-5, 1e-3)
    record = {name: [{"step": x, "loss": 1 + x} for x in rates] for name in ("history", "eval")}
    html = draw(tmp_path, "curve", LOG_X, "fr", record)
    ticks = re.findall(r'x="([\d.]+)" y="\d+" text-anchor="middle">([\de,-]+)<', html)
    places = [float(x) for x, _ in ticks]
    assert [text for _, text in ticks] == ["1e-6", "3e-6", "1e-5", "3e-5", "1e-4", "3e-4", "0,001"]
    assert places[2] - places[0] == pytest.approx(places[4] - places[2], abs=0.2)
    assert '<th scope="row">2e-5</th>' in html


def test_the_data_of_a_sweep_hold_each_line_whole(tmp_path: Path) -> None:
    rates = {"history": (1e-4, 1e-3, 1e-2), "eval": (1e-3, 0.1)}
    record = {name: [{"step": x, "loss": 1 + x} for x in xs] for name, xs in rates.items()}
    html = draw(tmp_path, "curve", LOG_X, "fr", record)
    assert html.count('<tr><th scope="row">') == 4
    assert '<tr><th scope="row">0,1</th><td>–</td><td>1,1</td></tr>' in html


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.09, 5.3, (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)), (1, 10, (1, 2, 5, 10))],
)
def test_logarithmic_ticks(low: float, high: float, ticks: tuple[float, ...]) -> None:
    assert choose_log_ticks(low, high) == pytest.approx(ticks)


def test_a_logarithm_needs_positive_values() -> None:
    with pytest.raises(ValueError, match="no logarithmic span"):
        choose_log_ticks(0, 3)


def test_an_axis_needs_a_span() -> None:
    with pytest.raises(ValueError, match="no span"):
        choose_ticks(3, 3)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (2e-5, "2e-5"), (1.5, "1,5"), (2000, "2\u202f000")]
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert write_number(value, "fr") == text
