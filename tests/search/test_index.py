"""The index of small pages: what is chosen, what is packed, what the files are called."""

import json
from pathlib import Path

import pytest

from dabt.glossary.load import read_glossary
from dabt.languages import Language
from dabt.search.files import make_files
from dabt.search.index import build_index, digit
from dabt.search.sections import Page, Section
from dabt.search.synonyms import read_synonyms
from dabt.search.terms import Concept, read_concepts
from dabt.search.words import load_rules
from dabt.ui import Ui

LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
GLOSSARY = """
terms:
  - id: lora
    en: low-rank adaptation (LoRA)
    name: {ar: التكييف, fr: adaptation}
    also: {ar: [لورا]}
    define: {ar: نص., fr: Texte.}
    taught: [a/gone, a/b#two]
    avoid: [{language: ar, form: الأقلمة, why: another word}]
"""


def page(*texts: str) -> Page:
    inside = tuple(Section(f"s{place}", "", text) for place, text in enumerate(texts))
    return Page("a/b/", "a/b", "", inside)


def number(letter: str) -> int:
    return ord(letter) - (36 if ord(letter) > 92 else 35)


def postings(index: dict) -> dict[str, list[int]]:
    """Read the index as a browser does: the sections of each word."""
    found, before, at = {}, "", 0
    for entry, count in zip(index["words"].split(" "), index["counts"], strict=True):
        before = before[: number(entry[0])] + entry[1:].removesuffix("?")
        steps = index["steps"][at : at + number(count)]
        at += len(steps)
        places = [sum(map(number, steps[: end + 1])) - 1 for end in range(len(steps))]
        found[before] = places
    return found


def index_of(*texts: str, synonyms: tuple = (), concepts: tuple = ()) -> dict:
    return build_index([page(*texts)], concepts, synonyms, load_rules(), {})


def test_every_word_leads_to_its_sections():
    assert postings(index_of("perte nulle", "poids", "pertes"))["pert"] == [0, 2]


def test_a_number_from_0_on_is_one_letter_that_json_leaves_alone():
    letters = [digit(one) for one in range(60_000)]
    kept = [one for one in letters if not "\ud800" <= one <= "\udfff"]
    assert [number(one) for one in letters] == list(range(60_000))
    assert all(json.dumps(one, ensure_ascii=False) == f'"{one}"' for one in kept[:50_000])


@pytest.mark.parametrize(
    ("texts", "stem", "places"),
    [
        # With النموذج in the course, the و of ونموذج joins it.
        (("النموذج", "ونموذج"), "نموذج", [0, 1]),
        # With الوحدات, that of وحدة is its own.
        (("الوحدات", "وحدة", "حدود"), "وحد", [0, 1]),
        # إلغاء does not begin with the article.
        (("إلغاء",), "الغ", [0]),
        # Of numbers, those that somebody may type.
        (("16 GB و0.373 و41943040",), "16", [0]),
    ],
)
def test_the_reading_of_a_word(texts, stem, places):
    assert postings(index_of(*texts))[stem] == places


def test_measured_values_are_left_out():
    assert not {"373", "0", "41943040"} & set(postings(index_of("قيمة 0.373 و41943040")))


def test_a_synonym_that_no_page_has_is_known_all_the_same():
    index = index_of("بطاقة", synonyms=(("بطاقة", "كرت الشاشة"),))
    assert postings(index)["كرت"] == []
    assert len(index["synonyms"]) == 1


def test_names_of_a_term_lead_where_it_is_taught(tmp_path: Path):
    path = tmp_path / "glossary.yml"
    path.write_text(GLOSSARY, encoding="utf-8")
    glossary, problems = read_glossary(path, LANGUAGES)
    assert not problems
    known = frozenset(("a/b#two", "glossary#term-lora"))
    (concept,) = read_concepts(glossary, "ar", known)
    names = ("التكييف", "low-rank adaptation (LoRA)", "لورا", "الأقلمة")
    assert concept == Concept("lora", names, ("a/b#two", "glossary#term-lora"))


def test_a_name_belongs_to_the_first_section_that_teaches_it():
    concept = Concept("lora", ("LoRA", "LoRA"), ("a/b#s1", "a/b#s0"))
    index = index_of("un", "deux", "trois", concepts=(concept,))
    assert postings(index)["lora"] == [1]
    assert index["concepts"][0][2] == [1, 0]


def test_another_text_has_another_name():
    def files(text: str) -> set[str]:
        made = make_files([page(text)], read_glossary(Path("none"), ())[0], {}, Ui({}), "fr")
        assert made.index in made.contents
        return set(made.contents)

    assert files("un") == files("un")
    assert not files("un") & files("deux")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ar: [[بطاقة, كرت], [من, ذاكرة]]", "stop-word"),
        ("fr: [[carte]]", "lone-word"),
        ("fr: [carte, GPU]", "wrong-kind"),
        ("en: [[a, b]]", "unknown-key"),
    ],
)
def test_what_is_wrong_with_synonyms_is_said_with_its_place(tmp_path: Path, text, code):
    (tmp_path / "search.yml").write_text(text, encoding="utf-8")
    _, problems = read_synonyms(tmp_path, LANGUAGES)
    assert code in {problem.code for problem in problems}
    assert all(problem.line == 1 and problem.mend for problem in problems)
