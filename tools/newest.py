"""Runs the programs of the course on the newest libraries, so that an update brings no surprise.

    python3 -m tools.newest               # .venv-newest, then the tests of the programs
    python3 -m tools.newest --report r.md  # writes what failed there; empty when all passed

The pins are dropped, nothing else; what a page says still holds for the pinned versions.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.environment import ENVIRONMENTS, ROOT, EnvironmentFailure, ensure

PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.\-\[\],]*)\s*[=<>~!].*$", re.MULTILINE)
LAST = 60


def without_pins(requirements: str) -> str:
    """Return the text of a requirements file with every version dropped, the rest as it is."""
    return PIN.sub(r"\g<name>", requirements)


def make_environment(root: Path = ROOT) -> Path:
    """Make the environment afresh, with what is newest today; return its interpreter."""
    texts = [(root / name).read_text("utf-8") for name in ENVIRONMENTS["examples"].requirements]
    newest = ENVIRONMENTS["newest"]
    listed = root / newest.requirements[0]
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(without_pins("\n".join(texts)), encoding="utf-8")
    shutil.rmtree(root / newest.folder, ignore_errors=True)
    return ensure("newest", root)


def report(output: str, versions: str) -> str:
    """Return the text of the standing issue: versions, then the end of what the tests printed."""
    end = "\n".join(output.splitlines()[-LAST:])
    return (
        "The programs of the course fail on the newest libraries. Readers are on the pinned ones, "
        "so nothing is urgent: mend the programs, then raise the pins.\n\n"
        f"```text\n{versions.strip()}\n```\n\n```text\n{end}\n```\n"
    )


def main(words: list[str]) -> int:
    """Make the environment and run the tests; return their exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--report", type=Path)
    choice = parser.parse_args(words)
    try:
        python = str(make_environment())
    except EnvironmentFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    names = ("torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes", "datasets")
    asked = f"from importlib.metadata import version; [print(n, version(n)) for n in {names}]"
    versions = subprocess.run([python, "-c", asked], text=True, stdout=-1).stdout
    print(versions, flush=True)
    command = [python, "-m", "pytest", "-q", "tests/examples", "-n", "2", "--dist", "loadfile"]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=-1, stderr=subprocess.STDOUT)
    print(done.stdout)
    if choice.report:
        text = report(done.stdout, versions) if done.returncode else ""
        choice.report.write_text(text, encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
