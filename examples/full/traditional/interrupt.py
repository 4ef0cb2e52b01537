"""Kill a training in the middle, resume it, and compare it with one that nothing disturbed.

    python examples/full/traditional/interrupt.py --record

The kill is SIGKILL: like a power cut or a session that ends, it leaves the program no time to save
anything. What counts is then the last complete checkpoint. About a minute on the processor.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record

HERE = Path(__file__).resolve().parent
EPOCHS = "5"  # then there is a checkpoint at every line of the log, and the lines can be compared


def command(output: Path, *more: str) -> list[str]:
    """Write the command line of a short tiny run."""
    program = str(HERE / "train.py")
    return [sys.executable, program, "--tiny", "--epochs", EPOCHS, "--output", str(output), *more]


def kill_after(output: Path, checkpoint: str, seconds: float = 300) -> str:
    """Start a run, kill it once this checkpoint is complete; name the last checkpoint it left."""
    process = subprocess.Popen(
        command(output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    limit = time.monotonic() + seconds
    while not (output / checkpoint / "trainer_state.json").exists():
        if process.poll() is not None or time.monotonic() > limit:
            process.kill()
            guard.stop(f"no {checkpoint} was written in {output}", "run train.py --tiny to see why")
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return Path(guard.last_checkpoint(output, resume=True)).name


def run(output: Path, *more: str) -> None:
    """Run to the end."""
    subprocess.run(command(output, *more), check=True, capture_output=True)


def losses(output: Path) -> dict[int, float]:
    """Read the training losses by step that a finished run left."""
    log = json.loads((output / "trainer_state.json").read_text("utf-8"))["log_history"]
    return {entry["step"]: entry["loss"] for entry in log if "loss" in entry}


def same_weights(one: Path, other: Path) -> bool:
    """Compare two models bit by bit."""
    first, second = (load_file(folder / "model.safetensors") for folder in (one, other))
    return all(first[name].equal(second[name]) for name in first)


def compare(left: dict[int, float], right: dict[int, float], last: str, equal: bool) -> str:
    """Write the two runs' losses side by side."""
    lines = [
        f"killed after {last}, then resumed from it",
        "step   undisturbed   killed and resumed",
    ]
    lines += [f"{step:4} {left[step]:13.4f} {right[step]:20.4f}" for step in sorted(right)]
    answer = "the same" if left == right else "DIFFERENT"
    return "\n".join(
        [*lines, f"losses: {answer}", f"weights: {'the same' if equal else 'DIFFERENT'}"]
    )


def main(argv: list[str] | None = None) -> None:
    """Run undisturbed, run and kill, resume, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="refresh outputs/resume.txt")
    options = parser.parse_args(argv)
    with TemporaryDirectory() as folder:
        quiet, killed = Path(folder, "quiet"), Path(folder, "killed")
        run(quiet)
        last = kill_after(killed, "checkpoint-60")
        run(killed, "--resume")
        text = compare(losses(quiet), losses(killed), last, same_weights(quiet, killed))
    record.show(text, HERE if options.record else None, "resume.txt")


if __name__ == "__main__":
    main()
