"""How long a training computes, and what it costs, from its operations and a card's speed."""


def training_operations(
    parameters: int, tokens: int, adapters: bool = False, recompute: bool = False
) -> int:
    """Return the operations of a training: 6 for each parameter and token, 4 under adapters.

    A forward pass takes 2, a backward pass 2 for the activations and 2 for the gradients of the
    weights, which frozen weights do not need. Recomputing goes forward once more: 2. Attention's
    own products are left out. Source: Kaplan et al. 2020, arXiv 2001.08361, section 2.1.
    """
    return (2 + (2 if adapters else 4) + (2 if recompute else 0)) * parameters * tokens


def seconds(operations: int, peak: float, utilization: float) -> float:
    """Return how long a card takes whose peak is in operations a second, used in part.

    Raises:
        ValueError: for a peak that is not above 0, or a utilization outside ]0, 1].
    """
    if peak <= 0 or not 0 < utilization <= 1:
        raise ValueError(f"peak is {peak}, utilization {utilization}: above 0, and at most 1")
    return operations / (peak * utilization)


def seconds_at(examples: int, epochs: int, per_second: float) -> float:
    """Return how long a training takes at a measured throughput, in examples a second."""
    if per_second <= 0:
        raise ValueError(f"{per_second} examples a second: it must be above 0")
    return examples * epochs / per_second
