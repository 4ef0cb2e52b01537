"""The laboratory of faults: each run is broken as it claims, and mended by its cure."""

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

from measure.troubleshooting import lab, overfit

FOLDER = Path(lab.__file__).parent
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
OVERFIT = json.loads((FOLDER / "overfit.json").read_text("utf-8"))


def record_again(module, flags: list[str], folder: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HERE", folder)
        module.main([*flags, "--record"])
    return folder


@pytest.fixture(scope="module")
def again(tmp_path_factory) -> Path:
    return record_again(lab, ["--tiny"], tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def new(again) -> dict:
    return json.loads((again / "record.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def cases(new) -> dict[str, dict]:
    return {case["id"]: case for case in new["cases"]}


def losses(new: dict, case: str, kind: str) -> list[float]:
    return [point["y"] for point in new[f"{case.replace('-', '_')}_{kind}"]]


def last(case: dict, kind: str) -> tuple[float, float]:
    return float(case[kind]["loss"]), float(case[kind]["grad_norm"])


# The record and the pages


def test_the_record_is_what_the_program_does(new) -> None:
    """Answers of the tests exactly; losses of so few steps within 10 %, bytes within 1 %."""
    assert list(new) == list(RECORD)
    for one, other in zip(new["cases"], RECORD["cases"], strict=True):
        assert one["id"] == other["id"]
        for kind in ("broken", "cured"):
            assert one[kind].keys() == other[kind].keys()
            assert one[kind]["test"] == other[kind]["test"], one["id"]
    for name in ("memory_grows_broken", "evaluation_memory_broken", "first_step_broken"):
        for one, other in zip(new[name], RECORD[name], strict=True):
            assert one.keys() == other.keys()
            for key, value in other.items():
                assert one[key] == (value if key == "id" else pytest.approx(value, rel=0.01))


def test_every_case_has_its_texts_and_its_regions(again) -> None:
    shown = {path.name for path in (FOLDER / "outputs").iterdir()} - {"overfit.txt"}
    assert shown == {path.name for path in (again / "outputs").iterdir()}
    assert shown == {f"{name}-{kind}.txt" for name in lab.CASES for kind in ("broken", "cured")}
    sources = "".join(path.read_text("utf-8") for path in FOLDER.glob("*_faults.py"))
    for name in lab.CASES:
        for kind in ("broken", "cure", "test"):
            assert sources.count(f"[start:{kind}-{name}]") == 1
            assert sources.count(f"[end:{kind}-{name}]") == 1


def test_a_cure_changes_one_or_two_lines(again) -> None:
    for name, case in lab.CASES.items():
        changes = [line for line in case.difference() if line[0] in "+-"]
        assert 1 <= len([line for line in changes if line[0] == "+"]) <= 2, name
        assert len(changes) <= 4, name
        text = (again / "outputs" / f"{name}-cured.txt").read_text("utf-8")
        assert "\n".join(changes[-1:]) in text


def test_what_is_broken_does_not_tell_its_cure(again) -> None:
    for name, case in lab.CASES.items():
        text = (again / "outputs" / f"{name}-broken.txt").read_text("utf-8")
        assert "cure" not in text
        assert f"test: {case.command()}\n" in text


def test_one_case_alone_hides_its_cure_until_it_is_asked_for(capsys) -> None:
    lab.main(["--case", "first-step"])
    assert "AdamW8bit" not in capsys.readouterr().out
    lab.main(["--case", "first-step", "--cure"])
    assert "+ return AdamW8bit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--case", "no-such"], "unknown case 'no-such'"),
        ([], "no case is named"),
        (["--case", "loss-zero", "--record"], "--record keeps all cases together"),
    ],
)
def test_a_wrong_command_says_what_to_do(flags: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        lab.main(flags)
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    assert message in stopped.value.code


# Each fault


def test_without_an_end_in_the_labels_no_answer_stops(cases) -> None:
    case = cases["never-stops"]
    assert (case["broken"]["test"], case["broken"]["stopped"]) == (0, 0)
    assert case["cured"]["test"] == 16
    assert case["cured"]["stopped"] == case["cured"]["asked"]


def test_masked_labels_and_nan_are_told_apart_by_the_gradient(cases) -> None:
    """Both log a loss of 0; the norm is 0 where nothing is learnt, and no number after a NaN."""
    assert last(cases["loss-zero"], "broken") == (0.0, 0.0)
    loss, norm = last(cases["loss-zero-later"], "broken")
    assert loss == 0.0
    assert math.isnan(norm)
    for name in ("loss-zero", "loss-zero-later"):
        loss, norm = last(cases[name], "cured")
        assert 0 < loss < 1
        assert norm > 0


def test_the_nan_comes_from_one_row(new) -> None:
    seen = losses(new, "loss-zero-later", "broken")
    assert seen[0] > 2
    assert seen[-1] == 0


def test_a_rate_that_is_too_high_is_worse_than_guessing(new, cases) -> None:
    assert max(losses(new, "loss-rises", "broken")) > 2 * math.log(2048)
    assert losses(new, "loss-rises", "cured")[-1] < 0.2
    assert (cases["loss-rises"]["broken"]["test"], cases["loss-rises"]["cured"]["test"]) == (
        True,
        False,
    )


def test_an_adapter_that_the_optimiser_does_not_have_stays_as_it_is(cases) -> None:
    broken, cured = (cases["loss-flat"][kind] for kind in ("broken", "cured"))
    assert broken["before"] == broken["after"] == cured["before"]
    assert float(broken["grad_norm"]) > 0
    assert cured["after"] < 0.3 * cured["before"]


def test_fp16_weights_cannot_be_unscaled(again) -> None:
    broken = (again / "outputs/unscale-error-broken.txt").read_text("utf-8")
    assert "ValueError: Attempting to unscale FP16 gradients." in broken
    assert "Error" not in (again / "outputs/unscale-error-cured.txt").read_text("utf-8")


def test_another_template_loses_what_was_learnt(cases) -> None:
    broken, cured = (cases["answers-empty"][kind] for kind in ("broken", "cured"))
    assert broken["loss"] == cured["loss"]
    assert broken["right"] == 0
    assert cured["right"] >= 2


def test_without_its_moments_a_resumed_run_is_another_run(cases) -> None:
    assert cases["resume-jumps"]["broken"]["apart"] > 0.02
    assert cases["resume-jumps"]["cured"]["apart"] == 0


def test_a_leak_makes_the_unknowable_known(new) -> None:
    """Numbers drawn at random: whoever has not read them cannot know them."""
    assert losses(new, "too-good", "broken")[-1] < 1.5
    honest = losses(new, "too-good", "cured")
    assert honest[-1] > 3
    assert honest[-1] > honest[0]


def test_the_states_come_with_the_first_step(new) -> None:
    for kind, each in (("broken", 8.0), ("cured", 2.0)):
        phases = {row["id"]: row for row in new[f"first_step_{kind}"]}
        parameters = phases["load"]["after"] / 4
        states = phases["step"]["after"] - phases["backward"]["after"]
        assert states / parameters == pytest.approx(each, abs=0.1)
        assert phases["backward"]["after"] == pytest.approx(8 * parameters, rel=0.01)
    peaks = {row["id"]: row["peak"] for row in new["first_step_broken"]}
    assert max(peaks, key=peaks.get) == "step"


def test_a_kept_loss_keeps_what_made_it(new) -> None:
    broken = losses(new, "memory-grows", "broken")
    steps = [b - a for a, b in pairwise(broken)]
    assert min(steps) > 1e7
    assert len(set(losses(new, "memory-grows", "cured"))) == 1


def test_an_evaluation_keeps_all_logits_unless_they_are_reduced(new, cases) -> None:
    broken, cured = (losses(new, "evaluation-memory", kind) for kind in ("broken", "cured"))
    assert broken[-1] > 6 * broken[0]
    assert cured[-1] < 1.5 * cured[0]
    pair = cases["evaluation-memory"]
    assert pair["broken"]["test"] == 4 * 2048
    assert pair["broken"]["accuracy"] == pair["cured"]["accuracy"]


# One batch first


def test_one_batch_tells_sound_trainings_from_broken_ones(tmp_path: Path) -> None:
    folder = record_again(overfit, ["--tiny"], tmp_path)
    new = json.loads((folder / "overfit.json").read_text("utf-8"))
    assert list(new) == list(OVERFIT)
    verdicts = {row["id"]: row["verdict"] for row in new["verdicts"]}
    assert verdicts == {row["id"]: row["verdict"] for row in OVERFIT["verdicts"]}
    assert len(set(verdicts.values())) == len(verdicts) == 4
    assert new["loss_after"] < overfit.LEARNT < 1 < new["loss_before"]
    assert new["peak_memory_bytes"] == pytest.approx(new["predicted_memory_bytes"], rel=0.1)


@pytest.mark.parametrize(
    ("seen", "word"),
    [
        ([3.0, 0.04], "sound"),
        ([3.0, math.nan], "labels"),
        ([0.0], "labels"),
        ([3.0, 2.99], "trained"),
        ([3.0, 9.0, 2.0], "lower"),
        ([3.0, 2.0, 1.0], "more steps"),
    ],
)
def test_what_the_losses_of_one_batch_mean(seen: list[float], word: str) -> None:
    assert word in overfit.verdict(seen)
