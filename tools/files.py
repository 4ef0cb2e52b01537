"""The files of the project: what git knows or would add, so never a cache or an environment."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tools.environment import ROOT

# Without git (a downloaded archive): folders that commands make. Hidden ones are left out too.
MADE = {"site", "test-results", "__pycache__"}
SHOWN = {".ci", ".github"}


def project_files(*patterns: str, root: Path = ROOT) -> list[Path]:
    """Return the files whose path matches one of the patterns (all without any), sorted."""
    names = _known_to_git(root)
    files = map(root.joinpath, names) if names else _walk(root)
    chosen = (path for path in files if path.is_file() and _matches(path, patterns))
    return sorted(chosen)


def _known_to_git(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True)
    except FileNotFoundError:
        return []
    return [name for name in listed.stdout.decode().split("\0") if name]


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        hidden = path.name.startswith(".") and path.name not in SHOWN
        if path.is_file():
            yield path
        elif not hidden and path.name not in MADE:
            yield from _walk(path)


def _matches(path: Path, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(path.match(pattern) for pattern in patterns)
