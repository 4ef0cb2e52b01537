"""The laboratory of 4-bit weights: what NF4 is, what it costs, and what it leaves alone.

Chapter peft/quantization of the course.

    python examples/peft/quantization/lab.py --tiny      any computer, no network, half a minute
    python examples/peft/quantization/lab.py             a free T4; minutes on a processor
    python examples/peft/quantization/lab.py --model Qwen/Qwen3-4B-Base            a 24 GB card
    python examples/peft/quantization/lab.py --model Qwen/Qwen3-14B-Base           an 80 GB card

With --tiny it also measures the weights of SmolLM2-135M, if examples/small/fetch.py has fetched it.

Memory: the weights twice in bf16, 4 B/parameter (Qwen2.5-0.5B 2.0 GB, 4B 16 GB, 14B 59 GB): the
originals stay beside those that are rounded, to be compared with them. examples/memory counts them.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import bitsandbytes.functional as bnb
import torch
from bitsandbytes.nn import Linear4bit
from torch.nn.functional import kl_div, pad
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
)
from transformers.utils import logging

from memory import PRESETS, count_parameters
from memory.recipes import nf4_bytes
from small import path_or_none
from tiny import BASE, facts, recall

HERE = Path(__file__).resolve().parent
MODEL = "Qwen/Qwen2.5-0.5B"
SPREAD = 0.02  # standard deviation of the weights drawn at random: that of a fresh model
SAMPLE = 28  # matrices of a model whose errors are measured: all those of the tiny base
OUTLIER = 50  # size of the outlier that is put into a matrix, in standard deviations


# --8<-- [start:levels]
def nf4_levels() -> torch.Tensor:
    """Return the 16 levels of NF4: quantiles of the normal distribution, between -1 and 1."""

    def quantiles(count: int) -> torch.Tensor:
        places = torch.linspace(0.9677083, 0.5, count)[:-1]  # (1)!
        return torch.special.ndtri(places.double())

    levels = torch.cat([-quantiles(8), torch.zeros(1), quantiles(9).flip(0)]).float()  # (2)!
    return levels / levels.max()  # (3)!


def fp4_levels() -> torch.Tensor:
    """Return the 15 levels of FP4: a sign, two bits of exponent, one of mantissa."""
    positive = torch.tensor([0.0625, 2, 3, 4, 6, 8, 12]) / 12
    return torch.cat([-positive.flip(0), torch.zeros(1), positive])  # (4)!


def even_levels(bits: int) -> torch.Tensor:
    """Return the levels of an integer type: evenly spaced, as many below zero as above."""
    most = 2 ** (bits - 1) - 1
    return torch.arange(-most, most + 1) / most
    # --8<-- [end:levels]


# --8<-- [start:quantise]
def quantise(weights: torch.Tensor, levels: torch.Tensor, block: int):
    """Replace each weight by the number of its nearest level; each block has a scale of its own."""
    flat = weights.flatten().float()
    blocks = pad(flat, (0, -len(flat) % block)).view(-1, block)  # (1)!
    scales = blocks.abs().amax(dim=1)  # (2)!
    middles = (levels[1:] + levels[:-1]) / 2  # (3)!
    codes = torch.bucketize(blocks * (1 / scales.clamp(min=1e-38))[:, None], middles)
    return codes, scales


def dequantise(codes, scales, levels: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Put the levels back in the place of their numbers, times the scale of their block."""
    values = levels[codes] * scales[:, None]  # (4)!
    return values.flatten()[: shape.numel()].view(shape)


def quantise_scales(scales: torch.Tensor) -> torch.Tensor:
    """Round the scales themselves to 8 bits in blocks of 256: double quantization."""
    levels = bnb.create_dynamic_map().to(scales.device)  # (5)!
    mean = scales.mean()
    codes, second = quantise(scales - mean, levels, 256)
    return dequantise(codes, second, levels, scales.shape) + mean
    # --8<-- [end:quantise]


