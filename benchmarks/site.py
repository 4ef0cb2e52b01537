"""What the site costs: to build, to rebuild under `serve`, and to read on a slow line.

    .venv/bin/python -m benchmarks.site

The baseline of each ratio is the same Markdown in the theme as it comes (its own fonts left out,
since they come from another host; no hooks, so that quizzes and figures stay a line of text).
Bytes are those of all answers of a first visit, compressed with brotli as a host would send them.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import brotli
from playwright.sync_api import Browser, sync_playwright

from tools.browser import find_chromium
from tools.host import served

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("", "full/traditional/", "quizzes/full-fine-tuning/")
RUNS = 3
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
            browser.close()
    for page in ours:
        show(f"/{page} kB", ours[page][0] / 1000, theirs[page][0] / 1000, 1)
        show(f"/{page} requests", ours[page][1], theirs[page][1], 0)


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


def weigh(browser: Browser, address: str) -> tuple[int, int]:
    """Return brotli bytes and number of all answers of a first visit."""
    context = browser.new_context()
    page, sizes = context.new_page(), []

    def count(answer) -> None:
        body = answer.body()
        packed = OPAQUE.match(answer.headers.get("content-type", ""))
        sizes.append(len(body) if packed else len(brotli.compress(body)))

    page.on("requestfinished", lambda request: count(request.response()))
    page.goto(address, wait_until="networkidle")
    context.close()
    return sum(sizes), len(sizes)


if __name__ == "__main__":
    main()
