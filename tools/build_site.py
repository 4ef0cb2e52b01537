"""Builds the site beside the last good one and changes them over only when the build succeeded.

    python -m tools.build_site                                   # into site/
    python -m tools.build_site --into .build/host/course --address https://dabt.example/course/

A failed build, or one that says WARNING, leaves what was there as it was.
"""

import argparse
import fcntl
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("docs", "examples", "hooks", "overrides", "mkdocs.yml", "requirements.txt")
WARNING = re.compile(r"^(WARNING|ERROR|CRITICAL)\b|\b\w*Warning: ")


class BuildFailure(Exception):
    """The site could not be built; the log says why."""


def check_site(site: Path, address: str) -> None:
    """Check what MkDocs cannot see: raw HTML links, languages that differ, leftover markers.

    Raises BuildFailure with the problems; their files are named as in the site.
    """
    languages = str(ROOT / "docs/_data/languages.yml")
    command = [sys.executable, "-m", "dabt.sitecheck", str(site), "--languages", languages]
    command += ["--address", address] if address else []
    done = subprocess.run(
        command,
        cwd=site,  # so that files are named as in the site
        env={**os.environ, "PYTHONPATH": str(ROOT / "hooks")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildFailure(f"the built site has problems:\n{done.stdout}")


def finish_site(site: Path, root: Path = ROOT) -> None:
    """Add what reading without a network needs: stamped addresses, the worker, the archive.

    Here and not in a hook: it needs the finished files of all languages, and `make serve` shall
    have no worker that answers with a page of before the last change.
    """
    languages = str(root / "docs/_data/languages.yml")
    command = [sys.executable, "-m", "dabt.offline", str(site), "--languages", languages]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT / "hooks")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise BuildFailure(f"the site cannot be made readable without a network:\n{done.stdout}")


def finish_and_check(site: Path, address: str) -> None:
    """What every build of the course goes through before it is published."""
    finish_site(site)
    check_site(site, address)


def build(
    target: Path,
    address: str = "",
    root: Path = ROOT,
    check: Callable[[Path, str], None] = finish_and_check,
) -> None:
    """Build the site of `root` into `target`, for the public `address` (empty: not known).

    Raises BuildFailure with the log, with the warnings in it, or with what `check` found.
    """
    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as folder:
        fresh = Path(folder) / "site"
        log = _mkdocs(fresh, address, root)
        if problems := [line for line in log.splitlines() if WARNING.search(line)]:
            raise BuildFailure("the build gave warnings:\n" + "\n".join(problems))
        check(fresh, address)
        _change_over(fresh, target, Path(folder) / "old")
    print(f"{target}: built in {time.monotonic() - started:.1f} s", flush=True)


def is_fresh(target: Path, address: str = "", root: Path = ROOT) -> bool:
    """Tell whether `target` was built for that address after the last change of a source."""
    stamp = _stamp(target)
    if not (stamp.exists() and target.exists()) or stamp.read_text() != address:
        return False
    built = stamp.stat().st_mtime
    return all(path.stat().st_mtime <= built for path in _sources(root))


def build_if_stale(
    target: Path,
    address: str = "",
    root: Path = ROOT,
    check: Callable[[Path, str], None] = finish_and_check,
) -> None:
    """Build when needed; of several processes that ask at once, one builds and the others wait."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_fresh(target, address, root):
            started = time.time()
            build(target, address, root, check)
            _stamp(target).write_text(address)
            # A source saved while the build ran was perhaps not read.
            os.utime(_stamp(target), (started, started))


def _stamp(target: Path) -> Path:
    return target.with_name(f"{target.name}.address")


def _mkdocs(site: Path, address: str, root: Path) -> str:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    # The theme's notice on MkDocs 2 is no warning of ours; the pins in requirements.txt answer it.
    settings = {"DABT_SITE_URL": address, "DABT_OFFLINE": "yes", "NO_MKDOCS_2_WARNING": "1"}
    environment = {**os.environ, **settings}
    done = subprocess.run(
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        message = f"mkdocs ended with status {done.returncode}"
        raise BuildFailure(f"{done.stdout}\n{message}: see its messages above")
    return done.stdout


def _change_over(fresh: Path, target: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise


def _sources(root: Path):
    for name in SOURCES:
        path = root / name
        if path.is_dir():
            yield from (one for one in path.rglob("*") if "__pycache__" not in one.parts)
        elif path.exists():
            yield path


def main(argv: list[str] | None = None) -> int:
    """Build the site as asked on the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "site", help="default: site/")
    parser.add_argument(
        "--address",
        default=os.environ.get("DABT_SITE_URL", ""),
        help="where the site will be served, ending in /; default: $DABT_SITE_URL, or none",
    )
    parser.add_argument("--if-stale", action="store_true", help="only when a source has changed")
    wanted = parser.parse_args(argv)
    try:
        action = build_if_stale if wanted.if_stale else build
        action(wanted.into.resolve(), wanted.address)
    except BuildFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
