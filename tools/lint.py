"""Runs every check that reads sources only, and counts them.

python -m tools.lint
"""

import subprocess
import sys
from pathlib import Path

from tools.environment import ROOT
from tools.files import project_files

QUIZ_SCHEMA = Path("docs/_data/quiz.schema.json")


def commands() -> dict[str, list[str]]:
    """Return name → command; a check that has no file to read is left out."""
    python = [sys.executable, "-m"]
    found = {
        "format": [*python, "ruff", "format", "--check", "--quiet", "."],
        "lint of Python": [*python, "ruff", "check", "--quiet", "."],
        "YAML": [*python, "yamllint", "--strict", *_names("*.yml", "*.yaml")],
        # Its module looks for its program on the PATH, where an environment need not be.
        "Markdown": [str(Path(sys.executable).with_name("rumdl")), "check", *_names("*.md")],
        "quiz files against their schema": [
            *(*python, "check_jsonschema", "--quiet", "--schemafile", str(QUIZ_SCHEMA)),
            *_names("docs/_data/quizzes/*.yml"),
        ],
        "workflows against their schema": [
            *(
                *python,
                "check_jsonschema",
                "--quiet",
                "--builtin-schema",
                "vendor.github-workflows",
            ),
            *_names(".github/workflows/*.yml"),
        ],
        "rights of workflows": [
            *(str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet"),
            *_names(".github/workflows/*.yml"),
        ],
        "invisible characters": [*python, "tools.text_lint"],
        "contrast of colours": [*python, "tools.contrast"],
        "data of the course": [*python, "dabt", "check"],
    }
    if not (ROOT / QUIZ_SCHEMA).exists():
        del found["quiz files against their schema"]
    if not (ROOT / "hooks/dabt/__main__.py").exists():
        del found["data of the course"]
    return found


def passes(name: str, command: list[str]) -> bool:
    """Run one check; its output is shown only when it fails."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {name}", flush=True)
    if done.returncode:
        print(done.stdout)
    return done.returncode == 0


def _names(*patterns: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in project_files(*patterns)]


def main() -> int:
    """Run all checks; return the exit status."""
    results = [passes(name, command) for name, command in commands().items()]
    # For information: what lags behind never fails a check.
    subprocess.run([sys.executable, "-m", "dabt", "status", "--all"], cwd=ROOT)
    subprocess.run([sys.executable, "-m", "tools.spelling"], cwd=ROOT)
    print(f"lint: {sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
