"""The site's search beside the theme's own, on the same pages, in one run of Chromium.

    python -m benchmarks.search                     # quality and cost
    python -m benchmarks.search --failing           # and each query that fails
    python -m benchmarks.search --queries tests/search/unseen.tsv
    python -m benchmarks.search --growth 100 300 1000

Quality: `tests/search/queries.tsv`, or `unseen.tsv`, written by somebody who had not seen the rules
and never used to change them; each query asked as a reader would type it. The theme's search
has its default settings and the same pages, rendered by the same hooks; it answers a page in the
other language, too, which is no answer here. Cost: the files that a first query needs, as brotli
and as gzip, and the time from when they are there to the first result, the processor slowed down
four times, the least of five (the theme's worker cannot be slowed down: its time is at full speed).

Growth: pages made of shuffled sentences of the course, some words of which are changed into new
ones, as in the course itself (a text of twice the length has about 1.5 times the words). Pagefind
(`pip install "pagefind[bin]==1.5.2"`) is measured on the same pages when it is installed.
"""

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import brotli
from playwright.sync_api import Browser, Page, Route, sync_playwright

from benchmarks.site import FLAGS
from tools.browser import find_chromium
from tools.host import served
from tools.search_quality import (
    QUERIES,
    Found,
    Query,
    ask,
    index_of,
    measure,
    read_queries,
    slug_of,
)

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "hooks"))

from dabt.languages import load_languages  # noqa: E402
from dabt.links import served as served_at  # noqa: E402
from dabt.search import sections as read  # noqa: E402
from dabt.search.index import build_index  # noqa: E402
from dabt.search.words import load_rules  # noqa: E402

# What the addresses of a language's pages begin with.
PREFIXES = {
    one.code: served_at("index.md", one)
    for one in load_languages(ROOT / "docs/_data/languages.yml")
}
RUNS = 5
LATE = 1.0
SCRIPTS = ("panel.js", "engine.js", "words.js", "panel.css")
# The theme's worker, asked as its page asks it; the first time is from the index to an answer.
ASK_WORKER = """async ({home, worker, queries}) => {
  const index = await (await fetch(home + "search/search_index.json")).json();
  const asked = new Worker(home + worker);
  const answer = (message) => new Promise((done) => {
    asked.onmessage = ({data}) => done(data.data);
    asked.postMessage(message);
  });
  const start = performance.now();
  await answer({type: 0, data: {...index, options: {suggest: false}}});
  const answers = [];
  let first;
  for (const query of queries) {
    const {items} = await answer({type: 2, data: query});
    first ??= performance.now() - start;
    answers.push(items.slice(0, 10).map(([one]) => one.location.split("#")[0]));
  }
  asked.terminate();
  return {answers, first};
}"""
# From the last file that the search needs to the first result on the screen.
FIRST_RESULT = """(query) => new Promise((done) => {
  const list = document.querySelector(".dabt-search__list");
  new MutationObserver(() => requestAnimationFrame(() => {
    const files = performance.getEntriesByType("resource").filter(({name}) =>
      /assets.search.((engine|words|panel)[.]js|[a-z]+[.][0-9a-f]+[.]json)/.test(name));
    done(performance.now() - Math.max(...files.map((file) => file.responseEnd)));
  })).observe(list, {childList: true});
  document.querySelector(".dabt-search__field").value = query;
  document.querySelector(".dabt-search-button").click();
})"""
GROWTH = """async ({home, index, queries}) => {
  const [{makeEngine}, {makeWords}] = await Promise.all(
    ["engine.js", "words.js"].map((name) => import(home + name)));
  const text = await (await fetch(home + index)).text();
  const start = performance.now();
  const engine = makeEngine(JSON.parse(text), makeWords);
  engine.search(queries[0]);
  const first = performance.now() - start;
  const times = queries.slice(1).map((query) => {
    const before = performance.now();
    engine.search(query);
    return performance.now() - before;
  });
  return {first, then: times.sort((a, b) => a - b)[times.length >> 1]};
}"""
ASK_PAGEFIND = """async ({home, queries}) => {
  const start = performance.now();
  const pagefind = await import(home + "pagefind/pagefind.js");
  await pagefind.init();
  let first;
  const times = [];
  for (const query of queries) {
    const before = performance.now();
    const {results} = await pagefind.search(query);
    if (results.length) await results[0].data();
    first ??= performance.now() - start;
    times.push(performance.now() - before);
  }
  return {first, then: times.sort((a, b) => a - b)[times.length >> 1]};
}"""


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failing", action="store_true", help="print the queries that fail")
    parser.add_argument("--queries", type=Path, default=QUERIES, help="another set of queries")
    parser.add_argument("--growth", type=int, nargs="+", metavar="PAGES", help="synthetic pages")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = str(find_chromium())
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        own = build(Path(folder, "own"), ROOT / "mkdocs.yml")
        if wanted.growth:
            show_growth(browser, own, wanted.growth, Path(folder))
        else:
            stock = build(Path(folder, "stock"), write_stock(Path(folder)))
            show_quality(browser, own, stock, read_queries(wanted.queries), wanted.failing)
        browser.close()


