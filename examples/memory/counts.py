"""How many parameters a model has, and how many a LoRA adapter adds."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.shapes import Shape

LINEAR = ("q", "k", "v", "o", "gate", "up", "down")


@dataclass(frozen=True)
class Counts:
    """Parameters by kind. `head` is 0 when it shares the matrix of the embeddings."""

    embedding: int
    head: int
    linear: int
    other: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.embedding + self.head + self.linear + self.other


def list_matrices(shape: Shape) -> dict[str, tuple[int, int]]:
    """Return the (inputs, outputs) of the seven linear matrices of a layer."""
    h, f = shape.hidden, shape.feed_forward
    return {
        "q": (h, shape.query),
        "k": (h, shape.key),
        "v": (h, shape.key),
        "o": (shape.query, h),
        "gate": (h, f),
        "up": (h, f),
        "down": (f, h),
    }


def count_parameters(shape: Shape) -> Counts:
    """Count a model: two norms a layer and a last one, biases and head norms where they exist."""
    linear = sum(inputs * outputs for inputs, outputs in list_matrices(shape).values())
    other = 2 * shape.hidden
    if shape.query_bias:
        other += shape.query + 2 * shape.key
    if shape.query_norm:
        other += 2 * shape.head_size
    table = shape.vocabulary * shape.hidden
    return Counts(
        embedding=table,
        head=0 if shape.tied else table,
        linear=shape.layers * linear,
        other=shape.layers * other + shape.hidden,
    )


def count_lora(shape: Shape, rank: int, targets: Sequence[str] = LINEAR) -> int:
    """Count the parameters of a LoRA adapter: rank x (inputs + outputs) for each matrix.

    Source: Hu et al. 2021, arXiv 2106.09685, section 4.1.

    Raises:
        ValueError: for a rank below 1 or an unknown matrix.
    """
    if rank < 1:
        raise ValueError(f"rank is {rank}: it must be at least 1")
    matrices = list_matrices(shape)
    unknown = sorted(set(targets) - set(matrices))
    if unknown:
        raise ValueError(f"unknown matrices {', '.join(unknown)}: choose from {', '.join(LINEAR)}")
    return shape.layers * sum(rank * sum(matrices[name]) for name in targets)
