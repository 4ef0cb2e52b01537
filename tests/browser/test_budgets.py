"""What a reader's line carries. Bytes and requests are exact, so that they may fail a build.

Bytes: brotli at level 11, fonts and pictures as they are (tests/browser/weights.py). What each page
costs at a first visit is asked in test_every_page.py, where each page is visited anyway; here what
one more page costs, what a quiz adds, and that nothing moves while a page arrives slowly.
"""

import pytest
from playwright.sync_api import Page

from dabt.weight.scripts import bare
from tests.browser.conftest import page_keys
from tests.browser.weights import file_of, packed, packed_text
from tools.environment import ROOT

FURTHER = 30_000
QUIZ = 10_000
SHIFT = 0.02
# The first visits of a reader: what they leave in the cache is no longer asked for.
BEFORE = ("", "full/traditional/")
KINDS = ("", "full/traditional/", "full/compute-requirements/", "quizzes/lora/", "glossary/")
# What Lighthouse takes for a phone on a slow line.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 90_000}
SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value;
  }).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => done(sum), 100));
})"""
QUIZ_WORDS = """(section) => [...section.querySelectorAll("[aria-label]")].map((e) => e.ariaLabel)
  .concat(section.textContent, ...[...section.querySelectorAll("template")].map(
    (e) => e.content.textContent)).join(" ").replace(/\\s+/g, " ")"""


@pytest.mark.parametrize("prefix", ["", "fr/"])
def test_one_more_page_is_its_own_words(new_context, site_address, site_folder, prefix):
    page = new_context().new_page()
    for key in BEFORE:
        page.goto(prefix + key, wait_until="networkidle")
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    asked: dict[str, str] = {}
    network.on(
        "Network.requestWillBeSent", lambda e: asked.update({e["requestId"]: e["request"]["url"]})
    )
    network.on("Network.requestServedFromCache", lambda e: asked.pop(e["requestId"], None))
    network.on(
        "Network.responseReceived",
        lambda e: asked.pop(e["requestId"], None) if e["response"].get("fromDiskCache") else None,
    )
    heavy = {}
    for key in (one for one in page_keys() if one not in BEFORE):
        asked.clear()
        page.goto(prefix + key, wait_until="networkidle")
        bytes_of = {url: packed(file_of(url, site_address, site_folder)) for url in asked.values()}
        assert any(url == page.url for url in bytes_of), "the page itself was asked for"
        if sum(bytes_of.values()) > FURTHER:
            heavy[prefix + key] = bytes_of
    assert not heavy


@pytest.mark.parametrize("prefix", ["", "fr/"])
def test_a_quiz_of_thirty_questions_adds_little_to_its_words(page: Page, site_folder, prefix):
    """Its script, its styles and its markup: the page less a page with the same words alone."""
    for path in sorted((site_folder / prefix / "quizzes").glob("*/index.html")):
        page.goto(f"{prefix}quizzes/{path.parent.name}/")
        assert page.locator(".dabt-q").count() == 30
        html = path.read_text("utf-8")
        begin, end = html.index('<section class="dabt-quiz"'), html.rindex("</section>")
        words = page.locator(".dabt-quiz").evaluate(QUIZ_WORDS)
        markup = packed(path) - packed_text(html[:begin] + words + html[end:])
        # The styles are in the one sheet of the site: what they would weigh alone.
        styles = bare((ROOT / "docs/assets/quiz.css").read_text("utf-8"))
        own = [packed(site_folder / "assets/quiz.js"), packed_text(styles)]
        assert markup + sum(own) <= QUIZ, (path, markup, own)


@pytest.mark.parametrize("key", KINDS)
@pytest.mark.parametrize("prefix", ["", "fr/"])
def test_nothing_moves_while_a_page_arrives(new_context, prefix, key):
    page = new_context(viewport={"width": 390, "height": 800}).new_page()
    network = page.context.new_cdp_session(page)
    network.send("Network.emulateNetworkConditions", SLOW)
    page.goto(prefix + key, wait_until="networkidle")
    assert page.evaluate("document.fonts.status") == "loaded"
    assert page.evaluate(SHIFTS) <= SHIFT
