"""What the calculator of the course's site needs: shapes, cards, constants, and a table.

`python examples/memory --record` writes it to calculator.json. The formulas of the page are those
of this package again, in JavaScript: a test compares the two, to the byte.
"""

from dataclasses import astuple, fields

from memory.cards import CARDS
from memory.counts import count_parameters
from memory.predict import CONTEXT, METHODS, PRECISIONS, Run, predict
from memory.recipes import BLOCK, NF4_BLOCK, OPTIMIZERS
from memory.shapes import PRESETS

NAMES = {
    "smollm2-135m": "SmolLM2-135M",
    "qwen2.5-0.5b": "Qwen2.5-0.5B",
    "qwen3-0.6b": "Qwen3-0.6B",
    "tinyllama-1.1b": "TinyLlama-1.1B",
    "llama-3.2-1b": "Llama-3.2-1B",
    "llama-2-7b": "Llama-2-7B",
    "mistral-7b": "Mistral-7B",
    "qwen2.5-7b": "Qwen2.5-7B",
    "llama-3.1-8b": "Llama-3.1-8B",
    "qwen3-8b": "Qwen3-8B",
}
MODEL = "llama-3.1-8b"
SHAPE = ("hidden", "feed_forward", "layers", "heads", "key_heads", "head_size", "vocabulary")
# What a field of the page accepts. The largest run of all stays below 2^53 bytes, or is refused.
LIMITS = {
    "hidden": (1, 65_536),
    "feed_forward": (1, 524_288),
    "layers": (1, 512),
    "heads": (1, 512),
    "key_heads": (1, 512),
    "head_size": (1, 1024),
    "vocabulary": (1, 2_000_000),
    "rank": (1, 1024),
    "length": (1, 1_048_576),
    "rows": (1, 4096),
    "gpus": (1, 4096),
}


def describe() -> dict[str, object]:
    """Return everything that the page is told."""
    settings = {one.name: one.default for one in fields(Run) if one.name != "shape"}
    del settings["attention"], settings["context"]
    return {
        "defaults": {"model": MODEL, **settings},
        "limits": LIMITS,
        "context": CONTEXT,
        "block": BLOCK,
        "nf4_block": NF4_BLOCK,
        "methods": METHODS,
        "precisions": PRECISIONS,
        "optimizers": OPTIMIZERS,
        "presets": {name: list(astuple(shape)) for name, shape in PRESETS.items()},
        "names": NAMES,
        "cards": [list(astuple(card)) for card in CARDS],
        "table": [table_row(name) for name in PRESETS],
    }


def table_row(name: str) -> dict[str, object]:
    """Return what a model needs by each method, other settings being the defaults."""
    shape = PRESETS[name]
    needs = {method: predict(Run(shape, method=method)).total for method in METHODS}
    return {"model": name, "parameters": count_parameters(shape).total, **needs}
