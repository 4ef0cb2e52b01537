"""Languages and interface strings: complete in every language, or a problem at its place."""

from pathlib import Path

import pytest

from dabt.languages import Language, direction, load_languages, plural_category
from dabt.problems import DabtError
from dabt.ui import load_ui, read_ui

LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
GOOD = """\
site:
  home: {ar: الرئيسية, fr: Accueil}
quiz:
  place: {ar: "مكان {item}", fr: "Place de {item}"}
  count:
    ar:
      {zero: لا شيء, one: واحد, two: اثنان, few: "{count} أشياء",
       many: "{count} شيئًا", other: "{count} شيء"}
    fr: {one: "{count} chose", other: "{count} choses"}
"""


def write(folder: Path, text: str, name: str = "ui.yml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_strings(tmp_path: Path) -> None:
    write(tmp_path, "js: {a: {ar: ب, fr: b}}\n", "ui.more.yml")
    ui = load_ui(write(tmp_path, GOOD), LANGUAGES)
    assert ui.text("site.home", "fr") == "Accueil"
    assert ui.text("quiz.place", "fr", item="X") == "Place de X"
    assert ui.text("js.a", "ar") == "ب"
    assert [ui.counted("quiz.count", "ar", n) for n in (0, 1, 2, 3, 11, 100)] == [
        "لا شيء", "واحد", "اثنان", "3 أشياء", "11 شيئًا", "100 شيء",
    ]  # fmt: skip
    assert [ui.counted("quiz.count", "fr", n) for n in (0, 1, 2)] == [
        "0 chose", "1 chose", "2 choses",
    ]  # fmt: skip
    below = ui.below("quiz", "fr")
    assert below["place"] == "Place de {item}"
    assert below["count"] == {"one": "{count} chose", "other": "{count} choses"}


@pytest.mark.parametrize(
    ("call", "cure"),
    [
        (lambda ui: ui.text("site.hom", "fr"), "did you mean 'site.home'?"),
        (lambda ui: ui.text("site.home", "en"), "add 'en:'"),
        (lambda ui: ui.text("quiz.count", "fr"), "ask for it with counted()"),
        (lambda ui: ui.counted("site.home", "fr", 1), "ask for it with text()"),
    ],
)
def test_unknown_string_is_refused(call: object, cure: str, tmp_path: Path) -> None:
    ui = load_ui(write(tmp_path, GOOD), LANGUAGES)
    with pytest.raises(DabtError) as caught:
        call(ui)
    assert caught.value.problems[0].mend == cure


@pytest.mark.parametrize(
    ("old", "new", "place", "code"),
    [
        ("fr: Accueil}", "}", (2, 9), "missing-key"),
        ("fr: Accueil", "fr: ''", (2, 28), "empty"),
        ("Place de {item}", "Place de {name}", (4, 10), "placeholders"),
        ("Place de {item}", "Place de {item", (4, 34), "placeholders"),
        ("two: اثنان, ", "", (7, 7), "missing-key"),
        (
            'fr: {one: "{count} chose", other: "{count} choses"}',
            "fr: choses",
            (6, 5),
            "plural-forms",
        ),
        ("home: {ar: الرئيسية, fr: Accueil}", "home: Accueil", (2, 9), "wrong-kind"),
    ],
)
def test_defects(old: str, new: str, place: tuple[int, int], code: str, tmp_path: Path) -> None:
    assert GOOD.count(old) == 1
    _, problems = read_ui(write(tmp_path, GOOD.replace(old, new)), LANGUAGES)
    found = [(p.line, p.column, p.code) for p in problems]
    assert (*place, code) in found
    with pytest.raises(DabtError):
        load_ui(tmp_path, LANGUAGES)


def test_the_same_key_in_two_files(tmp_path: Path) -> None:
    write(write(tmp_path, GOOD), "site:\n  home: {ar: ب, fr: b}\n", "ui.z.yml")
    _, (problem,) = read_ui(tmp_path, LANGUAGES)
    assert (problem.line, problem.code) == (2, "duplicate-key")
    assert problem.file.endswith("ui.z.yml")


@pytest.mark.parametrize(
    ("count", "category"),
    [(0, "zero"), (1, "one"), (2, "two"), (3, "few"), (10, "few"), (11, "many"), (99, "many"),
     (100, "other"), (102, "other"), (103, "few"), (111, "many"), (1000, "other")],
)  # fmt: skip
def test_arabic_plurals(count: int, category: str) -> None:
    assert plural_category("ar", count) == category


def test_french_plurals() -> None:
    assert [plural_category("fr", n) for n in (0, 1, 2, 1_000_000)] == [
        "one", "one", "other", "many",
    ]  # fmt: skip


def test_directions() -> None:
    assert [direction(code) for code in ("ar", "fr", "fa-IR", "en")] == ["rtl", "ltr", "rtl", "ltr"]


LIST = """\
- {code: ar, name: عربي, direction: rtl, default: true}
- {code: fr, name: F, direction: ltr}
"""


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("direction: rtl", "direction: ltr", "direction"),
        (", default: true", "", "default"),
        ("code: fr", "code: ar", "direction"),
        ("code: fr", "cod: fr", "unknown-key"),
        ("name: F, ", "", "missing-key"),
    ],
)
def test_languages_file(old: str, new: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "languages.yml"
    path.write_text(LIST, encoding="utf-8")
    assert [one.code for one in load_languages(path)] == ["ar", "fr"]
    path.write_text(LIST.replace(old, new), encoding="utf-8")
    with pytest.raises(DabtError) as caught:
        load_languages(path)
    assert code in {problem.code for problem in caught.value.problems}


def test_missing_file_of_languages(tmp_path: Path) -> None:
    with pytest.raises(DabtError) as caught:
        load_languages(tmp_path / "languages.yml")
    assert caught.value.problems[0].code == "unreadable"
