"""A third and a fourth language, one in each direction, added to a copy of the site."""

import json
import shutil
from pathlib import Path

import pytest

from dabt.__main__ import main
from dabt.languages import load_languages
from dabt.problems import report
from dabt.sitecheck import Site, check, load
from dabt.sitecheck.rules.outputs import INDEX
from tools.build_site import build, finish_site
from tools.stages import ADDRESS, ROOT

COPIED = ("docs", "hooks", "overrides", "examples")
# The beginning of a chapter: the rest of it, and all else, is shown in another language.
CHAPTER = """---
title: LoRA
description: Dos matrices.
---

# LoRA { #lora }

Dos matrices pequeñas. [La memoria](../full/traditional.md#memory-budget) primero.

## Objetivos { #goals }

Contar [los parámetros](#count).
"""
SECTION = "## Neuf { #brand-new }\n\nNeuf.\n"


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The whole course, with Spanish and Urdu, built strictly and checked."""
    root = tmp_path_factory.mktemp("four")
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    shutil.copy(ROOT / "mkdocs.yml", root)
    assert main(["new", "es", "--name", "Español", "--root", str(root)]) == 0
    assert main(["new", "ur", "--name", "اردو", "--site-name", "ضبط", "--root", str(root)]) == 0
    chapter = root / "docs/es/peft/lora.md"
    chapter.parent.mkdir()
    chapter.write_text(CHAPTER, encoding="utf-8")
    # Somebody edits one language and runs nothing: other words, code and a section more.
    edited = root / "docs/fr/full/traditional.md"
    text = edited.read_text("utf-8").replace("\n## ", "\nNeuf.\n\n``` { .text }\nx\n```\n\n## ")
    edited.write_text(text.replace("\n## ", f"\n{SECTION}\n## ", 1), "utf-8")
    assert main(["check", "--root", str(root)]) == 0
    languages = load_languages(root / "docs/_data/languages.yml")

    def whole(site: Path, address: str) -> None:
        finish_site(site, root)
        problems = check(load(site, languages, address))
        assert not problems, f"\n{report(problems)}"

    build(root / "site", ADDRESS, root, whole)
    return load(root / "site", languages, ADDRESS)


def test_every_page_has_its_address_in_every_language(four):
    for page in [one for one in four.content_pages if one.language.default]:
        for code in ("fr", "es", "ur"):
            assert f"{code}/{page.path}" in four.by_path


@pytest.mark.parametrize(
    ("path", "shell", "text"),
    [
        ("es/full/traditional/index.html", ("es", "ltr"), ("fr", "ltr")),
        ("ur/full/traditional/index.html", ("ur", "rtl"), ("ar", "rtl")),
    ],
)
def test_a_missing_chapter_is_shown_in_another_language_that_it_names(four, path, shell, text):
    document = four.by_path[path].document
    (html, body) = (next(document.all(name)) for name in ("html", "body"))
    assert (html.get("lang"), body.get("dir")) == shell
    (inside,) = document.with_class("dabt-written")
    assert (inside.get("lang"), inside.get("dir")) == text
    (title,) = document.all("h1")
    assert inside.holds(title)
    choices = [one.get("data-dabt-choice") for one in document.all("a")]
    assert {one for one in choices if one} == {"ar", "fr"}


def test_what_stands_in_for_a_page_is_left_to_the_original_by_search_engines(four):
    page = four.by_path["es/full/traditional/index.html"]
    (canonical,) = (o for o in page.document.all("link") if "canonical" in o.tokens("rel"))
    assert canonical.get("href") == f"{ADDRESS}fr/full/traditional/"
    assert [one for one in page.document.all("link") if one.get("hreflang")] == []
    found = {}
    for name in four.texts:
        if match := INDEX.fullmatch(name):
            found[match[1]] = {url for url, *_ in json.loads(four.texts[name])["pages"]}
    assert found["es"] == {"es/", "es/peft/lora/"}
    assert "fr/full/traditional/" in found["fr"]
    assert f"{ADDRESS}es/full/traditional/" not in four.texts["sitemap.xml"]
    assert f"<loc>{ADDRESS}es/peft/lora/</loc>" in four.texts["sitemap.xml"]


def test_a_chapter_that_is_written_is_known_to_the_others(four):
    for path in ("peft/lora/index.html", "fr/peft/lora/index.html", "es/peft/lora/index.html"):
        document = four.by_path[path].document
        assert "es" in {one.get("hreflang") for one in document.all("link")}
    switch = four.by_path["peft/lora/index.html"].document.with_class("dabt-switch__link")
    assert [(one.get("lang"), one.get("dir")) for one in switch] == [("fr", "ltr"), ("es", "ltr")]


def test_a_chapter_begun_says_which_sections_are_elsewhere(four):
    document = four.by_path["es/peft/lora/index.html"].document
    lines = {one.get("data-section"): one for one in document.with_class("dabt-lag")}
    assert "count" in lines
    assert "goals" not in lines
    assert lines["count"].get("id") == "count"
    assert lines["count"].get("lang") == "fr"


def test_no_label_is_empty(four):
    for page in four.pages:
        labels = [
            o.get("aria-label") for o in page.document.elements if "aria-label" in o.attributes
        ]
        assert all(label.strip() for label in labels), page.path


def test_the_menu_says_the_language_of_a_title_that_is_not_in_its_own(four):
    document = four.by_path["es/index.html"].document
    links = [one for one in document.all("a") if "md-nav__link" in one.tokens("class")]
    chapter = next(one for one in links if one.get("href") == "full/traditional/")
    marked = [one for one in document.all("span") if chapter.holds(one) and one.get("lang")]
    assert [one.get("lang") for one in marked] == ["fr"]


def test_a_line_in_a_page_shown_elsewhere_leads_to_the_original(four):
    document = four.by_path["ur/full/traditional/index.html"].document
    lines = {one.get("data-section"): one for one in document.with_class("dabt-lag")}
    assert {"goals", "brand-new"} <= set(lines)
    for section in ("goals", "brand-new"):
        (link,) = (one for one in document.all("a") if lines[section].holds(one))
        assert link.get("href") == f"../../../fr/full/traditional/#{section}"


def test_nothing_stands_in_for_a_page_of_a_complete_language(four):
    assert {page.language.code for page in four.standing_in} == {"es", "ur"}
