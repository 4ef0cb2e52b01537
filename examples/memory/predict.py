"""A whole run: what each consumer takes on one card, with adapters, shards and recomputing."""

from dataclasses import dataclass, replace

from memory.activations import layer_bytes, logit_bytes, saved_bytes
from memory.counts import Counts, count_lora, count_parameters
from memory.recipes import OPTIMIZERS, nf4_bytes, state_bytes
from memory.shapes import Shape

METHODS = ("full", "lora", "qlora")
PRECISIONS = ("mixed", "master", "bf16", "fp32")
CONTEXT = 800_000_000  # what CUDA takes before any tensor; 0.5 to 1 GB on current cards


@dataclass(frozen=True)
class Run:
    """The settings of a run. `shards` is the ZeRO stage: 0 for plain data parallelism.

    `precision` is that of the trained weights: "mixed" keeps them in fp32 and computes in 16 bits
    (Trainer, FSDP2 through accelerate); "master" keeps 16-bit weights and gradients, and an fp32
    copy of the weights among the optimiser's states (DeepSpeed).
    """

    shape: Shape
    method: str = "full"
    precision: str = "mixed"
    optimizer: str = "adamw"
    rows: int = 1
    length: int = 512
    recompute: bool = True
    gpus: int = 1
    shards: int = 0
    rank: int = 16
    attention: str = "sdpa"
    context: int = CONTEXT

    def __post_init__(self) -> None:
        """Refuse what cannot be run.

        Raises:
            ValueError: naming the setting, its value and the choices.
        """
        choices = {"method": METHODS, "precision": PRECISIONS, "optimizer": tuple(OPTIMIZERS)}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}: choose from {', '.join(known)}"
                )
        if self.gpus < 1 or self.shards not in range(4):
            raise ValueError(
                f"gpus is {self.gpus} and shards {self.shards}: at least 1, and 0 to 3"
            )
        if self.shards and self.gpus == 1:
            raise ValueError(f"shards is {self.shards} on one GPU: there is nobody to share with")


@dataclass(frozen=True)
class Budget:
    """Bytes on one card at the peak of a step."""

    weights: int
    gradients: int
    optimizer: int
    copies: int
    activations: int
    logits: int
    context: int

    @property
    def static(self) -> int:
        """Before the first token: weights, gradients, optimiser states."""
        return self.weights + self.gradients + self.optimizer

    @property
    def total(self) -> int:
        """All of it."""
        return self.static + self.copies + self.activations + self.logits + self.context


def predict(run: Run) -> Budget:
    """Return what a run needs on one card.

    Static state is exact. Activations are those of full fine-tuning, also for adapters: their small
    tensors and what frozen weights need not keep are left out.
    """
    budget = _static(run)
    budget = replace(budget, **_working_set(run), context=run.context)
    return _share(budget, run)


def _static(run: Run) -> Budget:
    counts = count_parameters(run.shape)
    copy = 4 if run.precision == "master" else 0
    wide = 2 if run.precision in ("bf16", "master") else 4
    moment = 2 if run.precision == "bf16" else 4
    if run.method == "full":
        size, frozen = counts, 0
    else:
        adapter = count_lora(run.shape, run.rank)
        size = Counts(embedding=0, head=0, linear=adapter, other=0)
        frozen = _frozen_bytes(run, counts)
    return Budget(
        weights=frozen + wide * size.total,
        gradients=wide * size.total,
        optimizer=state_bytes(size, run.optimizer, moment) + copy * size.total,
        copies=0,
        activations=0,
        logits=0,
        context=0,
    )


def _frozen_bytes(run: Run, counts: Counts) -> int:
    """The base under an adapter: 16 bits; or NF4 for its linear matrices, 16 bits for the rest."""
    if run.method == "lora":
        return 2 * counts.total
    return nf4_bytes(counts.linear) + 2 * (counts.total - counts.linear)


def _working_set(run: Run) -> dict[str, int]:
    """Copies, activations and logits. Recomputing adds one layer's activations, at another moment
    than the logits' peak: the larger of the two counts.
    """
    compute = {"mixed": "autocast", "master": "bf16"}.get(run.precision, run.precision)
    if run.method != "full" and compute == "autocast":
        compute = "bf16"  # the frozen base is in 16 bits already: no copies, no casts
    sizes = (run.shape, run.rows, run.length)
    saved = saved_bytes(*sizes, compute, run.attention, run.recompute)
    loss = 4 * run.shape.vocabulary * run.rows * run.length
    logits = logit_bytes(*sizes)
    one = layer_bytes(run.shape, run.length, compute, run.attention) * run.rows * run.length
    linear = count_parameters(run.shape)
    copies = 2 * (linear.linear + linear.embedding) if compute == "autocast" else 0
    return {
        "activations": saved - loss + (max(0, one - logits) if run.recompute else 0),
        "logits": logits,
        "copies": copies,
    }


def _share(budget: Budget, run: Run) -> Budget:
    """Divide what a ZeRO stage shards: 1 optimiser states, 2 also gradients, 3 also weights.

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 5.
    """
    shared = {"optimizer": 1, "gradients": 2, "weights": 3}
    return replace(
        budget,
        **{
            name: -(-getattr(budget, name) // run.gpus)
            for name, stage in shared.items()
            if run.shards >= stage
        },
    )
