"""Asks lychee, once a week and politely, whether the links to other sites still lead somewhere.

    python -m tools.outside_links --report links.md

Never fails for a link: a good one may be slow, or shut to machines, for an hour. What fails on two
days goes into the report, the text of one standing issue; an answer 429, or none in time, says
nothing. Good answers are kept for some days in `--state`, and the first failures.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from dabt.languages import load_languages
from dabt.sitecheck import Site, load
from tools.build_site import BuildFailure, build_if_stale
from tools.environment import ROOT
from tools.stages import ADDRESS, HOSTED

MEMORY = "failing.json"
GOOD, MOVED, FAILED, UNKNOWN = "good", "moved", "failed", "unknown"
TOO_MANY = 429
# For ever (RFC 9110, 15.4): the new address is the one to write.
PERMANENT = {301, 308}
# Seconds for one host, and for all: one that answers slowly must not eat the time of the others.
HOST_LIMIT, LIMIT = 300, 2400


@dataclass(frozen=True)
class Manners:
    """How a host is asked; times as lychee writes them, without a unit in seconds."""

    interval: str = "1s"
    timeout: int = 20
    retries: int = 2
    # Less than a week: each weekly run asks, and one by hand in between does not.
    keep: str = "6d"
    agent: str = "Mozilla/5.0 (compatible; dabt-links; weekly link check of a free course)"


@dataclass(frozen=True)
class Answer:
    """What came of a link: good, moved (`detail` is the new address), failed (why) or unknown."""

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Failure:
    """A link that failed: the day of the first time, and why the last time."""

    since: str
    reason: str


def outside_links(site: Site) -> dict[str, list[str]]:
    """Return each link to another site, without its #section, and the pages that hold it."""
    found: dict[str, set[str]] = {}
    for page in site.pages:
        for element in page.document.all("a"):
            link = urldefrag(element.get("href").strip()).url
            own = bool(site.address) and f"{link}/".startswith(site.address)
            if link.startswith(("http://", "https://")) and not own:
                found.setdefault(link, set()).add(page.url or "/")
    return {link: sorted(found[link]) for link in sorted(found)}


def ask(links: Iterable[str], folder: Path, manners: Manners = Manners()) -> dict[str, Answer]:
    """Return link → answer, one host after the other; what there was no time for is unknown."""
    hosts: dict[str, list[str]] = {}
    for link in links:
        hosts.setdefault(urlsplit(link).netloc, []).append(link)
    answers: dict[str, Answer] = {}
    started = time.monotonic()
    for host, wanted in hosts.items():
        left = min(HOST_LIMIT, LIMIT - (time.monotonic() - started))
        got = _ask_host(wanted, folder / host.replace(":", "_"), manners, left) if left > 0 else {}
        answers |= {link: got.get(link, Answer(UNKNOWN, "no time left")) for link in wanted}
        print(f"{host}: {_counts(answers[link] for link in wanted)}", flush=True)
    return answers


def command(listing: Path, manners: Manners) -> list[str]:
    """Return the command line for the links of a file."""
    lychee = shutil.which("lychee", path=str(Path(sys.executable).parent)) or "lychee"
    return [
        *(lychee, "--verbose", "--no-progress", "--mode", "plain", "--format", "json"),
        *("--accept", "200..=299", "--cache", "--max-cache-age", manners.keep),
        *("--cache-exclude-status", "300..", "--max-redirects", "10"),
        *("--host-concurrency", "1", "--host-request-interval", manners.interval),
        *("--timeout", str(manners.timeout), "--max-retries", str(manners.retries)),
        *("--user-agent", manners.agent, listing.name),
    ]