def build(target: Path, configuration: Path) -> Path:
    """Build a configuration of the site."""
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", configuration, "-d", target]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "hooks")}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return target


def write_stock(folder: Path) -> Path:
    """Write the configuration of the same pages in the theme's templates, with its own search."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    # The lean pages of the course are without the theme's scripts, which its search is made of.
    ours = r"^(  custom_dir|watch|strict): .*\n|^  - hooks/site_(?:search|weight).*\n"
    text = re.sub(ours, "", text, flags=re.M)
    text = text.replace("  - hooks/", f"  - {ROOT}/hooks/")
    text = text.replace("docs_dir: docs", f"docs_dir: {ROOT}/docs")
    text = text.replace("base_path: [examples]", f"base_path: [{ROOT}/examples]")
    text = text.replace("plugins:\n", "plugins:\n  - search\n")
    path = folder / "stock.yml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Cost:
    """What a first query costs: bytes of the files, and milliseconds to the first result."""

    brotli: int
    gzip: int
    first: float


def weigh(files: Sequence[Path]) -> tuple[int, int]:
    """The size of files, each as brotli and as gzip."""
    contents = [file.read_bytes() for file in files]
    packed = [(len(brotli.compress(one)), len(gzip.compress(one))) for one in contents]
    return sum(one for one, _ in packed), sum(one for _, one in packed)


def show_quality(
    browser: Browser, own: Path, stock: Path, everything: Sequence[Query], failing: bool
) -> None:
    """Print both systems side by side, for each language."""
    print(f"{'':4}{'':8}{'queries':>8}{'at 1':>8}{'at 3':>8}{'MRR':>8}", end="")
    print(f"{'brotli':>10}{'gzip':>10}{'first ms':>10}")
    for language in PREFIXES:
        queries = [query for query in everything if query.language == language]
        found, cost = ask_own(browser, own, queries)
        theirs, their_cost = ask_stock(browser, stock, queries)
        print_line(language, "course", found, cost)
        print_line("", "theme", theirs, their_cost)
        print(f"{'':4}first result: {cost.first / their_cost.first:.2f} of the theme's, at 4x")
        print_kinds(found, theirs)
        if failing:
            print_failing(found)


def print_line(language: str, name: str, found: Sequence[Found], cost: Cost) -> None:
    quality = measure(found)
    print(
        f"{language:4}{name:8}{quality.queries:8}{quality.first:8.1%}{quality.three:8.1%}", end=""
    )
    print(f"{quality.reciprocal:8.3f}{cost.brotli:10,}{cost.gzip:10,}{cost.first:10.0f}")


def print_kinds(found: Sequence[Found], theirs: Sequence[Found]) -> None:
    for kind in dict.fromkeys(one.query.kind for one in found):
        ours, other = (
            [1 <= one.rank <= 3 for one in system if one.query.kind == kind]
            for system in (found, theirs)
        )
        print(f"{'':6}{kind:18}{sum(ours):4} and {sum(other):3} of {len(ours):3} at 3")


def print_failing(found: Sequence[Found]) -> None:
    """Print the queries that no page among the first three answers."""
    for one in found:
        if not 1 <= one.rank <= 3:
            place = f"at {one.rank}" if one.rank else "not found"
            wanted, first = "|".join(one.query.pages), ", ".join(one.slugs[:3])
            print(f"{'':6}{one.query.text}  [{one.query.kind}] {wanted}: {place}; found {first}")


def ask_own(
    browser: Browser, site: Path, queries: Sequence[Query]
) -> tuple[tuple[Found, ...], Cost]:
    """What the course's own search answers, and what its first answer costs."""
    language = queries[0].language
    index = site / index_of(site, language)
    files = [index, *(site / "assets/search" / name for name in SCRIPTS)]
    with served(site) as home:
        page = browser.new_page()
        page.goto(f"{home}about/")
        found = ask(page, home, site, queries)
        page.close()
        about = f"{home}{PREFIXES[language]}about/"
        times = [time_first(browser, about, query.text) for query in queries[:RUNS]]
    return found, Cost(*weigh(files), min(times))


