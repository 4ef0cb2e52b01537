"""What a training run needs in memory, by formula: parameters, static state, activations, logits.

    from memory import PRESETS, Run, predict
    print(predict(Run(PRESETS["llama-3.1-8b"], method="lora")).total / 2**30, "GiB")

Everything is counted in whole bytes. GB means 10**9 bytes and GiB 2**30. Pure Python: neither torch
nor a graphics card is needed. Command: `python examples/memory --method qlora`.
"""

from memory.activations import logit_bytes, saved_bytes
from memory.counts import Counts, count_lora, count_parameters
from memory.predict import Budget, Run, predict
from memory.recipes import OPTIMIZERS, RECIPES, Recipe, state_bytes
from memory.shapes import PRESETS, Shape, read_config

__all__ = [
    "OPTIMIZERS",
    "PRESETS",
    "RECIPES",
    "Budget",
    "Counts",
    "Recipe",
    "Run",
    "Shape",
    "count_lora",
    "count_parameters",
    "logit_bytes",
    "predict",
    "read_config",
    "saved_bytes",
    "state_bytes",
]
