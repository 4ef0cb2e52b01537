"""The file of the glossary: every fault is told with its place."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from dabt.glossary.load import check_taught, read_glossary
from tests.glossary.small_glossary import LANGUAGES, ROOT, SMALL, read

FAULTS = {
    "missing language": (
        "name: {ar: الخسارة, fr: perte}",
        "name: {ar: الخسارة}",
        "missing-language",
    ),
    "one text only": ("name: {ar: خطوة, fr: pas}", "name: pas", "missing-language"),
    "no definition": ("    define: {ar: حجم الخطوة., fr: Taille du pas.}\n", "", "missing-key"),
    "unknown key": ("    en: step\n", "    en: step\n    eng: step\n", "unknown-key"),
    "same id": ("id: step", "id: loss", "duplicate-id"),
    "bad id": ("id: step", "id: Step 1", "slug"),
    "same form": ("fr: pas}", "fr: pertes}", None),
    "form of another term": ("fr: pas}", "fr: Perte}", "duplicate-form"),
    "form that is avoided": ("fr: pas}", "fr: recomputer}", "avoided-form"),
    "unknown mark": ("mark: never", "mark: always", "value"),
    "not a place": ("later/page", "later/page.md", "taught"),
    "broken pattern": ("(?:e[rsz]?|ent)", "(?:e[rsz]?|ent", "pattern"),
    "form and pattern": ("form: التخصيص الدقيق,", "form: x, pattern: y,", "avoid"),
    "no reason": (", why: another meaning", "", "missing-key"),
    "unknown severity": ("why: another meaning", "why: x, severity: grave", "value"),
    "nothing to write": (" write: Go,", "", "missing-key"),
}


@pytest.mark.parametrize(("old", "new", "code"), FAULTS.values(), ids=FAULTS)
def test_fault(tmp_path, old: str, new: str, code: str | None):
    assert old in SMALL
    _, problems = read(tmp_path, SMALL.replace(old, new, 1))
    assert [problem.code for problem in problems] == ([code] if code else [])


def test_faults_are_told_together_with_their_places(tmp_path):
    text = SMALL.replace("id: step", "id: St", 1).replace("why: French units", "why: ''", 1)
    _, problems = read(tmp_path, text)
    lines = text.split("\n")
    assert [p.code for p in problems] == ["slug", "empty"]
    assert "St" in lines[problems[0].line - 1][problems[0].column - 1 :]
    assert "why" in lines[problems[1].line - 1]


def test_no_file_is_an_empty_glossary(tmp_path):
    glossary, problems = read_glossary(tmp_path / "glossary.yml", LANGUAGES)
    assert (glossary.terms, problems) == ((), ())


def test_a_section_is_checked_when_its_page_exists(small):
    assert not list(check_taught(small, "ar", {}))
    assert not list(check_taught(small, "ar", {"peft/lora.md": frozenset({"", "idea"})}))
    (problem,) = check_taught(small, "ar", {"peft/lora.md": frozenset({"", "ideas"})})
    assert (problem.code, problem.line) == ("taught-target", 9)
    assert "did you mean 'ideas'?" in problem.mend


def test_the_glossary_of_the_course(course_glossary):
    assert len(course_glossary.terms) >= 90
    for term in course_glossary.terms:
        for language in ("ar", "fr"):
            assert term.define[language].endswith("."), term.id
            assert len(term.define[language]) <= 220, (term.id, language)
            shown = term.english.lower()
            assert not [word for word in term.also.get(language, ()) if word.lower() in shown]


# What only the loader sees: names that two entries share, patterns, places.
UNSEEN = {"same id", "same form", "form of another term", "form that is avoided", "broken pattern"}


def refusals(text: str) -> list[str]:
    schema = json.loads((ROOT / "docs/_data/glossary.schema.json").read_text("utf-8"))
    return [
        error.message for error in Draft202012Validator(schema).iter_errors(yaml.safe_load(text))
    ]


def test_the_schema_accepts_what_is_right():
    assert refusals(SMALL) == []
    assert refusals((ROOT / "docs/_data/glossary.yml").read_text("utf-8")) == []


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - UNSEEN))
def test_the_schema_refuses_what_the_loader_refuses(fault: str):
    old, new, _ = FAULTS[fault]
    assert refusals(SMALL.replace(old, new, 1))