def time_first(browser: Browser, address: str, query: str) -> float:
    """Milliseconds to the first result in a fresh page, the processor slowed down four times."""
    page = slowed_page(browser, address)
    # The index is the last thing to come, as it is on a real line.
    page.route("**/assets/search/*.json", send_late)
    taken = page.evaluate(FIRST_RESULT, query)
    page.close()
    return taken


def send_late(route: Route) -> None:
    """Send a file when the dialog has long been open."""
    time.sleep(LATE)
    route.continue_()


def ask_stock(
    browser: Browser, site: Path, queries: Sequence[Query]
) -> tuple[tuple[Found, ...], Cost]:
    """What the theme's search answers, and what it costs (with every page, not when used)."""
    language = queries[0].language
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.min.js")
    config = json.loads((site / "search/search_index.json").read_text("utf-8"))["config"]
    lunr = [site / f"assets/javascripts/lunr/min/lunr.{code}.min.js" for code in config["lang"]]
    files = [site / "search/search_index.json", worker, *(one for one in lunr if one.exists())]
    with served(site) as home:
        page = browser.new_page()
        page.goto(f"{home}about/")
        asked = {"home": home, "worker": worker.relative_to(site).as_posix()}
        answer = page.evaluate(ASK_WORKER, {**asked, "queries": [one.text for one in queries]})
        page.close()
    found = tuple(
        Found(query, tuple(stock_slug(one, language) for one in locations))
        for query, locations in zip(queries, answer["answers"], strict=True)
    )
    return found, Cost(*weigh(files), answer["first"])


def stock_slug(location: str, language: str) -> str:
    """The slug of a location; of a page in the other language, a name that no query wants."""
    own = max((code for code in PREFIXES if location.startswith(PREFIXES[code])), key=prefix_size)
    if own != language:
        return f"{location} (other language)"
    return slug_of(location, language)


def prefix_size(language: str) -> int:
    """How long the prefix of a language is: the default one has none, and fits every address."""
    return len(PREFIXES[language])


