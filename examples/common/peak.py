"""The most memory that tensors take at one time: on the processor too, where nobody counts it.

training = loop.fit(model, rows, settings, pad)
next(training)  # the first step makes the optimiser's states
peak = step_peak(model, lambda: next(training))
"""

import weakref
from collections.abc import Callable
from itertools import chain

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


# --8<-- [start:peak]
class PeakMemory(TorchDispatchMode):
    """Counts the bytes of the tensors made inside the block: those alive now, and at most."""

    def __init__(self) -> None:
        """Start at nothing."""
        super().__init__()
        self.alive: dict[int, int] = {}
        self.now = self.peak = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        """Let every operation run, and look at the storages of its results."""
        result = function(*arguments, **(options or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                self.count(tensor.untyped_storage())
        return result

    def count(self, storage: torch.UntypedStorage) -> None:
        """Add a storage that was not there yet; it is taken off when it is freed."""
        key = storage._cdata
        if key in self.alive:
            return
        self.alive[key] = storage.nbytes()
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self.free, key)

    def free(self, key: int) -> None:
        """Take a storage off."""
        self.now -= self.alive.pop(key)
        # --8<-- [end:peak]


# --8<-- [start:step]
class StepMemory(PeakMemory):
    """Also keeps the storages that were there before the block and that it reads or writes."""

    def __init__(self, model: torch.nn.Module) -> None:
        """Start with the weights."""
        super().__init__()
        self.before: dict[int, torch.UntypedStorage] = {}
        for tensor in chain(model.parameters(), model.buffers()):
            self.count_before(tensor)

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        """Look at the storages of an operation's arguments first: states, a batch of rows."""
        for tensor in tree_leaves((arguments, options)):
            if isinstance(tensor, torch.Tensor):
                self.count_before(tensor)
        return super().__torch_dispatch__(function, types, arguments, options)

    def count_before(self, tensor: torch.Tensor) -> None:
        """Keep a storage that the block did not make."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self.alive:
            self.before[storage._cdata] = storage

    def count(self, storage: torch.UntypedStorage) -> None:
        """Add a storage, unless it was there before: an operation may write in place."""
        if storage._cdata not in self.before:
            super().count(storage)


def step_peak(model: torch.nn.Module, step: Callable[[], object]) -> int:
    """Return the bytes of weights and states alive before a step, plus the most while it runs.

    Make one step before, so that the optimiser's states exist. On a GPU it is the allocator's own
    figure, which counts every tensor of the process.
    """
    if next(model.parameters()).is_cuda:
        torch.cuda.reset_peak_memory_stats()
        step()
        return torch.cuda.max_memory_allocated()
    with StepMemory(model) as memory:
        step()
    return sum(storage.nbytes() for storage in memory.before.values()) + memory.peak
    # --8<-- [end:step]


# --8<-- [start:saved]
def measure_saved(model: torch.nn.Module, ids: torch.Tensor) -> int:
    """Count the bytes that a forward pass keeps for the backward pass."""
    own = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:  # (1)!
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):  # (2)!
        model(input_ids=ids, labels=ids)
    return sum(storage.nbytes() for storage in kept.values())
    # --8<-- [end:saved]
