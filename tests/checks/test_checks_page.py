"""Every check has its section, in each language; its messages lead there."""

from pathlib import Path

import pytest
from rule_ids import rule_ids

from dabt.checks import ChecksRenderer, read_checks
from dabt.course import read_course
from dabt.directives import Place, scan
from dabt.languages import load_languages
from dabt.pages import section_titles
from dabt.problems import DabtError, Problem, report
from tools.environment import ROOT

DATA = ROOT / "docs/_data"
LANGUAGES = load_languages(DATA / "languages.yml")
PROBLEM = Problem("a.yml", 3, 1, "no right option", "no-answer", "mark one")


@pytest.fixture(scope="module")
def groups():
    found, problems = read_checks(DATA, LANGUAGES)
    assert not problems, report(problems)
    return found


def test_the_explained_checks_are_those_of_the_code(groups):
    explained = [one.id for checks in groups.values() for one in checks]
    made = rule_ids()
    assert len(explained) == len(set(explained))
    assert {name: place for name, place in made.items() if name not in explained} == {}
    assert set(explained) - set(made) == set()


@pytest.mark.parametrize("language", [one.code for one in LANGUAGES])
def test_the_page_shows_each_group_once(groups, language):
    text = Path(ROOT / f"docs/{language}/contribute/checks.md").read_text(encoding="utf-8")
    assert [one.argument for one in scan(text)] == list(groups)


def test_ids_of_checks_and_of_the_sections_of_the_page_differ(groups):
    text = (ROOT / "docs/fr/contribute/checks.md").read_text(encoding="utf-8")
    checks = {one.id for group in groups.values() for one in group}
    assert not checks & set(section_titles(text))


SMALL = """
pages:
  no-answer:
    why: {ar: سؤال بلا جواب., fr: Sans réponse.}
    cure: {ar: اكتب `right:`., fr: Écrire `right:`.}
    wrong: "- wrong: <x>"
  ar-comma:
    why: {ar: فاصلة., fr: Une virgule.}
    cure: {ar: اكتب «،»., fr: Écrire « ، ».}
    right: "الأوزان، ثم"
"""


def small(tmp_path, text=SMALL):
    (tmp_path / "checks.yml").write_text(text, encoding="utf-8")
    return read_checks(tmp_path, LANGUAGES)


def shown(tmp_path, language):
    groups, problems = small(tmp_path)
    assert not problems
    ui = read_course(ROOT / "docs")[0].ui
    render = ChecksRenderer(groups, LANGUAGES, ui)
    return render("pages", Place("x.md", 1, language))


def test_a_check_is_a_section_with_its_cure_and_examples(tmp_path):
    html = shown(tmp_path, "fr")
    assert '<h3 id="no-answer"><code>no-answer</code></h3>' in html
    assert "Écrire <code" in html
    assert '<code dir="ltr">- wrong: &lt;x&gt;</code>' in html
    assert '<span lang="ar" dir="rtl">الأوزان، ثم</span>' in html


def test_each_language_reads_its_own_text(tmp_path):
    assert "سؤال بلا جواب" in shown(tmp_path, "ar")
    assert "سؤال بلا جواب" not in shown(tmp_path, "fr")


def test_a_text_that_a_language_lacks_is_told(tmp_path):
    _, problems = small(tmp_path, SMALL.replace("ar: فاصلة., ", ""))
    assert [one.code for one in problems] == ["missing-key"]


def test_an_unknown_group_is_told_with_those_that_are_there(tmp_path):
    groups, _ = small(tmp_path)
    with pytest.raises(DabtError, match=r"x\.md:4:1.*no group of checks 'page'[^$]*'pages'"):
        ChecksRenderer(groups, LANGUAGES, None)("page", Place("x.md", 4, "fr"))


def test_a_report_leads_to_the_section_of_each_rule_once(monkeypatch):
    monkeypatch.delenv("DABT_SITE_URL", raising=False)
    again = Problem("b.yml", 1, 1, "no right option", "no-answer", "mark one")
    assert report([PROBLEM, again]).count("see: docs/_data/checks.yml#no-answer") == 1


def test_a_report_leads_into_the_published_course(monkeypatch):
    monkeypatch.setenv("DABT_SITE_URL", "https://host.example/course/")
    assert "  see: https://host.example/course/contribute/checks/#no-answer" in report([PROBLEM])
