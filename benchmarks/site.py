"""What the site costs: to build, to rebuild under `serve`, and to read on a slow line.

    .venv/bin/python -m benchmarks.site

The baseline of each ratio is the same Markdown in the theme as it comes (its own fonts left out,
since they come from another host; no hooks, so that quizzes and figures stay a line of text).
Bytes are those of all answers of a first visit, compressed with brotli as a host would send them.
The main thread's time is what Chromium spends on a page until the network rests, unthrottled.

    .venv/bin/python -m benchmarks.site --lighthouse

adds Lighthouse's four categories for a phone, 0 to 100. It needs Node, and asks the npm registry
for the version below: nothing of the project depends on it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import brotli
from playwright.sync_api import Browser, Response, sync_playwright

from tools.browser import find_chromium
from tools.host import served

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("", "full/traditional/", "quizzes/full-fine-tuning/")
RUNS = 3
LIGHTHOUSE = "lighthouse@12.2.3"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LIGHTHOUSE_PAGES = ("", "full/traditional/", "peft/lora/", "quizzes/lora/", "glossary/")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
OPAQUE = re.compile(r"font/|image/(?!svg)")
# What makes the course's site more than the theme with two languages.
OWN = re.compile(
    r"^(hooks:\n(  - .*\n)+|  custom_dir: .*\n|watch: .*\n|strict: .*\n)", re.MULTILINE
)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        stock = write_stock(Path(folder))
        own_site, stock_site = Path(folder, "own"), Path(folder, "stock")
        own = time_build(ROOT / "mkdocs.yml", own_site)
        plain = time_build(stock, stock_site)
        print(f"{'':34}{'course':>10}{'stock':>10}{'ratio':>8}")
        show("cold build, s (median of 3)", own, plain, 2)
        show("rebuild under serve, s", time_rebuild(ROOT / "mkdocs.yml"), time_rebuild(stock), 2)
        with sync_playwright() as playwright:
            path = str(find_chromium())
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            ours, theirs = (weigh_all(browser, site) for site in (own_site, stock_site))
            quick, slow = (time_all(browser, site) for site in (own_site, stock_site))
            browser.close()
        if "--lighthouse" in sys.argv:
            ask_lighthouse(own_site, path)
    for page in ours:
        show(f"/{page} kB", ours[page][0] / 1000, theirs[page][0] / 1000, 1)
        show(f"/{page} requests", ours[page][1], theirs[page][1], 0)
        show(f"/{page} main thread, ms", quick[page], slow[page], 0)


def show(name: str, own: float, stock: float, digits: int) -> None:
    """Print one line."""
    print(f"{name:34}{own:10.{digits}f}{stock:10.{digits}f}{own / stock:8.2f}")


def write_stock(folder: Path) -> Path:
    """Write the configuration of the same pages in the theme as it comes."""
    text = OWN.sub("", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    text = text.replace("docs_dir: docs", f"docs_dir: {ROOT / 'docs'}")
    text = text.replace("base_path: [examples]", f"base_path: [{ROOT / 'examples'}]")
    path = folder / "stock.yml"
    path.write_text(text, encoding="utf-8")
    return path


def time_build(configuration: Path, target: Path) -> float:
    """Return the seconds of a build in a process of its own, the median of a few."""
    seconds = []
    for _ in range(RUNS):
        begin = time.monotonic()
        command = [sys.executable, "-m", "mkdocs", "build", "-f", configuration, "-d", target]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        seconds.append(time.monotonic() - begin)
    return median(seconds)


def time_rebuild(configuration: Path) -> float:
    """Return the seconds that MkDocs reports for a rebuild after one page was touched."""
    command = [sys.executable, "-m", "mkdocs", "serve", "--livereload", "-f", configuration]
    command += ["-a", "127.0.0.1:8765"]
    serving = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    page, built = ROOT / "docs" / "fr" / "about.md", []
    try:
        for line in serving.stderr:
            if found := re.search(r"Documentation built in ([\d.]+) seconds", line):
                built.append(float(found[1]))
            if len(built) > RUNS:
                break
            if "Serving on" in line or "Reloading" in line or (found and len(built) > 1):
                time.sleep(1.5)
                page.touch()
    finally:
        serving.terminate()
        serving.wait()
    return median(built[1:])


def weigh_all(browser: Browser, site: Path) -> dict[str, tuple[int, int]]:
    """Return bytes and requests of a first visit of each page, in both languages."""
    with served(site) as address:
        return {
            prefix + page: weigh(browser, address + prefix + page)
            for page in PAGES
            for prefix in ("", "fr/")
        }


def time_all(browser: Browser, site: Path) -> dict[str, float]:
    """Return the milliseconds of main thread of each page, the median of a few first visits."""
    with served(site) as address:
        return {
            prefix + page: median(time_page(browser, address + prefix + page) for _ in range(RUNS))
            for page in PAGES
            for prefix in ("", "fr/")
        }


def time_page(browser: Browser, address: str) -> float:
    """Return the milliseconds that the main thread works for one first visit."""
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(address, wait_until="networkidle")
    metrics = {
        one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]
    }
    context.close()
    return 1000 * metrics["TaskDuration"]


def ask_lighthouse(site: Path, chromium: str) -> None:
    """Print Lighthouse's categories for each kind of page, and the audits that are not passed."""
    if not (npx := shutil.which("npx")):
        print("Lighthouse: left out, since Node (npx) is not installed")
        return
    print(f"{LIGHTHOUSE:34}" + "".join(f"{one:>16}" for one in CATEGORIES))
    command = [npx, "--yes", LIGHTHOUSE, "--quiet", "--output=json"]
    command += [f"--only-categories={','.join(CATEGORIES)}"]
    command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu"]
    with served(site) as address:
        for url in (prefix + page for page in LIGHTHOUSE_PAGES for prefix in ("", "fr/")):
            done = subprocess.run(
                [*command, address + url],
                env=os.environ | {"CHROME_PATH": chromium},
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            print_lighthouse(url, json.loads(done.stdout))


def print_lighthouse(url: str, report: dict) -> None:
    """Print one line of scores; below it what keeps a category other than performance from 100."""
    scores = [100 * (report["categories"][one]["score"] or 0) for one in CATEGORIES]
    print(f"/{url:33}" + "".join(f"{score:16.0f}" for score in scores), flush=True)
    for category in CATEGORIES[1:]:
        for part in report["categories"][category]["auditRefs"]:
            audit = report["audits"][part["id"]]
            if part["weight"] and audit["score"] is not None and audit["score"] < 1:
                print(f"    {category}: {audit['title']} [{part['id']}]")


def packed(answer: Response) -> int:
    """Return the bytes of an answer as a host sends it that keeps brotli files beside the site."""
    body = answer.body()
    opaque = OPAQUE.match(answer.headers.get("content-type", ""))
    return len(body) if opaque else len(brotli.compress(body))


def weigh(browser: Browser, address: str) -> tuple[int, int]:
    """Return brotli bytes and number of all answers of a first visit."""
    context = browser.new_context()
    page, answers = context.new_page(), []
    page.on("response", answers.append)
    page.goto(address, wait_until="networkidle")
    sizes = [packed(answer) for answer in answers]
    context.close()
    return sum(sizes), len(sizes)


if __name__ == "__main__":
    main()
