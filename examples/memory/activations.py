"""Activations: what the forward pass keeps for the backward pass, in bytes.

The formulas count the storages that autograd keeps in transformers 5.24 for Llama's family; tests
compare them with saved-tensor hooks. Compute types: "fp32" and "bf16" (everything in that type) and
"autocast" (fp32 weights, 16-bit matrix products). The 16-bit copies of the weights that autocast
also keeps are not activations: they are counted elsewhere.
"""

from memory.shapes import Shape

COMPUTE = ("fp32", "bf16", "autocast")
ATTENTION = ("sdpa", "eager")


def _check(compute: str, attention: str) -> None:
    if compute not in COMPUTE:
        raise ValueError(f"unknown compute type {compute!r}: choose from {', '.join(COMPUTE)}")
    if attention not in ATTENTION:
        raise ValueError(f"unknown attention {attention!r}: choose from {', '.join(ATTENTION)}")
    if attention == "eager" and compute == "autocast":
        raise ValueError("eager attention under autocast is not covered: choose sdpa")


def _norm_bytes(size: int, groups: int, compute: str) -> int:
    """One RMS norm of `size` features in `groups`: fp32 input, one fp32 factor a group, outputs."""
    per_feature = {"fp32": 12, "bf16": 4 + 2 * 2, "autocast": 8}[compute]
    return per_feature * size + 4 * groups


def _attention_bytes(shape: Shape, length: int, compute: str, attention: str) -> int:
    """Query, key, value and output; sdpa adds one fp32 number a head, eager the whole matrix."""
    size = 4 if compute == "fp32" else 2
    if attention == "sdpa":
        return size * (2 * shape.query + 2 * shape.key) + 4 * shape.heads
    matrix = 4 if compute == "fp32" else 4 + size
    return 4 * size * shape.query + shape.heads * length * matrix


def layer_bytes(shape: Shape, length: int, compute: str, attention: str = "sdpa") -> int:
    """Return the bytes that one layer keeps for one token of a sequence of `length` tokens.

    Two norms, attention, and four tensors of the feed-forward: gate, its SiLU, up, their product.
    Under autocast each of five linear layers keeps its own 16-bit copy of its input.
    """
    _check(compute, attention)
    size = 4 if compute == "fp32" else 2
    total = 2 * _norm_bytes(shape.hidden, 1, compute) + 4 * size * shape.feed_forward
    total += _attention_bytes(shape, length, compute, attention)
    if compute == "autocast":
        total += 5 * size * shape.hidden
    if shape.query_norm:
        inner = 8 if compute == "fp32" else 6
        total += inner * (shape.query + shape.key) + 4 * (shape.heads + shape.key_heads)
    return total


def logit_bytes(shape: Shape, rows: int, length: int) -> int:
    """Return the bytes of the logits at the peak of the default loss: 12 x vocabulary a token.

    The fp32 logits, their log-softmax and its gradient, 4 bytes each, exist at the same time.
    """
    return 12 * shape.vocabulary * rows * length


def saved_bytes(
    shape: Shape,
    rows: int,
    length: int,
    compute: str = "autocast",
    attention: str = "sdpa",
    recompute: bool = False,
) -> int:
    """Return the bytes that a forward pass of `rows` x `length` tokens keeps, its loss included.

    With `recompute` (activation checkpointing) a layer keeps its input alone.

    Raises:
        ValueError: for a size below 1 or an unknown setting.
    """
    if rows < 1 or length < 1:
        raise ValueError(f"rows is {rows} and length {length}: both must be at least 1")
    tokens, wide = rows * length, 2 if compute == "bf16" else 4
    layer = layer_bytes(shape, length, compute, attention)
    kept = wide * shape.hidden if recompute else layer
    angles = 2 * length * shape.head_size * wide
    end = _norm_bytes(shape.hidden, 1, compute) + (2 * shape.hidden if compute == "autocast" else 0)
    loss = 4 * shape.vocabulary + 8
    return tokens * (shape.layers * kept + end + loss + 8) + angles
