"""Graphics cards: the memory they are sold with, and what a program finds there.

A card sold for 24 GB has 24 GiB of chips, a little of which the driver, and error correction where
it is on, keep for themselves. `usable` is what PyTorch reports as the card's total, rounded down to
half a GiB; it changes a little with the driver: read yours from
`torch.cuda.get_device_properties(0).total_memory`. Sources: NVIDIA's data sheets for the memory
sold; for the total, out-of-memory messages such as ali-vilab/VGen issue 104 (RTX 4090, 23.64 GiB),
XChenZ/havatar issue 6 (RTX 3090, 23.50) and levihsu/OOTDiffusion issue 235 (A100, 79.25).
"""

from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True)
class Card:
    """A card by name: GB as sold, and bytes that a program can use, CUDA's own included."""

    name: str
    sold: int
    usable: int


CARDS: tuple[Card, ...] = (
    Card("T4", 16, 29 * GIB // 2),
    Card("L4", 24, 22 * GIB),
    Card("A10G", 24, 22 * GIB),
    Card("RTX 3090", 24, 47 * GIB // 2),
    Card("RTX 4090", 24, 47 * GIB // 2),
    Card("A100", 40, 39 * GIB),
    Card("A100", 80, 79 * GIB),
    Card("H100", 80, 79 * GIB),
    Card("H200", 141, 279 * GIB // 2),
)
