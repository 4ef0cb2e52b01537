"""The search in a browser: what it costs a page, its keys, addresses, words and quality."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from dabt.search.words import load_rules
from tools.search_quality import QUERIES, ask, measure, read_queries

FIELD, OPTION, STATUS = ".dabt-search__field", ".dabt-search__option", ".dabt-search__status"
# The words of every text, and what is made of each, by the browser's own code.
COMPARE = """async ({home, rules, texts}) => {
  const {makeWords} = await import(home + "assets/search/words.js");
  const {words, readings, family, sound} = makeWords(rules);
  const listed = texts.map(words);
  const made = [...new Set(listed.flat())].map((word) =>
    [word, [readings(word), readings(word).map(family), sound(word)]]);
  return [listed, Object.fromEntries(made)];
}"""


def test_nothing_of_the_search_comes_with_a_page(page: Page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("full/traditional/")
    page.wait_for_load_state("networkidle")
    assert [url for url in asked if "/search/" in url or "worker" in url] == []
    assert page.workers == []


@pytest.mark.parametrize(
    ("path", "query", "ends"),
    [
        ("about/", "والـLoRA لماذا تبدأ", "peft/lora/#b-is-zero"),
        ("fr/about/", "l'echauffement", "fr/full/traditional/#warmup"),
    ],
)
def test_by_keyboard_from_the_key_to_the_section(page: Page, site_address, path, query, ends):
    page.goto(path)
    page.keyboard.press("/")
    field = page.locator(FIELD)
    expect(field).to_be_focused()
    page.keyboard.insert_text(query)
    first = page.locator(OPTION).first
    expect(first).to_be_visible()
    expect(page.locator(STATUS)).to_contain_text(str(page.locator(OPTION).count()))
    assert f"q={query[:1]}" in page.evaluate("decodeURIComponent(location.search)")
    page.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", first.get_attribute("id") or "-")
    expect(first.locator("mark").first).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(site_address + ends)


def test_escape_gives_the_focus_and_the_address_back(page: Page, site_address):
    page.goto("fr/about/")
    button = page.locator(".dabt-search-button")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator(FIELD)).to_be_focused()
    page.keyboard.insert_text("lora")
    expect(page.locator(OPTION).first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".dabt-search")).to_be_hidden()
    expect(button).to_be_focused()
    expect(page).to_have_url(f"{site_address}fr/about/")


def test_a_query_in_the_address_opens_the_search_and_the_other_language_is_offered(page: Page):
    page.goto("fr/about/?q=زقزقة")
    offered = page.locator(f"{STATUS} a")
    expect(offered).to_have_attribute("href", page.url.replace("/fr/about/", "/about/"))
    offered.click()
    expect(page.locator(FIELD)).to_have_value("زقزقة")


def test_a_mistyped_letter_is_forgiven_and_said(page: Page):
    page.goto("fr/?q=quantificatoin")
    expect(page.locator(OPTION).first).to_have_attribute("href", re.compile("/peft/quantization/"))
    expect(page.locator(STATUS)).to_contain_text("proches")


def test_a_term_is_suggested_while_it_is_typed(page: Page):
    page.goto("about/?q=معدل")
    term = page.locator(".dabt-search__term").first
    expect(term).to_contain_text("التعلّم")
    name = term.inner_text()
    term.click()
    expect(page.locator(FIELD)).to_have_value(name)


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_python_and_the_browser_make_the_same_of_every_word(
    page: Page, site_address, site_folder, language
):
    files = sorted((site_folder / "assets/search" / language).glob("*.json"))
    texts = [text for file in files for text in json.loads(file.read_text("utf-8"))]
    rules = load_rules()
    page.goto("about/")
    asked = {"home": site_address, "rules": json.loads(json.dumps(rules.raw)), "texts": texts}
    listed, made = page.evaluate(COMPARE, asked)
    assert len(made) > 3000
    assert listed == [[word.text for word in rules.words(text)] for text in texts]
    for word, theirs in made.items():
        stems = rules.readings(word)
        ours = [list(stems), [rules.family(one) for one in stems], rules.sound(word)]
        assert theirs == ours, word


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_queries_find_their_pages(page: Page, site_address, site_folder, language):
    queries = [query for query in read_queries() if query.language == language]
    assert len(queries) >= 80, QUERIES
    page.goto("about/")
    found = ask(page, site_address, site_folder, queries)
    quality = measure(found)
    missed = "\n".join(f"{one.query.text}: {one.slugs[:3]}" for one in found if one.rank > 3)
    # The aim is 97 % and 88 % (benchmarks/search.py). A page edited tomorrow moves a few queries,
    # and must not fail for it: what fails here is a search that has become worse.
    assert quality.three >= 0.94, missed
    assert quality.first >= 0.85, missed


def test_axe_with_results(page: Page):
    from test_axe import run_axe_on

    page.goto("about/?q=lora")
    expect(page.locator(f"{OPTION} mark").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert run_axe_on(page)["violations"] == []


def test_without_scripts_there_is_no_button_that_does_nothing(new_context):
    page = new_context(java_script_enabled=False).new_page()
    page.goto("about/")
    expect(page.locator(".md-header")).to_be_visible()
    expect(page.locator(".dabt-search-button")).to_be_hidden()
