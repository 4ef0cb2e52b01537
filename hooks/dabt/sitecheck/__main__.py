"""Command line: `python -m dabt.sitecheck site [--address https://host/course/]`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dabt.languages import load_languages
from dabt.problems import DabtError, report
from dabt.sitecheck import check, load


def main(argv: Sequence[str] | None = None) -> int:
    """Check a built site and print its problems; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dabt.sitecheck", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder that a build wrote")
    parser.add_argument("--address", default="", help="the site_url it was built with, if any")
    parser.add_argument(
        "--languages",
        type=Path,
        default=Path("docs/_data/languages.yml"),
        help="default: %(default)s",
    )
    wanted = parser.parse_args(argv)
    if not (wanted.site / "index.html").is_file():
        print(f"error: {wanted.site} holds no built site\n  mend: make build", file=sys.stderr)
        return 2
    try:
        site = load(wanted.site, load_languages(wanted.languages), wanted.address)
    except DabtError as error:
        print(error, file=sys.stderr)
        return 2
    problems = check(site)
    if problems:
        print(report(problems))
    print(f"sitecheck: {len(site.pages)} pages read, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
