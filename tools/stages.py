"""Runs the checks, shows the time of each, and ends with a table.

    python3 -m tools.stages                 # all of them: what `make test` does
    python3 -m tools.stages lint unit       # some of them, in the order of the table

Every stage runs even when one before it failed, so that one run shows everything there is to mend.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tools.environment import ROOT, EnvironmentFailure, ensure, python_of

# The site is built for an address with a path, since a root link works everywhere else.
ADDRESS = "https://dabt.example/course/"
HOSTED = ".build/host/course"
PLAIN = ".build/plain"


@dataclass(frozen=True)
class Stage:
    """A name, what it is for in a few words, the environment it runs in and its commands."""

    name: str
    purpose: str
    environment: str
    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """How a stage ended: its seconds, and `passed`, `failed` or `not run`."""

    name: str
    seconds: float
    ended: str


def _pytest(*arguments: str) -> tuple[str, ...]:
    return ("-m", "pytest", "-q", *arguments)


NOT_UNIT = ("examples", "site", "browser")
STAGES = (
    Stage("lint", "format, lint, data files, invisible characters", "dev", (("-m", "tools.lint"),)),
    Stage(
        "unit",
        "the package and the tools",
        "dev",
        (_pytest("tests", *(f"--ignore=tests/{name}" for name in NOT_UNIT)),),
    ),
    Stage(
        "build",
        "strict, with an address and without",
        "dev",
        (
            ("-m", "tools.build_site", "--into", HOSTED, "--address", ADDRESS, "--if-stale"),
            ("-m", "tools.build_site", "--into", PLAIN, "--address", "", "--if-stale"),
        ),
    ),
    Stage("site", "what was built, file by file", "dev", (_pytest("tests/site"),)),
    Stage("links", "every link and #section, by lychee", "dev", (("-m", "tools.links", HOSTED),)),
    Stage(
        "browser",
        "the pages in Chromium",
        "browser",
        (_pytest("tests/browser", "-n", "2", "--ignore=tests/browser/test_axe.py"),),
    ),
    Stage(
        "axe",
        "accessibility, by axe-core",
        "browser",
        (_pytest("tests/browser/test_axe.py", "-n", "2"),),
    ),
    Stage(
        "examples",
        "the programs of the course",
        "examples",
        (_pytest("tests/examples", "-n", "2", "--dist", "loadfile"),),
    ),
)


def run_all(stages: Iterable[Stage]) -> list[Outcome]:
    """Prepare what the stages need and run them; the preparation is timed as a stage too."""
    stages = list(stages)
    outcomes: list[Outcome] = []
    ready: dict[str, bool] = {}
    for stage in stages:
        if stage.environment not in ready:
            made = timed(f"{stage.environment} ready", _preparation(stage.environment))
            ready[stage.environment] = made.ended == "passed"
            outcomes.append(made)
        if ready[stage.environment]:
            outcomes.append(timed(stage.name, lambda stage=stage: _run(stage), stage.purpose))
        else:
            outcomes.append(Outcome(stage.name, 0.0, "not run"))
    return outcomes


def timed(name: str, action: Callable[[], bool], purpose: str = "") -> Outcome:
    """Run an action under a headline; return how it ended and how long it took."""
    print(f"\n=== {name}{f' · {purpose}' if purpose else ''}", flush=True)
    started = time.monotonic()
    ended = "passed" if action() else "failed"
    seconds = time.monotonic() - started
    print(f"=== {name}: {ended} in {seconds:.1f} s", flush=True)
    return Outcome(name, seconds, ended)


def table(outcomes: list[Outcome]) -> str:
    """Return stage, seconds and end in columns, then the line that counts them."""
    width = max(len(one.name) for one in outcomes)
    rows = [f"{one.name:<{width}}  {one.seconds:7.1f} s  {one.ended}" for one in outcomes]
    total = sum(one.seconds for one in outcomes)
    passed = sum(one.ended == "passed" for one in outcomes)
    return "\n".join(
        [
            *rows,
            f"{'total':<{width}}  {total:7.1f} s",
            "",
            f"stages: {passed} passed, {len(outcomes) - passed} failed",
        ]
    )


def _preparation(environment: str) -> Callable[[], bool]:
    return _browser_ready if environment == "browser" else lambda: _environment_ready(environment)


def _environment_ready(name: str) -> bool:
    try:
        ensure(name)
    except EnvironmentFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return False
    return True


def _browser_ready() -> bool:
    return _environment_ready("dev") and _python("dev", ("-m", "tools.browser"))


def _run(stage: Stage) -> bool:
    environment = "dev" if stage.environment == "browser" else stage.environment
    # A list, not a generator: a failed command must not hide the next one.
    return all([_python(environment, command) for command in stage.commands])


def _python(environment: str, command: tuple[str, ...]) -> bool:
    # One thread per process: two fight for the same cores and both lose.
    settings = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": str(ROOT / "hooks")}
    done = subprocess.run(
        [str(python_of(environment)), *command], cwd=ROOT, env=settings, stdin=subprocess.DEVNULL
    )
    return done.returncode == 0


def main(names: list[str]) -> int:
    """Run the named stages, or all; return 0 when each of them passed."""
    known = [stage.name for stage in STAGES]
    if unknown := [name for name in names if name not in known]:
        print(f"error: no stage {unknown[0]!r}\n  mend: one of {', '.join(known)}", file=sys.stderr)
        return 2
    outcomes = run_all(stage for stage in STAGES if not names or stage.name in names)
    print(f"\n{table(outcomes)}", flush=True)
    return 0 if all(one.ended == "passed" for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
