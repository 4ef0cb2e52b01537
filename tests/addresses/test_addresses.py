"""No address that was published vanishes without a redirect, and redirects lead to pages."""

import pytest

from dabt.addresses import (
    ADDRESSES,
    REDIRECTS,
    Redirect,
    lint_addresses,
    read_redirects,
    record_addresses,
    render_redirect,
)
from dabt.course import Course
from dabt.languages import Language
from dabt.pages import Page
from dabt.sitecheck.document import read
from dabt.ui import Ui

ARABIC = Language("ar", "العربية", "rtl", True)
WORDS = {"title": "انتقلت الصفحة", "body": "تجدها هنا:", "code": "ar"}
TEXT = "# LoRA { #lora }\n\n## الفكرة { #idea }\n"
PAGES = tuple(
    Page(f"docs/{code}/{path}", code, path, TEXT)
    for code in ("ar", "fr")
    for path in ("index.md", "peft/lora.md", "peft/qlora.md")
)
WITHOUT_LORA = tuple(page for page in PAGES if page.path != "peft/lora.md")


@pytest.fixture
def data(tmp_path):
    record_addresses(tmp_path, PAGES)
    return tmp_path


def codes(problems) -> list[str]:
    return [one.code for one in problems]


def test_a_course_that_only_grows_has_no_problem(data):
    (data / REDIRECTS).write_text("{}\n")
    more = (*PAGES, Page("docs/ar/peft/dora.md", "ar", "peft/dora.md", TEXT))
    assert read_redirects(data, more) == ((), ())
    assert codes(lint_addresses(data, PAGES)) == []


def test_a_page_that_vanishes_names_the_line_to_add(data):
    _, [problem] = read_redirects(data, WITHOUT_LORA)
    assert problem.code == "address-vanished"
    assert problem.file.endswith(ADDRESSES) and problem.line == 3
    assert "'peft/lora/: its/new/address/'" in problem.mend and REDIRECTS in problem.mend


def test_a_page_that_one_language_keeps_has_not_vanished(data):
    kept = [one for one in PAGES if one.language == "ar"]
    assert read_redirects(data, kept)[1] == ()


@pytest.mark.parametrize("target", ["peft/qlora/", "peft/qlora/#idea"])
def test_a_redirect_lets_a_page_go(data, target):
    (data / REDIRECTS).write_text(f"peft/lora/: {target}\n")
    [redirect], problems = read_redirects(data, WITHOUT_LORA)
    assert (redirect.old, redirect.target, problems) == ("peft/lora/", target, ())


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("old/: peft/lara/", "redirect-dead"),
        ("old/: peft/lora/#idee", "redirect-section"),
        ("peft/lora/: peft/qlora/", "redirect-page"),
        ("old/: old/", "redirect-loop"),
        ("old/: old/#idea", "redirect-loop"),
        ("old/: older/\nolder/: peft/lora/", "redirect-chain"),
        ("old/: older/\nolder/: old/", "redirect-chain"),
        ("/old/: peft/lora/", "redirect-form"),
        ("old: peft/lora/", "redirect-form"),
        ("old/: https://x.example/", "redirect-form"),
        ("old/: ../peft/lora/", "redirect-form"),
        ('old/: "peft/lora/#\'+x"', "redirect-form"),
        ("old/: [peft/lora/]", "wrong-kind"),
        ("- old/", "wrong-kind"),
    ],
)
def test_a_redirect_that_leads_nowhere_is_a_problem(data, line, code):
    (data / REDIRECTS).write_text(f"{line}\n")
    _, problems = read_redirects(data, PAGES)
    assert code in codes(problems)
    assert all(one.line == 1 or code == "redirect-chain" for one in problems)


def test_a_section_that_vanishes_is_told_and_stops_nothing(data):
    changed = tuple(
        Page(one.file, one.language, one.path, TEXT.replace("#idea", "#intuition")) for one in PAGES
    )
    found = list(lint_addresses(data, changed))
    assert set(codes(found)) == {"section-vanished"}
    assert {one.severity for one in found} == {"warning"}
    assert read_redirects(data, changed)[1] == ()


def test_an_anchor_in_the_text_keeps_a_section(data):
    changed = tuple(
        Page(one.file, one.language, one.path, TEXT.replace("#idea", "#x") + '<a id="idea"></a>\n')
        for one in PAGES
    )
    assert list(lint_addresses(data, changed)) == []


def test_the_list_only_grows(data):
    assert record_addresses(data, WITHOUT_LORA) == 3
    assert "./peft/lora/ #idea #lora\n" in (data / ADDRESSES).read_text()
    more = (*PAGES, Page("docs/ar/peft/dora.md", "ar", "peft/dora.md", TEXT))
    assert codes(lint_addresses(data, more)) == ["address-new"]
    record_addresses(data, more)
    assert list(lint_addresses(data, more)) == []


def test_a_course_without_a_list_is_asked_for_nothing(tmp_path):
    assert read_redirects(tmp_path, PAGES) == ((), ())
    assert list(lint_addresses(tmp_path, PAGES)) == []


@pytest.mark.parametrize(
    ("redirect", "link"),
    [
        (Redirect("old/", "peft/lora/"), "../peft/lora/"),
        (Redirect("peft/old/", "peft/lora/", "idea"), "../lora/#idea"),
        (Redirect("peft/old/", ""), "../../"),
    ],
)
def test_the_page_sends_on_in_three_ways(redirect, link):
    page = read(render_redirect(redirect, ARABIC, "LoRA & co", WORDS, "https://x.example/c/"))
    html = next(page.all("html"))
    assert (html.get("lang"), html.get("dir")) == ("ar", "rtl")
    metas = {
        one.get("name") or one.get("http-equiv"): one.get("content") for one in page.all("meta")
    }
    assert metas["refresh"] == f"0; url={link}"
    assert metas["robots"] == "noindex"
    [anchor], [canonical] = page.all("a"), page.all("link")
    assert anchor.get("href") == link and page.text_of(anchor) == "LoRA & co"
    assert canonical.get("href") == f"https://x.example/c/{redirect.new}"


def test_without_an_address_there_is_no_canonical():
    page = read(render_redirect(Redirect("old/", "peft/lora/"), ARABIC, "LoRA", WORDS))
    assert list(page.all("link")) == []


def test_words_of_another_language_say_so():
    page = read(render_redirect(Redirect("old/", "x/"), ARABIC, "LoRA", {**WORDS, "code": "fr"}))
    assert [one.get("lang") for one in page.all("div")] == ["fr"]


def test_the_course_writes_each_redirect_in_each_language():
    french = Language("fr", "Français", "ltr")
    ui = Ui({f"moved.{one}": {"ar": f"{one} ع", "fr": f"{one} é"} for one in ("title", "body")})
    titles = {("ar", "peft/lora.md", ""): "لورا `x`", ("fr", "index.md", ""): "Accueil"}
    redirects = (Redirect("old/", "peft/lora/"), Redirect("home/", ""))
    course = Course((ARABIC, french), ui, titles=titles, redirects=redirects)
    arabic = dict(course.moved(ARABIC, "https://x.example/"))
    assert ">لورا x</a>" in arabic[redirects[0]]
    assert 'href="https://x.example/peft/lora/"' in arabic[redirects[0]]
    in_french = dict(course.moved(french, "https://x.example/"))
    assert ">Accueil</a>" in in_french[redirects[1]]
    assert 'href="https://x.example/fr/"' in in_french[redirects[1]]
    assert "canonical" not in dict(course.moved(french))[redirects[1]]
