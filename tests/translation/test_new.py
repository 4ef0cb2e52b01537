"""A new language: everything that the code needs, at once, and nothing when something is wrong."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from dabt.__main__ import main
from dabt.languages import fallbacks, load_languages
from dabt.problems import DabtError
from dabt.ui import load_ui, read_ui
from tools.environment import ROOT
from tools.text_lint import problems_of

DATA = Path("docs/_data")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that a language is added to."""
    for name in ("docs/_data", "overrides"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    for code in ("ar", "fr"):
        (tmp_path / "docs" / code).mkdir()
        shutil.copy(ROOT / "docs" / code / "index.md", tmp_path / "docs" / code)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_one_command_makes_folder_strings_configuration_and_checklist(root, capsys):
    before = contents(root)
    assert main(["new", "es", "--name", "Español"]) == 0
    changed = {
        path.relative_to(root).as_posix()
        for path, data in contents(root).items()
        if before.get(path) != data
    }
    assert changed == {
        "mkdocs.yml",
        "docs/es/index.md",
        "docs/_data/languages.yml",
        "docs/_data/ui.es.yml",
    }
    told = capsys.readouterr().out
    for path in changed:
        assert path in told
    es = next(one for one in load_languages(root / DATA / "languages.yml") if one.code == "es")
    assert (es.name, es.direction, es.fallback, es.default) == ("Español", "ltr", "fr", False)


def test_a_language_from_right_to_left_falls_back_to_one_like_it(root):
    assert main(["new", "ur", "--name", "اردو", "--site-name", "ضبط"]) == 0
    languages = load_languages(root / DATA / "languages.yml")
    ur = next(one for one in languages if one.code == "ur")
    assert (ur.direction, ur.fallback) == ("rtl", "ar")
    assert fallbacks("ur", languages) == ("ar", "fr")
    assert fallbacks("ar", languages) == ("fr",)


def test_what_people_edit_keeps_its_lines(root):
    """Lines are put in between; comments, tags and order of mkdocs.yml stay."""
    before = (root / "mkdocs.yml").read_text().splitlines()
    main(["new", "es", "--name", "Español"])
    after = (root / "mkdocs.yml").read_text().splitlines()
    start = after.index("        - locale: es")
    added = len(after) - len(before)
    assert after[:start] + after[start + added :] == before
    block = yaml.safe_load("\n".join(line[8:] for line in after[start : start + added]))
    assert (block[0]["name"], block[0]["site_name"]) == ("Español", "Dabt")
    assert "default" not in block[0]
    assert set(block[0]["nav_translations"]) == {"start", "data", "full", "peft", "measure"}
    order = re.findall(r"- locale: (\w+)", "\n".join(after))
    assert order[-1] == "ar"


def test_a_string_to_write_is_never_an_empty_label(root):
    main(["new", "es", "--name", "Español"])
    languages = load_languages(root / DATA / "languages.yml")
    ui = load_ui(root / DATA, languages)
    assert {key: leaf["es"] for key, leaf in ui.texts.items()} == {
        key: leaf["fr"] for key, leaf in ui.texts.items()
    }
    path = root / DATA / "ui.es.yml"
    text = path.read_text()
    assert '  home: ""  # Dabt : accueil' in text
    path.write_text(text.replace('  home: ""  # Dabt : accueil', "  home: Inicio", 1))
    ui = load_ui(root / DATA, languages)
    assert ui.text("site.home", "es") == "Inicio"
    assert ui.text("site.edit", "es") == ui.text("site.edit", "fr")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('  home: ""', "  hom: Inicio", "unknown-string"),
        ('  within: ""', "  within: a {tol}", "placeholders"),
        ('    one: ""', "    one: uno", "empty"),
    ],
)
def test_a_string_written_wrongly_is_told_at_its_place(root, old, new, code):
    main(["new", "es", "--name", "Español"])
    path = root / DATA / "ui.es.yml"
    path.write_text(path.read_text().replace(old, new, 1))
    _, problems = read_ui(root / DATA, load_languages(root / DATA / "languages.yml"))
    assert code in {one.code for one in problems}
    assert all(one.file == "docs/_data/ui.es.yml" for one in problems)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fr", "--name", "x"], "'fr' is there already"),
        (["spanish", "--name", "x"], "not a code of two small letters"),
        (["es", "--name", "x", "--dir", "rtl"], "'es' is written ltr"),
        (["es", "--name", "x", "--fallback", "de"], "no complete language 'de'"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(root, arguments, says, capsys):
    before = contents(root)
    assert main(["new", *arguments]) == 1
    assert says in capsys.readouterr().out
    assert contents(root) == before


def test_nothing_is_written_when_the_menu_has_another_form(root, capsys):
    text = (root / "mkdocs.yml").read_text().replace("- locale: ar", "- {locale: ar}")
    (root / "mkdocs.yml").write_text(text)
    before = contents(root)
    assert main(["new", "es", "--name", "x"]) == 1
    assert "[locale]" in capsys.readouterr().out
    assert contents(root) == before


def test_a_language_that_the_theme_does_not_know_gets_its_direction(root):
    main(["new", "dv", "--name", "ދިވެހި"])
    text = (root / "overrides/partials/languages/dv.html").read_text()
    assert '"direction": "rtl"' in text


def test_only_a_complete_language_can_be_fallen_back_to(root):
    main(["new", "es", "--name", "Español"])
    path = root / DATA / "languages.yml"
    path.write_text(
        path.read_text() + "- {code: pt, name: Português, direction: ltr, fallback: es}\n"
    )
    with pytest.raises(DabtError, match=r"'pt' falls back to 'es', which is not complete"):
        load_languages(path)


def test_languages_are_listed_once():
    """What must repeat the list, for tools that cannot read it, says the same."""
    languages = load_languages(ROOT / DATA / "languages.yml")
    codes = {one.code for one in languages}
    complete = [one.code for one in languages if not one.fallback]
    menu = (ROOT / "mkdocs.yml").read_text()
    assert set(re.findall(r"- locale: (\w+)", menu)) == codes
    for name in ("quiz", "glossary"):
        schema = yaml.safe_load((ROOT / DATA / f"{name}.schema.json").read_text())
        assert schema["$defs"]["text"]["required"] == complete
    listed = re.compile(r"""["']ar["'][^\n]{0,12}["']fr["']|["']fr["'][^\n]{0,12}["']ar["']""")
    sources = [*ROOT.glob("hooks/**/*.py"), *ROOT.glob("tools/*.py"), *ROOT.glob("overrides/**/*")]
    sources += ROOT.glob("docs/assets/*.js")
    found = [p.name for p in sources if p.is_file() and listed.search(p.read_text("utf-8"))]
    assert found == []


def test_letters_of_persian_and_urdu_are_right_in_their_own_language():
    text = "\u06cc\u06a9 \u0645\u06cc\u200c\u0634\u0648\u062f\n".encode()
    assert list(problems_of("docs/ur/index.md", text, {"ur"})) == []
    assert list(problems_of("docs/_data/ui.ur.yml", text, {"ur"})) == []
    assert list(problems_of("docs/ar/index.md", text, {"ur"})) != []
    assert list(problems_of("docs/ur/index.md", text, set())) != []
