"""The two programs of chapter full/precision-and-memory, by what they really compute."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from common.programs import EXAMPLES, load
from memory import PRESETS, Run, predict

lab = load("full/precision-and-memory/lab.py")
levers = load("full/precision-and-memory/levers.py")
FOLDER = EXAMPLES / "full/precision-and-memory"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
LADDER = json.loads((FOLDER / "levers.json").read_text("utf-8"))


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def refusal(main, *arguments: str) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


@pytest.fixture(scope="module")
def ids() -> torch.Tensor:
    torch.manual_seed(LADDER["settings"]["seed"])
    size = (LADDER["settings"]["rows"], LADDER["settings"]["length"])
    return torch.randint(0, levers.TINY.vocabulary, size)


# Types


def test_what_the_types_hold() -> None:
    types = {name: lab.describe(name) for name in lab.TYPES}
    assert [types[name]["exponent_bits"] for name in ("fp32", "bf16", "fp16")] == [8, 8, 5]
    assert [types[name]["fraction_bits"] for name in ("fp32", "bf16", "fp16")] == [23, 7, 10]
    assert types["fp16"]["max"] == 65504 and types["bf16"]["max"] > 3.3e38
    assert types["bf16"]["eps"] == 2**-7 and types["fp16"]["eps"] == 2**-10
    assert types["fp16"]["smallest_normal"] == pytest.approx(6.1e-5, rel=1e-2)
    assert list(types.values()) == RECORD["types"]


def test_overflow_underflow_and_lost_additions() -> None:
    found = {row["id"]: row for row in lab.example_rows()}
    assert found["70000"]["fp16"] == float("inf") and found["70000"]["bf16"] == 70144
    assert found["1e-8"]["fp16"] == 0 and found["1e-8"]["bf16"] > 0
    assert found["1 + 0.001"]["bf16"] == 1 and found["1 + 0.001"]["fp16"] > 1
    assert found["0.01 - 0.00002"]["bf16"] == torch.tensor(0.01, dtype=torch.bfloat16).item()
    assert found["1 added 1000 times"] == {
        "id": "1 added 1000 times",
        "fp32": 1000,
        "bf16": 256,
        "fp16": 1000,
    }
    assert text("types.txt") == lab.type_table(RECORD["types"], lab.example_rows()) + "\n"


# Updates


def test_small_steps_do_not_move_bf16_weights() -> None:
    found = lab.update_rows(RECORD["settings"]["seed"])
    for name, points in found.items():
        for new, old in zip(points, RECORD[f"updates_{name}"], strict=True):
            assert new == pytest.approx(old, abs=0.005), name
    share = {point["x"]: point["y"] for point in found["bf16"]}
    assert share[1e-5] == pytest.approx(0.15, abs=0.01)
    assert share[2e-5] == pytest.approx(0.30, abs=0.01), "70 % never move"
    assert share[5e-5] == pytest.approx(0.56, abs=0.01)
    assert share[2e-4] == pytest.approx(0.998, abs=0.002)
    assert all(point["y"] == 1 for point in found["fp32"])


def test_the_share_is_what_half_a_step_of_bf16_says() -> None:
    pairs = zip(RECORD["updates_bf16"], RECORD["updates_predicted"], strict=True)
    for measured, predicted in pairs:
        assert measured["y"] == pytest.approx(predicted["y"], abs=0.005)


def test_the_second_moment_freezes_in_bf16() -> None:
    found = lab.moment_rows()
    for name in ("fp32", "bf16"):
        for new, old in zip(found[name], RECORD[f"moment_{name}"], strict=True):
            assert new == pytest.approx(old, rel=1e-3)
    first, last = found["bf16"][0], found["bf16"][-1]
    assert (last["x"], last["y"]) == (5000, first["y"]) and last["y"] == pytest.approx(0.196, 1e-2)
    assert found["fp32"][-1]["y"] == pytest.approx(0.001, abs=5e-4)
    assert text("moment.txt") == lab.moment_table(found) + "\n"


# Rounding by chance


def test_rounding_by_chance_is_right_on_average_and_never_far() -> None:
    draw = torch.Generator().manual_seed(1)
    for value in (1.002, -1.002, 0.0123, -3e-5):
        exact = torch.full((100_000,), value)
        rounded = lab.round_by_chance(exact, draw).float()
        below, above = sorted(rounded.unique().tolist())
        assert below < exact[0].item() < above, "its two neighbours in bf16, no others"
        assert rounded.mean().item() == pytest.approx(value, rel=1e-4)


def test_what_bf16_holds_is_not_changed_by_chance() -> None:
    held = torch.randn(1000).bfloat16()
    draw = torch.Generator().manual_seed(1)
    assert torch.equal(lab.round_by_chance(held.float(), draw), held)


def test_with_chance_the_whole_way_is_made() -> None:
    for old in RECORD["chance"]:
        new = lab.chance_row(old["x"], RECORD["settings"]["seed"])
        assert new == pytest.approx(old, abs=0.01)
        assert new["path"] == pytest.approx(1, abs=0.02)
    plain = {point["x"]: point["path"] for point in RECORD["updates_bf16"]}
    assert plain[1e-5] < 0.2


def test_the_adamw_of_the_page_is_torchs() -> None:
    """Where every step is larger than a step of bf16, chance changes little."""
    torch.manual_seed(3)
    start, wanted = torch.rand(4096) + 1, torch.optim.AdamW
    fp32 = torch.nn.Parameter(start.clone())
    chance = torch.nn.Parameter(start.bfloat16())
    theirs = wanted([fp32], lr=0.1, weight_decay=0.0)
    ours = lab.ChanceAdamW([chance], 0.1, seed=0)
    for _ in range(5):
        fp32.grad = torch.randn(4096)
        chance.grad = fp32.grad.bfloat16()
        theirs.step()
        ours.step()
    assert (chance.detach().float() - fp32.detach()).abs().mean().item() < 0.01


# Three trainings


def test_bf16_weights_learn_nothing_at_a_usual_rate() -> None:
    options = lab.read_options(["--tiny"])
    settings = lab.choose(options)
    assert settings.learning_rate == 1e-5
    found = {row["id"]: row for row in lab.train_rows(settings, options.steps, "cpu")}
    for old in RECORD["trained"]:
        new = found[old["id"]]
        assert new["moved"] == pytest.approx(old["moved"], abs=0.02), old["id"]
        for key in ("before", "after"):
            assert new[key] == pytest.approx(old[key], abs=0.05), (old["id"], key)
        losses = [point["y"] for point in new["losses"]]
        recorded = [point["y"] for point in RECORD[f"losses_{old['id']}"]]
        assert losses == pytest.approx(recorded, abs=0.1), old["id"]
    fall = {name: row["before"] - row["after"] for name, row in found.items()}
    assert fall["mixed"] > 1 and fall["bf16"] < 0.15 * fall["mixed"]
    assert fall["by-chance"] > 0.9 * fall["mixed"]
    assert found["mixed"]["moved"] > 0.99 and found["bf16"]["moved"] < 0.1


def test_the_texts_come_from_the_record() -> None:
    settings = lab.choose(lab.read_options(["--tiny"]))
    steps = len(RECORD["losses_mixed"])
    assert text("train.txt") == lab.train_table(RECORD["trained"], settings, steps) + "\n"
    lines = {name: RECORD[f"updates_{name}"] for name in ("fp32", "bf16", "predicted")}
    assert text("updates.txt") == lab.update_table(lines) + "\n"
    assert text("chance.txt") == lab.chance_table(RECORD["chance"], lines) + "\n"


# Activations


def test_recomputing_leaves_the_gradients_as_they_are(ids) -> None:
    pair = [levers.gradients(levers.TINY, levers.Levers(recompute=on), ids, 0) for on in (0, 1)]
    assert all(torch.equal(*both) for both in zip(*pair, strict=True))
    assert LADDER["equal_gradients"] is True and "equal bit by bit" in text("saved.txt")


def test_what_is_kept_is_what_the_formula_says() -> None:
    found = levers.saved_rows(levers.TINY, lengths=(32, 256))
    for name, points in found.items():
        recorded = {point["x"]: point for point in LADDER[f"saved_{name}"]}
        for point in points:
            assert point == recorded[point["x"]]
            assert point["y"] == pytest.approx(point["formula"], rel=0.02)
    assert found["recomputed"][1]["y"] < 0.3 * found["stored"][1]["y"]


# The ladder


@pytest.fixture(scope="module")
def peaks(ids) -> dict[str, dict]:
    """The peaks again, without the times."""
    rows, together = {}, levers.Levers()
    for name in ("baseline", *levers.LADDER, *levers.ALONE):
        change = (levers.LADDER | levers.ALONE).get(name, {})
        rows[name] = {"peak": levers.peak_bytes(levers.TINY, levers.Levers(**change), ids, 42)}
        if name in levers.LADDER:
            together = replace(together, **change)
            rows[name]["added_peak"] = levers.peak_bytes(levers.TINY, together, ids, 42)
    return rows


def test_the_peaks_are_those_of_the_record(peaks) -> None:
    assert [row["id"] for row in LADDER["levers"]] == list(peaks)
    for row in LADDER["levers"]:
        for key, value in peaks[row["id"]].items():
            assert value == pytest.approx(row[key], rel=0.01), (row["id"], key)
    assert text("levers.txt") == levers.ladder_table(LADDER["levers"]) + "\n"
    assert LADDER["ladder"] == levers.climb(LADDER["levers"])


def test_the_baseline_is_what_the_formula_predicts(peaks, ids) -> None:
    """At the peak, where the loss is, the gradients of a step do not exist yet."""
    settings = {"precision": "fp32", "recompute": False, "context": 0}
    run = Run(levers.TINY, rows=ids.shape[0], length=ids.shape[1], **settings)
    expected = predict(replace(run, accumulate=False)).total
    assert peaks["baseline"]["peak"] == pytest.approx(expected, rel=0.005)
    smaller = replace(run, rows=ids.shape[0] // levers.PIECES)
    assert peaks["accumulation"]["peak"] == pytest.approx(predict(smaller).total, rel=0.005)


def test_every_step_of_the_ladder_goes_down(peaks) -> None:
    added = [peaks[name]["added_peak"] for name in levers.LADDER]
    assert added == sorted(added, reverse=True)
    assert added[-1] < 0.25 * peaks["baseline"]["peak"]


def test_levers_alone(peaks) -> None:
    ratio = {name: row["peak"] / peaks["baseline"]["peak"] for name, row in peaks.items()}
    assert ratio["recompute"] < 0.75 and ratio["accumulation"] < 0.75
    assert ratio["step-in-backward"] == pytest.approx(1, abs=0.01), "gradients are not at the peak"
    assert ratio["autocast"] > 0.9, "16-bit copies of the weights come with it"


@pytest.mark.parametrize("change", [{"pieces": 4}, {"chunked_loss": True}, {"recompute": True}])
def test_levers_that_change_no_result(change: dict, ids) -> None:
    plain = levers.gradients(levers.TINY, levers.Levers(), ids, 0)
    other = levers.gradients(levers.TINY, levers.Levers(**change), ids, 0)
    for one, two in zip(plain, other, strict=True):
        assert torch.allclose(one, two, rtol=1e-4, atol=1e-7)


def test_the_step_inside_backward_is_the_step_after_it(ids) -> None:
    losses = [
        list(levers.run(levers.TINY, levers.Levers(step_in_backward=on), ids[:4, :16], 0, steps=3))
        for on in (False, True)
    ]
    assert losses[0] == losses[1]


def test_states_of_8_bits_change_the_loss_by_millionths(ids) -> None:
    """The first step knows no states yet; the others differ, and by less than 20 millionths."""
    found = levers.compare_states(levers.TINY, ids, seed=42)
    assert text("states.txt") == levers.states_table(LADDER["states"]) + "\n"
    for rows in (found, LADDER["states"]):
        apart = [abs(row["adamw_8bit"] - row["adamw"]) for row in rows]
        assert [row["step"] for row in rows] == [1, 2, 3, 4, 5] and apart[0] == 0
        assert 0 < max(apart) < 2e-5
    for row, other in zip(found, LADDER["states"], strict=True):
        assert row["adamw"] == pytest.approx(other["adamw"], abs=1e-4)


# Refusals


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tiny", "--rows", "6"), "--rows 6 cannot be cut into 4 equal pieces"),
        (("--tiny", "--rows", "0"), "--rows 0 cannot be cut"),
        (("--tiny", "--length", "1"), "--length is 1"),
        ((), "no GPU found"),
    ],
)
def test_levers_refuse(arguments: tuple[str, ...], message: str, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert message in refusal(levers.main, *arguments)


def test_the_lab_refuses(monkeypatch) -> None:
    assert "--steps is 0" in refusal(lab.main, "--tiny", "--steps", "0")
    assert "was not found" in refusal(lab.main, "--tiny", "--model", "./no/such/model")
    card(monkeypatch, "Tesla T4", 15.6e9, bf16=False)
    assert "Tesla T4 computes no bfloat16" in refusal(lab.main)


def test_the_numbers_of_the_docstring() -> None:
    for name, rows, length in (
        ("smollm2-135m", 8, 512),
        ("tinyllama-1.1b", 8, 128),
        ("llama-3.2-1b", 16, 512),
    ):
        run = Run(PRESETS[name], precision="fp32", recompute=False, rows=rows, length=length)
        assert f"{predict(run).total / 1e9:.1f} GB" in " ".join(levers.__doc__.split())


def test_a_card_that_is_too_small_is_told_what_fits(monkeypatch) -> None:
    card(monkeypatch, "small", 6e9, bf16=True)
    assert "mend: --rows 4 --length 64" in refusal(levers.main)
    card(monkeypatch, "smaller", 2e9, bf16=True)
    assert "choose a smaller --shape" in refusal(levers.main)


def card(monkeypatch, name: str, memory: float, bf16: bool) -> None:
    properties = SimpleNamespace(name=name, total_memory=int(memory))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
