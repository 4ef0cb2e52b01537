"""Keeps one issue per subject: opened when something is wrong, rewritten while it is, closed after.

    python3 -m tools.standing_issue "Links that fail" report.md   # wrong: what the report says
    python3 -m tools.standing_issue "Links that fail" --mended    # right again
    python3 -m tools.standing_issue "Links that fail" report.md --dry-run

Uses GitHub's `gh`, signed in by GH_TOKEN; an empty report says that nothing is wrong. An issue is
known by its title, so that people may add labels, comments and assignees.
"""

import argparse
import json
import shlex
import subprocess
import sys
from pathlib import Path

LIST = ("issue", "list", "--state", "open", "--limit", "200", "--json", "number,title")


class Gh:
    """GitHub's command line; `dry` shows what would change instead of changing it."""

    def __init__(self, dry: bool) -> None:
        """Keep the choice."""
        self.dry = dry

    def read(self, *arguments: str) -> str:
        """Return what `gh` prints; raise CalledProcessError with its own words when it fails."""
        return subprocess.run(["gh", *arguments], check=True, text=True, stdout=-1).stdout

    def change(self, *arguments: str) -> None:
        """Run `gh`, or show the command."""
        print(shlex.join(["gh", *arguments]), flush=True)
        if not self.dry:
            self.read(*arguments)


def find(gh: Gh, title: str) -> int | None:
    """Return the number of the open issue of exactly this title: the oldest, if there are two."""
    numbers = [one["number"] for one in json.loads(gh.read(*LIST)) if one["title"] == title]
    return min(numbers, default=None)


def keep(gh: Gh, title: str, report: str) -> None:
    """Bring the issue of a title in line with a report."""
    number = find(gh, title)
    if report.strip() and number is None:
        gh.change("issue", "create", "--title", title, "--body", report)
    elif report.strip():
        gh.change("issue", "edit", str(number), "--body", report)
    elif number is not None:
        gh.change("issue", "close", str(number), "--comment", "Nothing fails any more.")
    else:
        print(f"nothing is wrong, and no issue '{title}' is open")


def main(words: list[str]) -> int:
    """Read the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("title")
    parser.add_argument("report", type=Path, nargs="?")
    parser.add_argument("--mended", action="store_true", help="nothing is wrong: close the issue")
    parser.add_argument("--dry-run", action="store_true", help="show what would change")
    choice = parser.parse_args(words)
    if choice.mended == bool(choice.report):
        parser.error("give a report, or --mended")
    if choice.report and not choice.report.is_file():
        mend = "run the check that writes it first"
        print(f"error: no report {choice.report}\n  mend: {mend}", file=sys.stderr)
        return 1
    report = choice.report.read_text(encoding="utf-8") if choice.report else ""
    try:
        keep(Gh(choice.dry_run), choice.title, report)
    except FileNotFoundError:
        mend = "install GitHub's command line (https://cli.github.com), or run it in a workflow"
        print(f"error: gh is not installed\n  mend: {mend}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as failure:
        print(f"error: {shlex.join(failure.cmd)} failed\n  mend: see above", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