# --8<-- [start:formats]
@dataclass(frozen=True)
class Format:
    """How weights are stored: levels, weights that share a scale, bits of a code and of a scale."""

    id: str
    name: str
    levels: torch.Tensor
    block: int | str  # a number of weights, "row" or "tensor"
    bits: int
    double: bool = False

    def size(self, weights: torch.Tensor) -> int:
        """Return how many weights share a scale in this matrix."""
        whole = {"row": weights.shape[-1], "tensor": weights.numel()}
        return whole.get(self.block, self.block)

    def round(self, weights: torch.Tensor) -> torch.Tensor:
        """Return what is left of the weights after having been stored."""
        levels = self.levels.to(weights.device)
        codes, scales = quantise(weights, levels, self.size(weights))
        scales = quantise_scales(scales) if self.double else scales
        return dequantise(codes, scales, levels, weights.shape)

    def bits_per_weight(self, weights: torch.Tensor) -> float:
        """Return the bits of a weight: its code, and its part of the scales."""
        scale = 8 + 32 / 256 if self.double else 32  # (1)!
        return self.bits + scale / self.size(weights)


FORMATS = (
    Format("int8-tensor", "int8, one scale a matrix", even_levels(8), "tensor", 8),
    Format("int8-row", "int8, one scale a row", even_levels(8), "row", 8),
    Format("int8", "int8, blocks of 64", even_levels(8), 64, 8),
    Format("int4", "int4, blocks of 64", even_levels(4), 64, 4),
    Format("fp4", "FP4, blocks of 64", fp4_levels(), 64, 4),
    Format("nf4", "NF4, blocks of 64", nf4_levels(), 64, 4),
    Format("nf4-double", "NF4, double quantization", nf4_levels(), 64, 4, double=True),
)
# --8<-- [end:formats]


def level_rows() -> dict[str, list[dict]]:
    """Return the levels as the points of a figure: number of the level, value."""
    kinds = {"nf4": nf4_levels(), "fp4": fp4_levels(), "int4": even_levels(4)}
    return {
        name: [{"x": x, "y": y} for x, y in enumerate(levels.tolist())]
        for name, levels in kinds.items()
    }


def level_table() -> str:
    """Write the levels of the three 4-bit types side by side."""
    lines = ["level       NF4       FP4      int4"]
    columns = [[point["y"] for point in points] for points in level_rows().values()]
    for number in range(16):
        cells = [f"{c[number]:10.4f}" if number < len(c) else f"{'':10}" for c in columns]
        lines.append(f"{number:5}{''.join(cells)}".rstrip())
    return "\n".join(lines)


# --8<-- [start:compare]
def compare(kind: str, weights: torch.Tensor) -> dict:
    """Count in how many weights our 4-bit rounding and that of bitsandbytes differ."""
    ours = {one.id: one for one in FORMATS}[kind]
    packed, state = bnb.quantize_4bit(weights, quant_type=kind)  # (1)!
    theirs = bnb.dequantize_4bit(packed, state)
    _, double = bnb.quantize_4bit(weights, quant_type=kind, compress_statistics=True)
    scales = quantise_scales(state.absmax)
    theirs_scales = bnb.dequantize_blockwise(double.absmax, double.state2) + double.offset
    return {
        "id": kind,
        "weights": weights.numel(),
        "different": int((ours.round(weights) != theirs).sum()),
        "scales": scales.numel(),
        "different_scales": int((scales != theirs_scales).sum()),  # (2)!
    }
    # --8<-- [end:compare]


def compare_table(rows: list[dict]) -> str:
    """Say how much of it is the same."""
    lines = []
    for row in rows:
        lines.append(
            f"{row['id'].upper()}: {row['different']} of {row['weights']:,} weights differ from"
            f" bitsandbytes; after double quantization {row['different_scales']} of"
            f" {row['scales']:,} scales"
        )
    return "\n".join(lines)


# --8<-- [start:bits]
def storage_bytes(layer: Linear4bit) -> dict[str, int]:
    """Count the bytes of the storages that a quantized layer really holds."""
    state = layer.weight.quant_state
    scales = [state.absmax]
    tables = [state.code]
    if state.nested:  # (1)!
        scales += [state.state2.absmax, state.offset]
        tables += [state.state2.code]
    return {
        "codes": layer.weight.untyped_storage().nbytes(),
        "scales": sum(one.untyped_storage().nbytes() for one in scales),
        "tables": sum(one.untyped_storage().nbytes() for one in tables),  # (2)!
    }


def measure_bits(double: bool, inputs: int = 4096, outputs: int = 4096) -> dict:
    """Quantize a layer of the size of an 8B model's, and count its bits per weight."""
    layer = Linear4bit(inputs, outputs, bias=False, compress_statistics=double, quant_type="nf4")
    layer = layer.to("cpu")  # (3)!
    sizes = storage_bytes(layer)
    weights = inputs * outputs
    return {
        "id": "nf4-double" if double else "nf4",
        "codes": 8 * sizes["codes"] / weights,
        "scales": 8 * sizes["scales"] / weights,
        "bits": 8 * (sizes["codes"] + sizes["scales"]) / weights,
        "tables_bytes": sizes["tables"],
    }
    # --8<-- [end:bits]


