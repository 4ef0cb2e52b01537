"""The built site: every rule of our own check, and promises that only a build can show."""

import gzip
import re
from collections.abc import Iterator

import brotli
import pytest

from dabt.problems import report
from dabt.sitecheck import RULES, Site
from dabt.sitecheck.document import Document
from dabt.sitecheck.site import Page

LIGHT = 100_000
LIGHT_STUB = 1_500


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__module__.rpartition(".")[2])
def test_rule(site: Site, rule):
    problems = list(rule(site))
    assert not problems, f"\n{report(problems)}"


def test_each_source_page_is_built_in_each_language(site: Site):
    keys = {page.key for page in site.content_pages}
    assert {"index.html", "about/index.html", "full/traditional/index.html"} <= keys
    assert len(site.content_pages) == len(keys) * len(site.languages)


def test_sources_of_the_build_are_not_published(site: Site):
    odd = [path for path in site.files if path.startswith("_data/") or "/_data/" in path]
    odd += [path for path in site.files if path.endswith((".md", ".yml", ".py"))]
    # Those that the build made, and none that lay among the pages.
    notebooks = [path for path in site.files if path.endswith(".ipynb")]
    odd += [path for path in notebooks if not path.startswith("notebooks/")]
    assert odd == []


def test_answers_are_not_in_the_search(site: Site):
    """Who searches finds questions; the answer stays behind its summary."""
    files = [name for name in site.texts if name.startswith("assets/search/")]
    index = "".join(site.texts[name] for name in files if name.endswith(".json"))
    assert '"q-static-memory-7b"' in index
    taught = "\n".join(text for page in site.pages for text in lesson(page))
    leaked = {answer for page in site.pages for answer in answers(page) if answer in index}
    assert sorted(answer for answer in leaked if answer not in taught) == []


def lesson(page: Page) -> Iterator[str]:
    """Yield the texts outside quizzes: an option may quote the lesson, which is to be found."""
    document = page.document
    quizzes = document.with_class("dabt-quiz")
    for text in document.texts:
        if not any(quiz.index <= text.parent < quiz.end for quiz in quizzes):
            yield text.content


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_the_index_of_a_language_is_light(folder, language):
    """Hosts that know no brotli send gzip, which is the larger of the two."""
    (index,) = (folder / "assets/search").glob(f"{language}.*.json")
    assert len(gzip.compress(index.read_bytes(), 6)) <= LIGHT


def test_what_the_search_adds_to_every_page_is_light(folder):
    """Its button and the dialog that it opens; the lines that open it are in site.js."""
    html = (folder / "about/index.html").read_text("utf-8")
    parts = re.findall(
        r"<button[^>]*dabt-search-button.*?</button>|<dialog.*?</dialog>", html, re.S
    )
    assert len(parts) == 2
    assert len(brotli.compress("".join(parts).encode())) <= LIGHT_STUB


def answers(page: Page) -> Iterator[str]:
    """Yield the sentences of answers and options, long enough not to be found by chance.

    The title of a section in a link, and a library's message in code, are to be found elsewhere.
    """
    document = page.document
    secret = [*document.with_class("dabt-q__answer"), *document.with_class("dabt-q__options")]
    for element in secret:
        for text in document.texts:
            inside = element.index <= text.parent < element.end
            if inside and len(text.content.strip()) > 40 and not quoted(document, text.parent):
                yield text.content.strip()


def quoted(document: Document, element: int) -> bool:
    """Tell whether an element is a link, code or foreign words, or stands in one."""
    return any(each.tag in ("a", "code", "bdi") for each in document.ancestors(element))


def test_pages_hold_no_address_of_the_machine_that_built_them(site: Site, folder):
    root = str(folder.parent.parent)
    for page in site.pages:
        text = (folder / page.path).read_text("utf-8")
        assert root not in text
        # What `make serve` prints may be told to contributors, as code.
        bare = re.sub(r"<code\b.*?</code>", "", text, flags=re.DOTALL)
        assert not re.search(r"https?://(localhost|127\.0\.0\.1)", bare)
