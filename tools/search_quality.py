"""Asks the site's search, in a browser, what `tests/search/queries.tsv` asks; tells what it found.

The test that keeps the quality and `benchmarks/search.py` both read it here.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUERIES = Path(__file__).resolve().parent.parent / "tests/search/queries.tsv"
# Addresses of pages below the home of the site in the order found, each with its best sections.
ASK = """async ({home, index, queries}) => {
  const [{makeEngine}, {makeWords}, content] = await Promise.all([
    import(home + "assets/search/engine.js"),
    import(home + "assets/search/words.js"),
    fetch(home + index).then((answer) => answer.json()),
  ]);
  const engine = makeEngine(content, makeWords);
  return queries.map((query) => engine.search(query).results.slice(0, 10).map((result) => [
    engine.pages[result.page].url,
    result.sections.slice(0, 3).map(({section}) => engine.sections[section].id),
  ]));
}"""


@dataclass(frozen=True)
class Query:
    """What is typed on a page of a language, and the pages that answer it, the best first."""

    language: str
    text: str
    kind: str
    pages: tuple[str, ...]

    @property
    def slugs(self) -> tuple[str, ...]:
        """The pages without their sections."""
        return tuple(page.partition("#")[0] for page in self.pages)


@dataclass(frozen=True)
class Found:
    """A query with the slugs of the pages found, in their order; of the first one, its sections."""

    query: Query
    slugs: tuple[str, ...]

    @property
    def rank(self) -> int:
        """The place of the first page that answers, from 1; 0 when none of those found does."""
        found = (at for at, slug in enumerate(self.slugs, 1) if slug in self.query.slugs)
        return next(found, 0)


@dataclass(frozen=True)
class Quality:
    """How often an answer is the first page found, or among the first three."""

    queries: int
    first: float
    three: float
    reciprocal: float


def read_queries(path: Path = QUERIES) -> tuple[Query, ...]:
    """The queries of a file: language, query, kind and pages, between tabs."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return tuple(
        Query(row["language"], row["query"], row["kind"], tuple(row["pages"].split("|")))
        for row in rows
    )


def index_of(site: Path, language: str) -> str:
    """The path of a language's index in a built site."""
    (path,) = (site / "assets/search").glob(f"{language}.*.json")
    return path.relative_to(site).as_posix()


def ask(page: "Page", home: str, site: Path, queries: Sequence[Query]) -> tuple[Found, ...]:
    """What the site's own search finds, in a page of it; the queries of one language."""
    (language,) = {query.language for query in queries}
    texts = [query.text for query in queries]
    asked = {"home": home, "index": index_of(site, language), "queries": texts}
    answers = page.evaluate(ASK, asked)
    return tuple(
        Found(query, tuple(slug_of(url, language) for url, _ in answer))
        for query, answer in zip(queries, answers, strict=True)
    )


def slug_of(url: str, language: str) -> str:
    """The slug of an address: `fr/peft/lora/` → `peft/lora`; the home of a language is `index`."""
    return url.removeprefix(f"{language}/").rstrip("/") or "index"


def measure(found: Sequence[Found]) -> Quality:
    """The quality of what was found."""
    ranks = [one.rank for one in found]
    share = 1 / len(ranks)
    return Quality(
        len(ranks),
        share * sum(rank == 1 for rank in ranks),
        share * sum(1 <= rank <= 3 for rank in ranks),
        share * sum(1 / rank for rank in ranks if rank),
    )