def bits_table(rows: list[dict]) -> str:
    """Write the bits per weight, and what double quantization saves."""
    lines = ["a layer of 4096 x 4096      codes   scales    together"]
    names = {one.id: one.name for one in FORMATS}
    lines += [
        f"{names[row['id']]:25} {row['codes']:7.4f} {row['scales']:8.4f} {row['bits']:11.4f}"
        for row in rows
    ]
    single, double = rows
    saved = single["bits"] - double["bits"]
    lines.append(
        f"the scales are {single['scales'] / single['bits']:.1%} of NF4; double quantization saves"
        f" {saved:.3f} bits = {saved / single['bits']:.1%}"
    )
    return "\n".join(lines)


# --8<-- [start:errors]
def relative_error(format: Format, matrices: list[torch.Tensor], outlier: bool) -> float:
    """Return the root mean square error of the weights, relative to the weights themselves."""
    wrong = total = 0.0
    for weights in matrices:
        weights = weights.float().clone()
        kept = torch.ones_like(weights, dtype=torch.bool)
        if outlier:
            weights.view(-1)[weights.numel() // 2] = OUTLIER * weights.std()  # (1)!
            kept.view(-1)[weights.numel() // 2] = False  # (2)!
        difference = (format.round(weights) - weights)[kept]
        wrong += difference.square().sum().item()
        total += weights[kept].square().sum().item()
    return (wrong / total) ** 0.5
    # --8<-- [end:errors]


def choose_matrices(model: PreTrainedModel) -> list[torch.Tensor]:
    """Choose matrices of a model by chance, the same ones each time."""
    matrices = [layer.weight.detach() for layer in linear_layers(model)]
    return random.Random(0).sample(matrices, min(SAMPLE, len(matrices)))


def error_rows(matrices: list[torch.Tensor]) -> list[dict]:
    """Measure the error of every format, without an outlier and with one in each matrix."""
    return [
        {
            "id": one.id,
            "bits": one.bits_per_weight(matrices[0]),
            "clean": relative_error(one, matrices, outlier=False),
            "outlier": relative_error(one, matrices, outlier=True),
        }
        for one in FORMATS
    ]


def error_table(errors: dict[str, list[dict]]) -> str:
    """Write the errors for reading: per cent of the weights' size."""
    lines = [f"{'':26}{'bits':>6}" + "".join(f"{name[:22]:>24}" for name in errors)]
    lines.append(f"{'':32}" + f"{'clean':>14}{'outlier':>10}" * len(errors))
    for number, one in enumerate(FORMATS):
        rows = [rows[number] for rows in errors.values()]
        cells = "".join(f"{row['clean']:14.2%}{row['outlier']:10.2%}" for row in rows)
        lines.append(f"{one.name:26}{rows[0]['bits']:6.3f}{cells}")
    return "\n".join(lines)


def block_rows(weights: torch.Tensor) -> list[dict]:
    """Measure NF4 with blocks of other sizes: fewer scales, more error."""
    rows = []
    for block in (32, 64, 128, 256, 512, 1024, 2048, 4096):
        one = Format("nf4", "NF4", nf4_levels(), block, 4)
        error = relative_error(one, [weights], outlier=False)
        rows.append({"x": block, "y": error, "bits": one.bits_per_weight(weights)})
    return rows


def block_table(rows: list[dict]) -> str:
    """Write error and bits by size of the block."""
    lines = ["NF4, block of    bits    error"]
    lines += [f"{row['x']:13} {row['bits']:7.3f} {row['y']:8.2%}" for row in rows]
    return "\n".join(lines)


# --8<-- [start:load]
def load_quantized(model: str) -> PreTrainedModel:
    """Load a model as QLoRA does. Every value here is asked for: the defaults are others."""
    with guard.explain("model", model):
        return AutoModelForCausalLM.from_pretrained(
            model,
            dtype=torch.float32 if model == str(BASE) else torch.bfloat16,  # (1)!
            quantization_config=BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",  # (2)!
                bnb_4bit_use_double_quant=True,
                bnb_4bit_compute_dtype=torch.bfloat16,  # (3)!
            ),
        )
        # --8<-- [end:load]


KINDS = {"Linear4bit": "linear layers", "Embedding": "embeddings", "Linear": "output layer"}


def inventory(model: PreTrainedModel) -> list[dict]:
    """List what a quantized model holds: each parameter once, by kind of layer."""
    rows: dict[str, dict] = {}
    seen = set()
    for module in model.modules():
        name = KINDS.get(type(module).__name__, "norms")
        for parameter in module.parameters(recurse=False):
            if id(parameter) in seen:  # an output layer that shares the matrix of the embeddings
                continue
            seen.add(id(parameter))
            row = rows.setdefault(name, {"id": name, "parameters": 0, "bytes": 0, "type": ""})
            if isinstance(module, Linear4bit) and parameter is module.weight:
                sizes = storage_bytes(module)
                row["parameters"] += module.in_features * module.out_features
                row["bytes"] += sizes["codes"] + sizes["scales"]
                row["type"] = parameter.quant_state.quant_type
            else:
                row["parameters"] += parameter.numel()
                row["bytes"] += parameter.untyped_storage().nbytes()
                row["type"] = row["type"] or str(parameter.dtype).removeprefix("torch.")
    return list(rows.values())


def whole(shape) -> dict:
    """Count an 8B model by formula: NF4 for its linear layers, 16 bits for the rest."""
    counts = count_parameters(shape)
    size = nf4_bytes(counts.linear) + 2 * (counts.total - counts.linear)
    return {"parameters": counts.total, "bytes": size}


def inventory_table(rows: list[dict]) -> str:
    """Write what is quantized and what is not, and the bits of the whole model."""
    lines = [f"{'':18}{'parameters':>14}  {'type':10}{'bits/parameter':>14}"]
    for row in rows:
        bits = 8 * row["bytes"] / row["parameters"]
        lines.append(f"{row['id']:18}{row['parameters']:14,}  {row['type']:10}{bits:14.3f}")
    total = {key: sum(row[key] for row in rows) for key in ("parameters", "bytes")}
    for name, one in (("together", total), ("Llama-3.1-8B", whole(PRESETS["llama-3.1-8b"]))):
        bits = 8 * one["bytes"] / one["parameters"]
        lines.append(f"{name:18}{one['parameters']:14,}  {'':10}{bits:14.3f}")
    lines[-1] += "  (formula, 16 bits for the rest)"
    return "\n".join(lines)


# --8<-- [start:effect]
def linear_layers(model: PreTrainedModel) -> Iterator[torch.nn.Linear]:
    """Find the matrices that bitsandbytes would quantize: all linear layers but the output."""
    head = model.get_output_embeddings()
    yield from (m for m in model.modules() if isinstance(m, torch.nn.Linear) and m is not head)


@torch.no_grad()
def effect_rows(model: PreTrainedModel, tokenizer, tiny: bool) -> list[dict]:
    """Round a model's weights to each format in turn, and measure how it then differs."""
    layers = list(linear_layers(model))
    originals = [layer.weight.clone() for layer in layers]
    wanted = predictions(model, tokenizer)
    rows = []
    for one in (None, *FORMATS):
        for layer, original in zip(layers, originals, strict=True):
            layer.weight.copy_(one.round(original) if one else original)  # (1)!
        found = predictions(model, tokenizer)
        pairs = zip(found, wanted, strict=True)
        distances = [kl_div(*pair, log_target=True, reduction="none").sum(-1) for pair in pairs]
        distance = torch.cat(distances).mean().item()  # (2)!
        row = {"id": one.id if one else "original", "kl": distance}
        rows.append(row | ({"recall": recall(model, tokenizer)} if tiny else {}))
    for layer, original in zip(layers, originals, strict=True):
        layer.weight.copy_(original)
    return rows
    # --8<-- [end:effect]


def predictions(model: PreTrainedModel, tokenizer) -> list[torch.Tensor]:
    """Return the logarithms of the probabilities of every next token in 30 sentences."""
    results = []
    for fact in facts()[::4]:
        text = f"{tokenizer.bos_token or ''}{fact['prompt']} {fact['answer']}."
        ids = tokenizer(text, add_special_tokens=False).input_ids
        logits = model(torch.tensor([ids], device=model.device)).logits[0]
        results.append(logits.float().log_softmax(-1))
    return results


def effect_table(rows: list[dict]) -> str:
    """Write how far the predictions are from the original's, and the facts that it still knows."""
    names = {one.id: one.name for one in FORMATS} | {"original": "not quantized"}
    tiny = "recall" in rows[0]
    lines = [f"{'':26}{'divergence (KL)':>16}" + ("   capitals known" if tiny else "")]
    for row in rows:
        cell = f"{row['recall']:17.1%}" if tiny else ""
        lines.append(f"{names[row['id']]:26}{row['kl']:16.5f}{cell}")
    return "\n".join(lines)


def defaults_line() -> str:
    """Say what BitsAndBytesConfig does when it is not told."""
    config = BitsAndBytesConfig(load_in_4bit=True)
    return (
        f"defaults of BitsAndBytesConfig: {config.bnb_4bit_quant_type}, computing in"
        f" {str(config.bnb_4bit_compute_dtype).removeprefix('torch.')}, double quantization"
        f" {'on' if config.bnb_4bit_use_double_quant else 'off'}"
    )


def load(model: str) -> tuple[PreTrainedModel, object]:
    """Load a model as it is, on the GPU if there is one."""
    device = "cuda" if torch.cuda.is_available() and model != str(BASE) else "cpu"
    with guard.explain("model", model):
        config = AutoConfig.from_pretrained(model)
    if device == "cuda":
        check_size(model, config.to_dict(), torch.cuda.get_device_properties(0).total_memory)
    with guard.explain("model", model):
        tokenizer = AutoTokenizer.from_pretrained(model)
        dtype = torch.float32 if model == str(BASE) else torch.bfloat16
        loaded = AutoModelForCausalLM.from_pretrained(model, dtype=dtype)
    return loaded.eval().to(device), tokenizer


def check_size(model: str, config: dict, memory: int) -> None:
    """Stop before loading a model whose weights do not fit twice in 16 bits."""
    shape = guard.find_shape(config)
    if not shape:
        return
    needed = 4 * count_parameters(shape).total
    if needed > memory:
        guard.stop(
            f"{model} needs {needed / 1e9:.3g} GB here, the card has {memory / 1e9:.3g} GB",
            f"name a model of less than {memory / 4e9:.1f} billion parameters with --model",
        )


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="only the tiny base: offline")
    parser.add_argument("--model", default=MODEL, help="folder or name on the Hub")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser.parse_args(argv)


