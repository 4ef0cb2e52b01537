"""Command line: `python -m dabt.offline site`: make a built site readable without a network."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dabt.languages import load_languages
from dabt.offline import publish
from dabt.problems import DabtError


def main(argv: Sequence[str] | None = None) -> int:
    """Add the archive and the worker to a built site; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dabt.offline", description=__doc__)
    parser.add_argument("site", type=Path, help="the folder that a build wrote; it is changed")
    parser.add_argument(
        "--languages",
        type=Path,
        default=Path("docs/_data/languages.yml"),
        help="default: %(default)s",
    )
    wanted = parser.parse_args(argv)
    try:
        listing = publish(wanted.site, load_languages(wanted.languages))
    except DabtError as error:
        print(error, file=sys.stderr)
        return 2
    sent = sum(one.sent for one in listing.files)
    print(f"offline: {len(listing.files)} files to keep, {sent / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
