"""The smoke test of chapter start/choose: a yes that can be trusted, and a no with its cure."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from common import guard
from memory import PRESETS, Run, predict
from start.choose import smoke

FOLDER = Path(smoke.__file__).parent
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
PAIR = r"error: [^\n]+\n  mend: [^\n]+\n"


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> dict:
    """What a run records here; the run itself must say yes."""
    folder = tmp_path_factory.mktemp("again")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smoke, "HERE", folder)
        assert smoke.main(["--tiny", "--record"]) == 0
    texts = {path.name: path.read_text("utf-8") for path in (folder / "outputs").iterdir()}
    return {"record": json.loads((folder / "record.json").read_text("utf-8")), "texts": texts}


def pinned(folder: Path, *lines: str) -> Path:
    file = folder / "requirements.txt"
    file.write_text("\n".join(lines))
    return file


# Yes


def test_the_record_is_what_the_program_does(again) -> None:
    """Formulas exactly, losses within 0.01; speeds belong to the machine."""
    new, old = again["record"], RECORD
    assert list(new) == list(old)
    for name in ("seed", "device", "precision", "card_bytes", "length", "needs"):
        assert new[name] == old[name], name
    assert new["step"] == pytest.approx(old["step"], abs=0.01)
    for one, other in zip(new["arithmetic"], old["arithmetic"], strict=True):
        assert one | {"gflops": 0} == other | {"gflops": 0} and one["gflops"] > 0


def test_the_texts_on_the_page_come_from_this_run(again) -> None:
    names = sorted(again["texts"])
    assert names == ["arithmetic.txt", "fits.txt", "step.txt", "versions.txt"]
    shown = {name: (FOLDER / "outputs" / name).read_text("utf-8") for name in names}
    assert shown["fits.txt"] == again["texts"]["fits.txt"]
    pins = again["texts"]["versions.txt"].splitlines()
    assert set(shown["versions.txt"].splitlines()) <= set(pins), "a pin was added since, or changed"
    assert shown["step.txt"].startswith(f"one step: loss {RECORD['step']['before']:.3f}, then")


def test_the_step_is_a_real_one(again) -> None:
    step = again["record"]["step"]
    assert step["after"] < 0.9 * step["before"] and 0 < step["grad_norm"] < 100


def test_a_step_under_autocast_is_nearly_the_same() -> None:
    """What a GPU does, on the processor."""
    half, whole = (smoke.train_one_step("cpu", kind, 42) for kind in ("bf16", "fp32"))
    assert half["before"] == pytest.approx(whole["before"], rel=0.02)
    assert smoke.check_step(half) == []


def test_the_program_as_a_reader_starts_it(tmp_path: Path) -> None:
    command = [sys.executable, FOLDER / "smoke.py", "--tiny"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("ready: yes\n")


# No


def test_a_computer_without_packages_gets_the_list_and_status_1(tmp_path: Path) -> None:
    """Really without: Python does not look at what is installed."""
    command = [sys.executable, "-S", FOLDER / "smoke.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.endswith("ready: no\n")
    assert re.fullmatch(f"(?:{PAIR})+", done.stderr)
    pins = smoke.read_pins(smoke.REQUIREMENTS)
    assert len(pins) == done.stderr.count("is missing") >= 9
    assert f"mend: python -m pip install torch=={pins['torch']}\n" in done.stderr


def test_another_version_is_a_no_although_the_step_works(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(smoke, "REQUIREMENTS", pinned(tmp_path, "numpy==1.0.0  # old", "# no"))
    assert smoke.main(["--tiny"]) == 1
    shown = capsys.readouterr()
    assert re.fullmatch(
        r"error: numpy is [\d.]+, not 1\.0\.0\n  mend: .+numpy==1\.0\.0\n", shown.err
    )
    assert "one step: loss" in shown.out and shown.out.endswith("ready: no\n")


def test_a_build_for_the_processor_is_the_same_version(monkeypatch) -> None:
    monkeypatch.setattr(smoke, "version", lambda name: "2.13.0+cpu")
    assert smoke.find_versions(["torch"]) == {"torch": "2.13.0"}


def test_an_old_python(monkeypatch) -> None:
    monkeypatch.setattr(smoke, "PYTHON", (9, 9))
    (problem,) = smoke.check_versions({}, {})
    assert problem.mend == "install Python 9.9 or later"


@pytest.mark.parametrize("rate", [0.0, 1e30])
def test_a_loss_that_does_not_fall_is_a_no(rate: float, monkeypatch, capsys) -> None:
    monkeypatch.setattr(smoke, "LEARNING_RATE", rate)
    assert smoke.main(["--tiny"]) == 1
    assert re.fullmatch(PAIR, capsys.readouterr().err)


@pytest.mark.parametrize("flags", [["--length", "0"], ["--memory", "-3"]])
def test_impossible_sizes(flags: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"^error: [^\n]+\n  mend: [^\n]+$"):
        smoke.main(["--tiny", *flags])


# What fits


def test_the_table_is_that_of_the_formulas() -> None:
    needs = {row["model"]: row for row in smoke.list_needs(512)}
    assert set(needs) == set(PRESETS)
    for name, method in (("llama-3.1-8b", "qlora"), ("qwen2.5-0.5b", "full")):
        assert needs[name][method] == predict(Run(PRESETS[name], method=method)).total
    assert all(row["full"] > row["lora"] > row["qlora"] for row in needs.values())


def test_brackets_are_what_does_not_fit() -> None:
    needs = smoke.list_needs(512)
    for memory, method, largest in ((15.6, "full", "qwen3-0.6b"), (15.6, "qlora", "qwen3-8b")):
        fitting = [row["model"] for row in needs if row[method] <= memory * 1e9]
        assert fitting[-1] == largest
    lines = smoke.write_needs(needs, 15.6e9).splitlines()[1:]
    assert [line.count("(") for line in lines] == [
        sum(row[method] > 15.6e9 for method in smoke.METHODS) for row in needs
    ]


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (guard.Card("CPU", 0, "fp32"), "device   CPU: fp32"),
        (guard.Card("Tesla T4", 15_600_000_000, "fp16"), "15.6 GB: fp16 over fp32 weights"),
        (guard.Card("A100", 85_000_000_000, "bf16"), "85.0 GB: bf16 over fp32 weights"),
    ],
)
def test_the_card_and_its_arithmetic(card: guard.Card, said: str) -> None:
    assert said in smoke.describe(card, 10**10, 10**9)


def test_the_markers_of_each_region_count_from_one() -> None:
    text = (FOLDER / "smoke.py").read_text("utf-8")
    regions = re.findall(r"\[start:([a-z]+)\](.*?)\[end:\1\]", text, re.DOTALL)
    assert [name for name, _ in regions] == ["versions", "arithmetic", "fits", "step", "verdict"]
    for name, body in regions:
        markers = [int(number) for number in re.findall(r"# \((\d+)\)!", body)]
        assert markers == list(range(1, len(markers) + 1)) and 1 <= len(markers) <= 5, name