def show_growth(browser: Browser, own: Path, sizes: Sequence[int], folder: Path) -> None:
    """Print what an index of more and more pages costs."""
    queries = [query.text for query in read_queries() if query.language == "fr"][:40]
    print(f"{'pages':>6}{'words':>9}{'brotli':>11}{'gzip':>11}{'build s':>9}", end="")
    print(f"{'first ms':>10}{'then ms':>9}   at 4x; Pagefind: bytes, build s, first ms, then ms")
    for size in sizes:
        site = folder / f"grown-{size}"
        pages = list(grown_pages(own, size))
        began = time.monotonic()
        index = build_index(pages, (), (), load_rules(), {})
        seconds = time.monotonic() - began
        (site / "search").mkdir(parents=True)
        for name in SCRIPTS:
            (site / name).write_bytes((own / "assets/search" / name).read_bytes())
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        (site / "index.json").write_text(text, encoding="utf-8")
        (site / "index.html").write_text("<!doctype html><title>x</title>", encoding="utf-8")
        sizes_of = weigh([site / "index.json"])
        with served(site) as home:
            page = slowed_page(browser, home)
            asked = {"home": home, "index": "index.json", "queries": queries}
            times = page.evaluate(GROWTH, asked)
            page.close()
        words = index["words"].count(" ") + 1
        print(f"{size:6}{words:9,}{sizes_of[0]:11,}{sizes_of[1]:11,}{seconds:9.1f}", end="")
        print(f"{times['first']:10.0f}{times['then']:9.1f}", end="", flush=True)
        print(f"   {pagefind_line(browser, site, pages, queries)}")


def slowed_page(browser: Browser, home: str) -> Page:
    """A page on a processor that is slowed down four times."""
    page = browser.new_page()
    page.goto(home, wait_until="networkidle")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    return page


def grown_pages(own: Path, size: int) -> Iterator[read.Page]:
    """Pages of the size and the words of the course's French chapters, at random."""
    chance = random.Random(7)
    known = sorted((own / "assets/search/fr").glob("*-*.json"))
    texts = [text for file in known for text in json.loads(file.read_text("utf-8"))]
    sentences = [one for text in texts for one in re.split(r"(?<=[.?!]) ", text) if one]
    for number in range(size):
        found = []
        for place in range(25):
            chosen = chance.choices(sentences, k=10)
            text = " ".join(renewed(one, number, chance) for one in chosen)
            found.append(read.Section(f"s{place}", " ".join(text.split()[:5]), text))
        yield read.Page(f"p{number}/", f"synthetic/p{number}", f"Page {number}", tuple(found))


def renewed(sentence: str, page: int, chance: random.Random) -> str:
    """A sentence in which one word of fifty is one that few other pages have."""
    return " ".join(
        f"{word}{'abcdefghij'[page % 10]}{page % 97}x" if chance.random() < 0.02 else word
        for word in sentence.split()
    )


def pagefind_line(
    browser: Browser, site: Path, pages: Sequence[read.Page], queries: Sequence[str]
) -> str:
    """What Pagefind needs for the same pages."""
    if not find_spec("pagefind"):
        return "Pagefind is not installed"
    for page in pages:
        target = site / page.url / "index.html"
        target.parent.mkdir(parents=True)
        parts = "".join(f'<h2 id="{s.id}">{s.title}</h2><p>{s.text}</p>' for s in page.sections)
        html = f'<!doctype html><html lang="fr"><title>{page.title}</title><main>{parts}</main>'
        target.write_text(html, encoding="utf-8")
    began = time.monotonic()
    command = [sys.executable, "-m", "pagefind", "--site", str(site)]
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.monotonic() - began
    with served(site) as home:
        page, sizes = slowed_page(browser, home), []
        page.on("requestfinished", lambda one: sizes.append(one.sizes()["responseBodySize"]))
        first = page.evaluate(ASK_PAGEFIND, {"home": home, "queries": queries[:1]})["first"]
        bytes_of_first = sum(sizes)
        then = page.evaluate(ASK_PAGEFIND, {"home": home, "queries": list(queries)})["then"]
        page.close()
    return (
        f"{bytes_of_first:,} for one query, {sum(sizes):,} for {len(queries)}, "
        f"{seconds:.1f}, {first:.0f}, {then:.1f}"
    )


if __name__ == "__main__":
    main()
