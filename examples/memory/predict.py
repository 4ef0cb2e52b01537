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
    copy of the weights among the optimiser's states (DeepSpeed). `accumulate`: a step is made of
    several pieces, so that gradients are there already when the next piece goes forward.
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
    accumulate: bool = True

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
    """Bytes on one card by consumer. They do not all exist at the same time: see `total`."""

    weights: int
    gradients: int
    optimizer: int
    copies: int
    activations: int
    logits: int
    context: int
    backward: int = 0
    accumulate: bool = True

    @property
    def static(self) -> int:
        """Before the first token: weights, gradients, optimiser states."""
        return self.weights + self.gradients + self.optimizer

    @property
    def at_loss(self) -> int:
        """At the loss: everything but the gradients, unless earlier pieces have left theirs."""
        before = self.static - (0 if self.accumulate else self.gradients)
        return before + self.copies + self.activations + self.logits + self.context

    @property
    def at_step(self) -> int:
        """At the end of the backward pass: all gradients, and what its last layers still need."""
        return self.static + self.backward + self.context

    @property
    def total(self) -> int:
        """The peak of a step: the higher of its two moments."""
        return max(self.at_loss, self.at_step)


def predict(run: Run) -> Budget:
    """Return what a run needs on one card.

    Static state is exact. Tests measure the peak of real steps on the processor: within 2 %, and up
    to 6 % less where recomputing lets autocast's copies go before the loss. Activations are those
    of full fine-tuning, also for adapters: their small tensors and what frozen weights need not
    keep are left out.
    """
    budget = _static(run)
    budget = replace(budget, **_working_set(run), context=run.context)
    return replace(_share(budget, run), backward=_backward_bytes(run), accumulate=run.accumulate)


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


def _compute_type(run: Run) -> str:
    """How activations are computed. Adapters: the frozen base is in 16 bits already. FSDP2 gives
    its layers 16-bit weights itself, so that autocast finds nothing to copy.
    """
    if run.precision == "mixed" and run.method == "full" and run.shards < 3:
        return "autocast"
    return "fp32" if run.precision == "fp32" else "bf16"


def _working_set(run: Run) -> dict[str, int]:
    """Copies, activations and logits. Recomputing adds one layer's activations, at another moment
    than the logits' peak: the larger of the two counts.
    """
    compute = _compute_type(run)
    sizes = (run.shape, run.rows, run.length)
    saved = saved_bytes(*sizes, compute, run.attention, run.recompute)
    loss = 4 * run.shape.vocabulary * run.rows * run.length
    logits = logit_bytes(*sizes)
    one = layer_bytes(run.shape, run.length, compute, run.attention) * run.rows * run.length
    return {
        "activations": saved - loss + (max(0, one - logits) if run.recompute else 0),
        "logits": logits,
        "copies": _copy_bytes(run),
    }


def _copy_bytes(run: Run) -> int:
    """Whole weights beside those that are kept: autocast's 16-bit copies of all matrices, or, when
    weights are shared out, what is gathered: one layer at a time, and the tables and last norm.

    Source: FSDP2 frees a unit after its forward pass, the root excepted (`reshard_after_forward` in
    torch.distributed.fsdp.fully_shard); what it fetches ahead of time is left out.
    """
    counts = count_parameters(run.shape)
    if run.shards < 3:
        copied = counts.linear + counts.embedding
        return 2 * copied if _compute_type(run) == "autocast" else 0
    root = counts.embedding + counts.head + run.shape.hidden
    linear = counts.linear // run.shape.layers
    other = (counts.other - run.shape.hidden) // run.shape.layers
    if run.method == "qlora":
        return nf4_bytes(linear) + 2 * (other + root)
    wide = 4 if run.precision == "fp32" and run.method == "full" else 2
    return wide * (linear + other + root)


def _backward_bytes(run: Run) -> int:
    """The end of the backward pass: the larger of a recomputed layer's activations, and the
    gradients of a table that serves twice, as embeddings and as head, before they are added up
    (fp32 and bf16 add the two into a third).
    """
    compute = _compute_type(run)
    layer = layer_bytes(run.shape, run.length, compute, run.attention) * run.rows * run.length
    layer = layer if run.recompute else 0
    if run.method != "full" or not run.shape.tied:
        return layer
    wide = 2 if run.precision in ("bf16", "master") else 4
    waiting = 1 if compute == "autocast" else 2
    return max(layer, waiting * wide * count_parameters(run.shape).embedding)


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
