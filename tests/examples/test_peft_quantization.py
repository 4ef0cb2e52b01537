"""The laboratory of chapter peft/quantization, by what it really computes."""

import json
import re

import bitsandbytes.functional as bnb
import pytest
import torch

from common.programs import EXAMPLES, load
from memory import PRESETS
from small import path_or_none
from tiny import BASE

lab = load("peft/quantization/lab.py")
FOLDER = EXAMPLES / "peft/quantization"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def normal() -> torch.Tensor:
    torch.manual_seed(RECORD["settings"]["seed"])
    return lab.SPREAD * torch.randn(1024, 4096)


@pytest.fixture(scope="module")
def base():
    return lab.load(str(BASE))


def rows(name: str) -> dict[str, dict]:
    return {row["id"]: row for row in RECORD[name]}


# The formats


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_the_levels_are_those_of_bitsandbytes(kind: str) -> None:
    ours = {"nf4": lab.nf4_levels, "fp4": lab.fp4_levels}[kind]()
    assert torch.equal(ours, bnb.get_4bit_type(kind, device="cpu").unique())
    assert len(ours) == {"nf4": 16, "fp4": 15}[kind], "FP4 has a zero of each sign"


def test_nf4_has_narrow_steps_near_zero_and_one_more_level_above() -> None:
    levels = lab.nf4_levels()
    steps = levels.diff()
    assert (levels < 0).sum() == 7 and (levels > 0).sum() == 8 and 0.0 in levels
    assert steps.argmin().item() in (6, 7, 8) and steps.max() in (steps[0], steps[-1])


@pytest.mark.parametrize("shape", [(64, 64), (128, 320), (1024, 256), (3, 64)])
@pytest.mark.parametrize("kind", ["nf4", "fp4"])
def test_our_rounding_is_that_of_bitsandbytes(kind: str, shape: tuple[int, int]) -> None:
    weights = torch.randn(shape, generator=torch.Generator().manual_seed(7))
    assert lab.compare(kind, weights)["different"] == 0


def test_our_codes_are_those_of_bitsandbytes() -> None:
    weights = torch.randn(32, 128)
    packed, state = bnb.quantize_4bit(weights, quant_type="nf4")
    theirs = torch.stack([packed.flatten() >> 4, packed.flatten() & 15], dim=1)
    codes, scales = lab.quantise(weights, lab.nf4_levels(), 64)
    assert torch.equal(codes.flatten(), theirs.flatten().long())
    assert torch.equal(scales, state.absmax)


