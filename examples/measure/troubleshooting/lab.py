"""The laboratory of faults: runs that are broken on purpose, to be diagnosed from what they show.

Chapter measure/troubleshooting of the course. Each fault is a few lines, in learning_faults.py,
setup_faults.py or memory_faults.py; it runs on the tiny base, on the processor, offline.

    python examples/measure/troubleshooting/lab.py --tiny              every fault, a minute
    python examples/measure/troubleshooting/lab.py --case never-stops  one: what is wrong with it?
    python examples/measure/troubleshooting/lab.py --case never-stops --cure    its cure, and again

The faults are the same on any card; what to do there with a real model is in overfit.py.
"""

import argparse
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser
from measure.troubleshooting import learning_faults, memory_faults, setup_faults
from measure.troubleshooting.short_runs import Case, Seen

HERE = Path(__file__).resolve().parent

CASES = learning_faults.CASES | setup_faults.CASES | memory_faults.CASES
SHOWN = 6  # lines of a log


def show_log(log: list[dict]) -> list[str]:
    """Show a few steps of a log: the first ones, then at equal distances."""
    if not log:
        return []
    places = {round(i * (len(log) - 1) / (SHOWN - 1)) for i in range(SHOWN)}
    lines = ["step      loss   grad_norm"]
    for place in sorted(places):
        one = log[place]
        lines.append(f"{one['step']:4.0f} {one['loss']:9.4f} {one['grad_norm']:11.4f}")
    return lines


def describe(name: str, case: Case, seen: Seen) -> str:
    """Show what a reader would see, then the test of the cause and its answer."""
    parts = [f"case {name}", *show_log(seen.log), *seen.lines]
    return "\n".join([*parts, "", f"test: {case.command()}", f"      {seen.test}"])


def points(seen: Seen) -> list[dict]:
    """Give the points of a run's figure; JSON has no NaN, so a loss that is none ends the line."""
    if seen.curve:
        return seen.curve
    finite = [one for one in seen.log if math.isfinite(one["loss"])]
    return [{"x": int(one["step"]), "y": one["loss"]} for one in finite]


def facts_of(seen: Seen) -> dict:
    """Gather what the record keeps of a run besides its curve."""
    kept = {"test": seen.test, **seen.facts}
    if seen.log:
        last = seen.log[-1]
        kept |= {key: str(last[key]) for key in ("loss", "grad_norm")}
    return kept


def run_case(name: str, cure: bool, folder: Path | None) -> dict:
    """Run a fault, and with --cure its cure too."""
    case, kept = CASES[name], {}
    seen = case.run(case.broken)
    record.show(describe(name, case, seen), folder, f"{name}-broken.txt")
    kept["broken"] = seen
    if cure:
        seen = case.run(case.cured)
        text = describe(name, case, seen)
        record.show(
            "\n".join(["", "cure", *case.difference(), "", text]).lstrip("\n"),
            folder,
            f"{name}-cured.txt",
        )
        kept["cured"] = seen
    return kept


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="run every fault")
    parser.add_argument("--case", help=f"one of: {', '.join(CASES)}")
    parser.add_argument("--cure", action="store_true", help="show the cure, and run again with it")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Run what is asked for."""
    options = read_options(argv)
    if options.case and options.case not in CASES:
        guard.stop(f"unknown case '{options.case}'", f"choose --case {', '.join(CASES)}")
    if not (options.case or options.tiny):
        guard.stop("no case is named", "name one with --case, or run all of them with --tiny")
    if options.record and options.case:
        guard.stop("--record keeps all cases together", "leave --case out")
    guard.hush()
    folder, started = HERE if options.record else None, time.process_time()
    results = {}
    for name in [options.case] if options.case else CASES:
        results[name] = run_case(name, options.cure or options.record, folder)
        print("\n" + "-" * 60 + "\n", flush=True)
    if folder:
        lines = {
            f"{name.replace('-', '_')}_{kind}": points(seen)
            for name, kept in results.items()
            for kind, seen in kept.items()
        }
        cases = [
            {"id": name} | {kind: facts_of(seen) for kind, seen in kept.items()}
            for name, kept in results.items()
        ]
        seconds = time.process_time() - started
        record.write(HERE, {"seconds": round(seconds, 1), "cases": cases} | lines)


if __name__ == "__main__":
    main()
