"""Virtual environments made on demand, and made again when what they were made from has changed.

python3 -m tools.environment site        # .venv with what the site needs
python3 -m tools.environment dev         # the same, with the tools of the checks
python3 -m tools.environment examples    # .venv-examples with torch, for the programs
"""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH_INDEX = "DABT_TORCH_INDEX"


class EnvironmentFailure(Exception):
    """An environment could not be made; the message says why and what mends it."""


@dataclass(frozen=True)
class Environment:
    """A folder and what is installed there; `constraints` pins the names listed in `packages`."""

    folder: str
    requirements: tuple[str, ...]
    packages: tuple[str, ...] = ()
    constraints: str = ""
    duration: str = "about a minute"


ENVIRONMENTS = {
    "site": Environment(".venv", ("requirements.txt",)),
    "dev": Environment(".venv", ("requirements.txt", "requirements-dev.txt")),
    "examples": Environment(
        ".venv-examples",
        ("examples/requirements.txt", "examples/measure/evaluation/requirements.txt"),
        ("pytest", "pytest-xdist", "Markdown"),
        "requirements-dev.txt",
        "2 to 5 minutes",
    ),
    # Its requirements are those of the examples without their versions: tools/newest.py.
    "newest": Environment(
        ".venv-newest",
        (".build/newest.txt",),
        ("pytest", "pytest-xdist", "Markdown"),
        "requirements-dev.txt",
        "5 to 10 minutes",
    ),
}


def python_of(name: str, root: Path = ROOT) -> Path:
    """Return the interpreter of an environment, whether it exists yet or not."""
    return root / ENVIRONMENTS[name].folder / "bin" / "python"


def fingerprint(environment: Environment, root: Path = ROOT) -> str:
    """Return what the state of an environment depends on, as a digest."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}{environment.packages}".encode())
    for name in (*environment.requirements, environment.constraints):
        digest.update((root / name).read_bytes() if name else b"")
    return digest.hexdigest()


def is_ready(name: str, root: Path = ROOT) -> bool:
    """Tell whether an environment exists and was made from the present requirements."""
    stamp = _stamp(name, root)
    return (
        python_of(name, root).exists()
        and stamp.exists()
        and stamp.read_text() == fingerprint(ENVIRONMENTS[name], root)
    )


def ensure(name: str, root: Path = ROOT) -> Path:
    """Make an environment when it is missing or stale; return its interpreter."""
    python = python_of(name, root)
    if is_ready(name, root):
        return python
    environment = ENVIRONMENTS[name]
    print(f"Installing into {environment.folder} ({environment.duration}, once) ...", flush=True)
    if not _works(python):
        _create(root / environment.folder)
    _run([str(python), "-m", "pip", "install", *pip_arguments(environment, root)])
    _stamp(name, root).write_text(fingerprint(environment, root))
    return python


def pip_arguments(environment: Environment, root: Path = ROOT) -> list[str]:
    """Return what follows `pip install` for an environment."""
    arguments = ["--quiet", "--disable-pip-version-check"]
    for name in environment.requirements:
        arguments += ["-r", str(root / name)]
    if environment.constraints:
        arguments += ["-c", str(root / environment.constraints)]
    # Optional: on a machine without a GPU, PyTorch's own list of CPU builds saves several GB.
    if index := os.environ.get(TORCH_INDEX):
        arguments += ["--extra-index-url", index]
    return [*arguments, *environment.packages]


def _stamp(name: str, root: Path) -> Path:
    return root / ENVIRONMENTS[name].folder / f"dabt-{name}.sha256"


def _works(python: Path) -> bool:
    """Tell whether the interpreter starts, has pip and is of the version that runs this."""
    question = "import pip, sys; print(sys.version_info[:2])"
    try:
        answer = subprocess.run([str(python), "-c", question], capture_output=True, text=True)
    except OSError:
        return False
    return answer.stdout.strip() == str(sys.version_info[:2])


def _create(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True
    )
    if made.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise EnvironmentFailure(
            f"{sys.executable} cannot make a virtual environment:\n{made.stdout}{made.stderr}\n"
            f"  mend: on Debian or Ubuntu, sudo apt install python{version}-venv"
        )


def _run(command: list[str]) -> None:
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode:
        raise EnvironmentFailure(
            f"this command failed: {' '.join(command)}\n  mend: see what pip said above"
        )


def main(names: list[str]) -> int:
    """Make the named environments; return the exit status."""
    unknown = [name for name in names if name not in ENVIRONMENTS]
    if unknown or not names:
        print(f"usage: python3 -m tools.environment {'|'.join(ENVIRONMENTS)}", file=sys.stderr)
        return 2
    try:
        for name in names:
            ensure(name)
    except EnvironmentFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
