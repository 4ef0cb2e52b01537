"""Whichever side changed makes the others lag; nothing else does."""

import subprocess

import pytest

from dabt.problems import DabtError
from dabt.translation.sections import read_sections
from dabt.translation.status import render_status


def test_after_confirming_all_is_in_step(course):
    assert course.open() == set()
    assert course.survey().problems == ()


def test_a_change_makes_the_other_side_lag_and_only_in_that_section(course):
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    assert course.open() == {"ar peft/lora#idea review"}


def test_either_side_may_be_the_one_that_changed(course):
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    assert course.open() == {"fr peft/lora#idea review"}


def test_when_both_changed_both_are_to_review(course):
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    assert course.open() == {"ar peft/lora#idea review", "fr peft/lora#idea review"}
    course.confirm("peft/lora#idea")
    assert course.open() == set()


def test_a_title_counts_and_so_does_the_description_of_the_page(course):
    course.edit("fr/peft/lora.md", "## L'idée", "## Le principe")
    course.edit("fr/peft/lora.md", "Deux matrices.", "Trois matrices.")
    assert course.open() == {"ar peft/lora#idea review", "ar peft/lora#lora review"}


def test_a_footnote_belongs_to_the_section_that_mentions_it(course):
    course.edit("fr/peft/lora.md", "Une note.", "Une autre source.")
    assert course.open() == {"ar peft/lora#lora review"}


def test_the_other_code_of_a_program_is_no_change_another_region_is(course):
    course.edit("fr/peft/lora.md", "train.py:load", "train.py:save")
    assert course.open() == {"ar peft/lora#idea review"}


@pytest.mark.parametrize(
    ("file", "old", "new", "lags"),
    [
        ("_data/quizzes/lora.yml", "Combien", "À combien", "ar _data/quizzes/lora#rank review"),
        ("_data/quizzes/lora.yml", "راجع", "أعد", "fr _data/quizzes/lora#lora review"),
        ("_data/glossary.yml", "عدد.", "رقم.", "fr _data/glossary#rank review"),
        ("_data/ui.yml", "Accueil", "Début", "ar _data/ui#site.home review"),
        ("_data/ui.yml", "كثير", "عدة", "fr _data/ui#site.count review"),
    ],
)
def test_texts_of_the_data_files_take_part(course, file, old, new, lags):
    course.edit(file, old, new)
    assert course.open() == {lags}


def test_forms_of_a_term_and_numbers_concern_one_language_or_all(course):
    course.edit("_data/glossary.yml", "fr: [rangs]", "fr: [rangs, rang r]")
    course.edit("_data/quizzes/lora.yml", "value: 16", "value: 32")
    assert course.open() == set()


def test_a_section_in_one_language_only_is_to_write_in_the_other(course):
    course.edit("fr/peft/lora.md", "## La suite", "## Neuf { #new }\n\nNeuf.\n\n## La suite")
    assert course.open() == {"ar peft/lora#new write"}
    assert course.survey().problems == ()


def test_an_id_that_changed_on_both_sides_stays_confirmed(course):
    course.edit("fr/peft/lora.md", "#idea", "#intuition")
    course.edit("ar/peft/lora.md", "#idea", "#intuition")
    assert course.open() == set()
    course.confirm()
    record = (course.docs / "_data/translation/peft/lora.yml").read_text()
    assert "intuition:" in record
    assert "idea:" not in record


def test_a_page_that_moved_stays_confirmed(course):
    for code in ("ar", "fr"):
        (course.docs / code / "peft/lora.md").rename(course.docs / code / "peft/adapters.md")
    assert course.open() == set()
    course.confirm("peft/adapters")
    assert not (course.docs / "_data/translation/peft/lora.yml").exists()
    assert course.open() == set()


def test_a_section_taken_out_of_all_languages_leaves_no_trace(course):
    for code, title in (("ar", "## بعد ذلك"), ("fr", "## La suite")):
        path = course.docs / code / "peft/lora.md"
        path.write_text(path.read_text().split(title)[0] + "[^one]: n\n")
    course.confirm()
    assert "next:" not in (course.docs / "_data/translation/peft/lora.yml").read_text()


def test_confirming_refuses_what_is_built_differently_and_writes_nothing(course):
    course.edit("fr/peft/lora.md", "::: quiz lora#rank\n", "")
    before = (course.docs / "_data/translation/peft/lora.yml").read_text()
    with pytest.raises(DabtError) as caught:
        course.confirm("peft/lora")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == ("structure", 10)
    assert "without 'quiz lora#rank'" in problem.message
    assert (course.docs / "_data/translation/peft/lora.yml").read_text() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## L'idée", "### L'idée"),
        ("train.py:load", "train.py:save"),
        ("::: quiz lora#rank", "::: figure loss"),
        ("Le produit", "![a](../x.svg) Le produit"),
    ],
)
def test_a_confirmed_difference_of_structure_is_an_error(course, old, new):
    """A merge of two pull requests can bring it about, or a record written by hand."""
    course.edit("fr/peft/lora.md", old, new)
    assert course.survey().problems == ()
    found = course.survey()
    unit = next(one for one in found.units if one.key == "idea")
    confirmed = found.records["peft/lora"]["idea"].prints["fr"]
    course.edit("_data/translation/peft/lora.yml", confirmed, unit.sides["fr"].print)
    (problem,) = course.survey().problems
    assert (problem.code, problem.severity) == ("structure", "error")
    assert problem.file.endswith("lora.md")