def _ask_host(links: list[str], folder: Path, manners: Manners, limit: float) -> dict[str, Answer]:
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / "links.html"
    listing.write_text("\n".join(f'<a href="{escape(link)}">x</a>' for link in links), "utf-8")
    try:
        done = subprocess.run(
            command(listing, manners), cwd=folder, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {}
    try:
        return dict(read_answers(json.loads(done.stdout), links))
    except json.JSONDecodeError:
        raise SystemExit(f"error: lychee gave no report:\n{done.stdout}{done.stderr}") from None


def read_answers(report: dict, links: list[str]) -> Iterator[tuple[str, Answer]]:
    """Yield link and answer from lychee's report on a file with one link a line.

    Lychee rewrites links (`https://x.example` gets a slash): the line tells which one it was.
    """
    for link in _listed(report, "success_map", links):
        steps = link.get("redirects", {}).get("redirects", [])
        moved = steps and all(step["code"] in PERMANENT for step in steps)
        yield link["url"], Answer(MOVED, steps[-1]["url"]) if moved else Answer(GOOD)
    for link in _listed(report, "timeout_map", links):
        yield link["url"], Answer(UNKNOWN, "no answer in time")
    for link in _listed(report, "error_map", links):
        status = link["status"]
        if status.get("code") == TOO_MANY:
            yield link["url"], Answer(UNKNOWN, "asked to come back later")
        else:
            yield link["url"], Answer(FAILED, _reason(link))


def _reason(link: dict) -> str:
    status = link["status"]
    if link.get("redirects"):
        return "it is sent on without end"
    return status.get("details") or status["text"].removeprefix("Rejected status code: ")


def _listed(report: dict, name: str, links: list[str]) -> Iterator[dict]:
    for found in report.get(name, {}).values():
        yield from ({**one, "url": links[one["span"]["line"] - 1]} for one in found)


def _counts(answers: Iterable[Answer]) -> str:
    kinds = [answer.kind for answer in answers]
    return ", ".join(f"{kinds.count(k)} {k}" for k in (GOOD, MOVED, FAILED, UNKNOWN) if k in kinds)


def remember(
    before: Mapping[str, Failure], answers: Mapping[str, Answer], today: str
) -> dict[str, Failure]:
    """Return the failures to keep: new ones from today, old ones from their first day.

    An unknown answer leaves a link as it was; one that is good, or no longer there, is dropped.
    When no link at all answers well, it is our own network that fails: all stays as it was.
    """
    if not any(answer.kind in (GOOD, MOVED) for answer in answers.values()):
        return dict(before)
    kept: dict[str, Failure] = {}
    for link, answer in answers.items():
        if answer.kind == FAILED:
            kept[link] = Failure(before[link].since if link in before else today, answer.detail)
        elif answer.kind == UNKNOWN and link in before:
            kept[link] = before[link]
    return kept


def write_report(
    failing: Mapping[str, Failure],
    answers: Mapping[str, Answer],
    pages: Mapping[str, list[str]],
    today: str,
) -> str:
    """Return the text of the issue; empty when no link failed on two days.

    Links that moved for good are told along with the others, and alone open no issue.
    """
    twice = {link: one for link, one in failing.items() if one.since < today and link in pages}
    if not twice:
        return ""
    lines = ["These links failed in two runs of the weekly check. No build fails by them.", ""]
    for link, one in sorted(twice.items()):
        lines.append(f"- [ ] <{link}>: {one.reason}, since {one.since}; on {_named(pages[link])}")
    moved = {link: one.detail for link, one in answers.items() if one.kind == MOVED}
    if moved:
        lines += ["", "These moved for good; they work, and can be written anew:", ""]
        lines += [f"- <{link}> → <{new}>" for link, new in sorted(moved.items())]
    return "\n".join([*lines, ""])


def _named(pages: list[str]) -> str:
    return ", ".join(f"`{page}`" for page in pages)


def load_memory(path: Path) -> dict[str, Failure]:
    """Return the failures of the runs before; none when there was no run, or its file is broken."""
    try:
        return {link: Failure(**one) for link, one in json.loads(path.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def save_memory(path: Path, failing: Mapping[str, Failure]) -> None:
    """Write them, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    values = {link: vars(one) for link, one in sorted(failing.items())}
    fresh.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(path)


def check(
    pages: Mapping[str, list[str]],
    state: Path,
    today: str,
    asking: Callable[[Iterable[str], Path], dict[str, Answer]] = ask,
) -> str:
    """Ask for all links, bring the memory up to date, return the report."""
    answers = asking(pages, state)
    failing = remember(load_memory(state / MEMORY), answers, today)
    save_memory(state / MEMORY, failing)
    print(f"outside links: {_counts(answers.values())}")
    return write_report(failing, answers, pages, today)


def main(words: list[str]) -> int:
    """Build the site if it is stale, check its links; only a failed build ends with 1."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--report", type=Path, help="where to write the text of the issue")
    parser.add_argument("--state", type=Path, default=ROOT / ".cache/links", help="%(default)s")
    wanted = parser.parse_args(words)
    try:
        build_if_stale(ROOT / HOSTED, ADDRESS)
    except BuildFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    site = load(ROOT / HOSTED, load_languages(ROOT / "docs/_data/languages.yml"), ADDRESS)
    report = check(outside_links(site), wanted.state.resolve(), date.today().isoformat())
    print(report or "no link failed on two days")
    if wanted.report:
        wanted.report.write_text(report, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
