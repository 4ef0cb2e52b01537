"""The queries that measure the search: each is well formed, and names pages of both languages.

queries.tsv was written before the search was tuned; unseen.tsv by somebody who had not seen its
rules, and no rule may ever be changed for one of its queries.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
HEADER = ["language", "query", "kind", "pages"]
LANGUAGES = ("ar", "fr")
KINDS = {
    "morphology",
    "spelling",
    "typo",
    "synonym",
    "latin",
    "transliteration",
    "question",
    "mixed",
    "symptom",
    "code",
}
FEWEST_PER_LANGUAGE, FEWEST_PER_KIND, MOST_PAGES = 80, 5, 4


@dataclass(frozen=True)
class Query:
    line: int
    language: str
    text: str
    kind: str
    pages: tuple[str, ...]


@pytest.fixture(params=["queries.tsv", "unseen.tsv"])
def lines(request) -> list[list[str]]:
    """The cells of each line of a set."""
    text = (FOLDER / request.param).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def queries(lines) -> list[Query]:
    return [read_query(n, cells) for n, cells in enumerate(lines[1:], start=2)]


def read_query(line: int, cells: list[str]) -> Query:
    language, text, kind, pages = cells
    return Query(line, language, text, kind, tuple(pages.split("|")))


def name_faults(page: str) -> list[str]:
    slug, _, section = page.partition("#")
    return [fault for language in LANGUAGES for fault in name_faults_in(language, slug, section)]


def name_faults_in(language: str, slug: str, section: str) -> list[str]:
    source = ROOT / "docs" / language / f"{slug}.md"
    if not source.is_file():
        return [f"docs/{language}/{slug}.md does not exist"]
    anchor = re.compile(rf"\{{ #{re.escape(section)}[ }}]")
    if section and not anchor.search(source.read_text(encoding="utf-8")):
        return [f"docs/{language}/{slug}.md has no section {section}"]
    return []


def test_every_line_has_the_four_columns(lines) -> None:
    assert lines[0] == HEADER
    wrong = [
        n
        for n, cells in enumerate(lines, start=1)
        if len(cells) != len(HEADER) or any(cell != cell.strip() or not cell for cell in cells)
    ]
    assert not wrong, f"lines with an empty, spaced or missing cell: {wrong}"


def test_every_page_and_section_exists_in_both_languages(queries) -> None:
    faults = [
        f"line {query.line}: {fault}; mend: name a page of docs/ar"
        for query in queries
        for page in query.pages
        for fault in name_faults(page)
    ]
    assert not faults, "\n".join(faults)


def test_no_query_is_so_vague_that_everything_answers(queries) -> None:
    vague = [query for query in queries if len(query.pages) > MOST_PAGES]
    assert not vague


def test_no_query_names_a_page_twice(queries) -> None:
    twice = [query for query in queries if len(set(query.pages)) < len(query.pages)]
    assert not twice


def test_no_query_is_asked_twice_in_a_language(queries) -> None:
    asked = Counter((query.language, query.text) for query in queries)
    assert not [pair for pair, times in asked.items() if times > 1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_enough_queries_of_every_kind(queries, language: str) -> None:
    kinds = Counter(query.kind for query in queries if query.language == language)
    assert set(kinds) == KINDS
    assert kinds.total() >= FEWEST_PER_LANGUAGE
    assert min(kinds.values()) >= FEWEST_PER_KIND, kinds


def test_only_the_two_languages_are_asked(queries) -> None:
    assert {query.language for query in queries} == set(LANGUAGES)


def test_no_query_of_one_set_is_in_the_other() -> None:
    sets = [
        {
            line.split("\t")[1]
            for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()[1:]
        }
        for name in ("queries.tsv", "unseen.tsv")
    ]
    assert not sets[0] & sets[1]