def test_a_broken_record_says_how_to_mend_it(course):
    course.edit("_data/translation/peft/lora.yml", "idea:", "<<<<<<< ours\nidea:")
    (problem,) = course.survey().problems
    assert problem.code == "record"
    assert "confirm" in problem.mend


def test_a_typo_is_accepted_without_touching_the_other_side(course):
    course.edit("fr/peft/lora.md", "Le produit", "Le prodiut")
    course.edit("ar/peft/lora.md", "بداية", "مقدمة")
    course.confirm("peft/lora#idea", unchanged=True)
    assert course.open() == {"fr peft/lora#lora review"}


def test_of_two_changes_one_may_be_a_typo(course):
    course.edit("fr/peft/lora.md", "Le produit", "Le prodiut")
    course.edit("ar/peft/lora.md", "حاصل ضرب", "مجموع")
    course.confirm("peft/lora#idea", languages=("fr",), unchanged=True)
    assert course.open() == {"fr peft/lora#idea review"}


def test_a_name_may_be_a_path(course):
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    assert course.confirm("docs/fr/peft/lora.md#idea") == 1
    assert course.open() == set()


@pytest.mark.parametrize("name", ["peft/lora#ideas", "peft/lara"])
def test_an_unknown_name_gets_the_nearest_one(course, name):
    with pytest.raises(DabtError, match=r"did you mean '(idea|peft/lora)'"):
        course.confirm(name)


def test_a_third_language_stays_behind_until_it_is_read_too(spanish):
    spanish.edit("fr/peft/lora.md", "Le produit", "La somme")
    assert spanish.open_in("peft/lora") == {"ar idea review", "es idea review"}
    spanish.confirm("peft/lora#idea", languages=("ar", "fr"))
    assert spanish.open_in("peft/lora") == {"es idea review"}
    assert spanish.survey().problems == ()
    spanish.confirm("peft/lora#idea")
    assert spanish.open_in("peft/lora") == set()


def test_a_new_translation_makes_nobody_lag(spanish):
    spanish.edit("es/peft/lora.md", "Fin.", "Fin de verdad.")
    record = spanish.docs / "_data/translation/peft/lora.yml"
    lines = [line for line in record.read_text().splitlines() if "  es:" not in line]
    record.write_text("\n".join(lines) + "\n")
    assert spanish.open_in("peft/lora") == {f"es {key} confirm" for key in ("lora", "idea", "next")}


def test_git_merges_the_confirmations_of_two_pull_requests(course, tmp_path):
    record = course.docs / "_data/translation/peft/lora.yml"
    names = {"base": record.read_text()}
    for name, old, new, key in (
        ("ours", "Le produit", "La somme", "idea"),
        ("theirs", "Un début", "Un beau début", "lora"),
    ):
        record.write_text(names["base"])
        course.edit("fr/peft/lora.md", old, new)
        course.confirm(f"peft/lora#{key}")
        names[name] = record.read_text()
    for name, text in names.items():
        (tmp_path / name).write_text(text)
    command = ["git", "merge-file", "-p", *(tmp_path / one for one in ("ours", "base", "theirs"))]
    merged = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert merged.returncode == 0
    record.write_text(merged.stdout)
    assert course.open() == set()


def test_the_list_begins_with_what_misleads_a_reader(course):
    course.edit("fr/peft/lora.md", "## La suite", "## Neuf { #new }\n\nNeuf.\n\n## La suite")
    course.edit("fr/peft/lora.md", "Le produit", "La somme")
    lines = render_status(course.survey()).splitlines()
    assert lines[0] == "translations: ar 77 %, fr 100 % in step"
    assert lines[1].strip().startswith("ar: peft/lora#idea: review: fr changed")
    assert "docs/ar/peft/lora.md:10" in lines[1]
    assert lines[2].strip().startswith("ar: peft/lora#new: write: it is there in fr")


def test_headings_in_code_and_comments_are_no_sections():
    source = "# A { #a }\n\n```\n# b { #b }\n```\n\n<!--\n# c { #c }\n-->\n\n## D\n\nx\n"
    (only,) = read_sections(source)
    assert only.id == "a"
    assert "x" in only.text