def test_double_quantization_differs_only_where_two_levels_are_as_near(normal) -> None:
    found = lab.compare("nf4", normal)
    assert 0 < found["different_scales"] < 0.005 * found["scales"]
    packed, state = bnb.quantize_4bit(normal, quant_type="nf4", compress_statistics=True)
    theirs = bnb.dequantize_4bit(packed, state)
    ours = {one.id: one for one in lab.FORMATS}["nf4-double"].round(normal)
    errors = [((one - normal).norm() / normal.norm()).item() for one in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


@pytest.mark.parametrize("one", lab.FORMATS, ids=lambda one: one.id)
def test_a_level_comes_back_unchanged(one) -> None:
    """What a format can hold is held exactly: the largest of a block, its opposite, and zero."""
    weights = torch.tensor([[3.0, -3.0, 0.0, 3.0] * 64])
    if one.double:
        return  # its scale is rounded too
    assert torch.allclose(one.round(weights), weights, rtol=1e-6, atol=0)


def test_zeros_stay_zeros() -> None:
    for one in lab.FORMATS:
        assert one.round(torch.zeros(4, 64)).eq(0).all(), one.id


def test_a_block_that_is_not_full(normal) -> None:
    odd = normal.flatten()[:1000].view(10, 100)
    restored = {one.id: one for one in lab.FORMATS}["nf4"].round(odd)
    assert restored.shape == odd.shape
    assert ((restored - odd).norm() / odd.norm()).item() < 0.11


# Bits


def test_bits_per_weight_of_real_layers() -> None:
    single, double = (lab.measure_bits(one, 1024, 1024) for one in (False, True))
    assert single["bits"] == 4.5
    assert double["bits"] == pytest.approx(4.127, abs=0.001)
    saved = (single["bits"] - double["bits"]) / single["bits"]
    assert saved == pytest.approx(0.083, abs=0.001), "8.3 %, not the 11 % that the scales are"
    assert single["scales"] / single["bits"] == pytest.approx(0.111, abs=0.001)
    assert single["tables_bytes"] == 16 * 4 and double["tables_bytes"] == (16 + 256) * 4


def test_the_formula_of_the_bits_is_what_the_storages_hold(normal) -> None:
    formats = {one.id: one for one in lab.FORMATS}
    for row in RECORD["bits"]:
        expected = formats[row["id"]].bits_per_weight(normal)
        assert row["bits"] == pytest.approx(expected, abs=1e-5)
    assert "= 8.3%" in (FOLDER / "outputs" / "bits.txt").read_text("utf-8")


# Errors


def test_the_recorded_errors_on_normal_weights(normal) -> None:
    found = {row["id"]: row for row in lab.error_rows([normal])}
    for name, row in rows("errors_normal").items():
        for column in ("bits", "clean", "outlier"):
            assert found[name][column] == pytest.approx(row[column], rel=1e-3), (name, column)
    assert found["nf4"]["clean"] == pytest.approx(0.092, abs=0.0005)
    assert found["fp4"]["clean"] == pytest.approx(0.122, abs=0.0005)
    assert found["nf4"]["clean"] < found["int4"]["clean"] < found["fp4"]["clean"]


def test_an_outlier_spoils_the_matrix_or_only_its_block() -> None:
    errors = rows("errors_normal")
    assert errors["int8-tensor"]["outlier"] > 8 * errors["int8-tensor"]["clean"]
    assert errors["int8-tensor"]["outlier"] > errors["nf4"]["outlier"], "8 bits worse than 4"
    assert errors["nf4"]["outlier"] < 1.01 * errors["nf4"]["clean"]


def test_the_recorded_errors_on_the_real_weights(base) -> None:
    matrices = lab.choose_matrices(base[0])
    assert len(matrices) == 4 * 7
    found = {row["id"]: row for row in lab.error_rows(matrices)}
    for name, row in rows("errors_base").items():
        assert found[name]["clean"] == pytest.approx(row["clean"], rel=1e-3), name
        assert found[name]["outlier"] == pytest.approx(row["outlier"], rel=1e-3), name


def test_larger_blocks_take_fewer_bits_and_lose_more() -> None:
    blocks = RECORD["blocks"]
    assert [row["x"] for row in blocks] == sorted(row["x"] for row in blocks)
    assert [row["y"] for row in blocks] == sorted(row["y"] for row in blocks)
    assert [row["bits"] for row in blocks] == sorted((row["bits"] for row in blocks), reverse=True)


def test_the_recorded_errors_on_smollm2() -> None:
    """Its trained weights have outliers of their own: one scale a matrix is too coarse for them."""
    errors = rows("errors_smollm2")
    assert errors["int8-tensor"]["clean"] > 3 * rows("errors_normal")["int8-tensor"]["clean"]
    assert errors["nf4"]["clean"] == pytest.approx(0.093, abs=0.003)
    if not (small := path_or_none()):
        pytest.skip("SmolLM2 was not fetched: python examples/small/fetch.py")
    matrices = lab.choose_matrices(lab.load(str(small))[0])
    found = lab.relative_error({one.id: one for one in lab.FORMATS}["nf4"], matrices, outlier=False)
    assert found == pytest.approx(errors["nf4"]["clean"], rel=1e-3)


# A model


def test_what_is_not_quantized() -> None:
    found = {row["id"]: row for row in lab.inventory(lab.load_quantized(str(BASE)))}
    assert found == rows("kept")
    assert sum(row["parameters"] for row in found.values()) == 951_424
    assert found["linear layers"]["type"] == "nf4"
    linear = found["linear layers"]
    assert 8 * linear["bytes"] / linear["parameters"] == pytest.approx(4.127, abs=0.003)
    assert {found[name]["type"] for name in ("embeddings", "norms")} == {"float32"}


def test_an_8b_model_in_4_bits_takes_more_than_4_bits() -> None:
    """Embeddings and head stay in 16 bits: an eighth of the weights, a third of the bytes."""
    one = lab.whole(PRESETS["llama-3.1-8b"])
    assert 8 * one["bytes"] / one["parameters"] == pytest.approx(5.68, abs=0.01)


def test_what_rounding_does_to_the_model(base) -> None:
    found = {row["id"]: row for row in lab.effect_rows(*base, tiny=True)}
    for name, row in rows("effect").items():
        assert found[name]["kl"] == pytest.approx(row["kl"], rel=0.05, abs=1e-5), name
        assert found[name]["recall"] == pytest.approx(row["recall"], abs=0.02), name
    assert (found["original"]["kl"], found["original"]["recall"]) == (0, 1)
    assert 0 < found["int8"]["kl"] < 0.1 * found["nf4"]["kl"]
    assert found["nf4"]["kl"] < found["fp4"]["kl"]


def test_the_layers_are_as_before_after_the_measure(base) -> None:
    again, _ = lab.load(str(BASE))
    for one, other in zip(base[0].parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_texts_on_the_page_come_from_the_record() -> None:
    def text(name: str) -> str:
        return (FOLDER / "outputs" / name).read_text("utf-8")

    errors = {name: RECORD[f"errors_{name}"] for name in ("normal", "base", "smollm2")}
    assert text("errors.txt") == lab.error_table(errors) + "\n"
    assert text("effect.txt") == lab.effect_table(RECORD["effect"]) + "\n"
    assert text("bits.txt") == lab.bits_table(RECORD["bits"]) + "\n"
    assert text("blocks.txt") == lab.block_table(RECORD["blocks"]) + "\n"
    assert text("levels.txt") == lab.level_table() + "\n"
    assert text("same.txt") == lab.compare_table(RECORD["same"]) + "\n"
    assert text("kept.txt").startswith(lab.inventory_table(RECORD["kept"]))
    assert "defaults of BitsAndBytesConfig: fp4, computing in float32" in text("kept.txt")


# Refusals


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(SystemExit) as stopped:
        lab.load("./no/such/model")
    assert re.fullmatch(r"error: [^\n]+ was not found\n  mend: [^\n]+", stopped.value.code)


def test_a_model_that_is_too_large(capsys) -> None:
    config = {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336}
    config |= {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8}
    config |= {"vocab_size": 128256}
    with pytest.raises(
        SystemExit, match=r"needs 32\.1 GB here, the card has 24 GB\n  mend: .*6\.0"
    ):
        lab.check_size("some/8b", config, 24 * 10**9)
    lab.check_size("some/8b", config, 80 * 10**9)
    lab.check_size("other", {"model_type": "gpt2"}, 10**9)
    assert "memory not predicted: model_type is 'gpt2'" in capsys.readouterr().out


def test_only_rows_with_the_same_id_are_compared() -> None:
    assert set(rows("errors_normal")) == {one.id for one in lab.FORMATS} == set(rows("errors_base"))
    assert RECORD["model"] == "base", "no path of the computer it ran on"
