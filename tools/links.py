"""Asks lychee for every link and #section of a built site, offline.

    python -m tools.links .build/host/course

It was written by others than our own check of the site, so it is a second opinion. It passes
silently when it reads nothing: a floor on what it found guards against that. The folder must
mirror the path of the address (host/course for https://…/course/), or it skips root links.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.stages import ADDRESS

# Each page has at least the menu, the languages and the footer.
LINKS_PER_PAGE = 8


def command(site: Path, lychee: str) -> list[str]:
    """Return the command line for a site in the folder `site`."""
    root = site.resolve().parent
    base, path = ADDRESS.rstrip("/"), site.name
    return [
        *(lychee, "--offline", "--include-fragments", "--no-progress", "--format", "json"),
        *("--root-dir", str(root), "--index-files", "index.html", "--extensions", "html,css,xml"),
        *("--remap", f"{base}/(.*) file://{root}/{path}/$1", str(root / path)),
    ]


def failures(report: dict) -> Iterator[str]:
    """Yield one line per broken link: the page, the link, the reason."""
    for page, links in sorted(report.get("error_map", {}).items()):
        for link in links:
            yield f"{page}: {link['url']}: {link['status'].get('text', link['status'])}"


def main(argv: list[str]) -> int:
    """Check the site named on the command line; return the exit status."""
    site = Path(argv[0])
    lychee = shutil.which("lychee", path=str(Path(sys.executable).parent)) or "lychee"
    done = subprocess.run(command(site, lychee), capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        print(f"error: lychee gave no report:\n{done.stdout}{done.stderr}", file=sys.stderr)
        return 1
    lines = list(failures(report))
    floor = LINKS_PER_PAGE * sum(1 for _ in site.rglob("*.html"))
    if report["successful"] < floor:
        lines.append(f"only {report['successful']} links were read, {floor} expected at least")
    print("\n".join([*lines, f"links: {report['successful']} passed, {len(lines)} failed"]))
    return 1 if lines or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
