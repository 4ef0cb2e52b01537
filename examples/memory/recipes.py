"""Static state: the bytes per parameter that are there before the first token is read."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory.counts import Counts

BLOCK = 256  # values of an 8-bit optimiser state that share one fp32 scale (arXiv 2110.02861, 2)
NF4_BLOCK = 64  # weights that share one scale (QLoRA, arXiv 2305.14314, section 3)

# Bytes of optimiser state per parameter as (fp32 states, one-byte states): AdamW keeps two moments,
# SGD with momentum one. Adafactor's row and column vectors are left out: 0.001 bytes a parameter.
OPTIMIZERS: Mapping[str, tuple[int, int]] = {
    "adamw": (2, 0),
    "adamw-8bit": (0, 2),
    "sgd": (0, 0),
    "sgd-momentum": (1, 0),
    "adafactor": (0, 0),
}


@dataclass(frozen=True)
class Recipe:
    """Bytes per parameter of a way to train; 8-bit states count 2 + 8/256 bytes."""

    id: str
    weights: float
    gradients: float
    states: float

    @property
    def total(self) -> float:
        """Bytes per parameter, before activations."""
        return self.weights + self.gradients + self.states


EIGHT_BIT = 2 + 2 * 4 / BLOCK

# Why people quote different numbers for the same model: they mean different recipes.
RECIPES: tuple[Recipe, ...] = (
    # fp32 weights and gradients, autocast: Trainer, TRL and FSDP2 through accelerate.
    Recipe("mixed", 4, 4, 8),
    # The same sum otherwise: 16-bit weights and gradients, fp32 copy among the states (DeepSpeed).
    Recipe("master", 2, 2, 12),
    # bf16 weights and gradients whose optimiser keeps fp32 moments and no master copy.
    Recipe("bf16-fp32-states", 2, 2, 8),
    # A model loaded in bf16: torch's AdamW makes its moments in the type of the weights.
    Recipe("bf16", 2, 2, 4),
    Recipe("bf16-8bit", 2, 2, EIGHT_BIT),
    Recipe("bf16-sgd", 2, 2, 0),
)


def state_bytes(counts: Counts, optimizer: str, moment_bytes: int = 4) -> int:
    """Return the bytes of an optimiser's states for a whole model.

    `moment_bytes` is the type of torch's moments: that of the weights, so 2 for pure bf16. 8-bit
    states follow transformers' Trainer, which keeps the states of embeddings in 32 bits.

    Raises:
        ValueError: for an unknown optimiser.
    """
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"unknown optimizer {optimizer!r}: choose from {', '.join(OPTIMIZERS)}")
    wide, narrow = OPTIMIZERS[optimizer]
    if not narrow:
        return counts.total * wide * moment_bytes
    small = counts.total - counts.embedding
    return narrow * (small + -(-small // BLOCK) * 4) + counts.embedding * narrow * 4


def nf4_bytes(weights: int, double_quantization: bool = True) -> int:
    """Return the bytes of weights stored as NF4: 4.5 bits each, 4.127 with double quantization.

    Half a byte a weight and one fp32 scale for 64 weights; double quantization keeps the scales in
    8 bits with one fp32 scale for 256 of them (QLoRA, arXiv 2305.14314, section 3).
    """
    scales = -(-weights // NF4_BLOCK)
    scale_bytes = scales + 4 * -(-scales // 256) if double_quantization else 4 * scales
    return -(-weights // 2) + scale_bytes