def show_formats(seed: int, folder: Path | None) -> tuple[torch.Tensor, dict]:
    """Show the formats by themselves; return the weights drawn at random, and what was measured."""
    torch.manual_seed(seed)
    normal = SPREAD * torch.randn(1024, 4096)
    record.show(level_table(), folder, "levels.txt")
    same = [compare(kind, normal) for kind in ("nf4", "fp4")]
    record.show(compare_table(same), folder, "same.txt")
    bits = [measure_bits(double) for double in (False, True)]
    record.show(bits_table(bits), folder, "bits.txt")
    blocks = block_rows(normal)
    record.show(block_table(blocks), folder, "blocks.txt")
    levels = {f"levels_{name}": points for name, points in level_rows().items()}
    return normal, {"same": same, "bits": bits, "blocks": blocks} | levels


def show_model(name: str, normal: torch.Tensor, tiny: bool, folder: Path | None) -> dict:
    """Show what the formats do to a model; return what was measured."""
    model, tokenizer = load(name)
    title = "base" if tiny else Path(name).name
    errors = {"normal": error_rows([normal]), title: error_rows(choose_matrices(model))}
    if tiny and (small := path_or_none()):
        errors["smollm2"] = error_rows(choose_matrices(load(str(small))[0]))
        print("SmolLM2 comes from a 4-bit file: its errors are those of rounding a second time")
    record.show(error_table(errors), folder, "errors.txt")
    effect = effect_rows(model, tokenizer, tiny)
    record.show(effect_table(effect), folder, "effect.txt")
    del model
    kept = inventory(load_quantized(name))
    record.show(f"{inventory_table(kept)}\n{defaults_line()}", folder, "kept.txt")
    lists = {f"errors_{key}": rows for key, rows in errors.items()}
    return {"model": title} | lists | {"effect": effect, "kept": kept}


def main(argv: list[str] | None = None) -> None:
    """Show the levels, the bits, the errors, and what they do to a model."""
    options = read_options(argv)
    folder = HERE if options.record else None
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # else each load reports the tied output layer as missing
    normal, formats = show_formats(options.seed, folder)
    name = str(BASE) if options.tiny else options.model
    found = show_model(name, normal, options.tiny, folder)
    if folder:
        settings = {"seed": options.seed, "spread": SPREAD, "outlier": OUTLIER}
        record.write(folder, {"settings": settings} | formats | found)


if __name__ == "__main__":
    main()
