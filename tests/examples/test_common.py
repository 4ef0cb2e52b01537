"""What the programs share in common/, by what it really counts and says."""

import pytest
import torch

from common.peak import PeakMemory, step_peak


def test_the_tracker_counts_what_is_alive() -> None:
    with PeakMemory() as memory:
        first = torch.ones(1000)
        second = first * 2
        del first
        third = second[:10]
        assert (memory.now, memory.peak) == (4000, 8000)
        del second
        assert memory.now == 4000, "a view keeps its storage"
        del third
    assert (memory.now, memory.peak) == (0, 8000)


@pytest.mark.parametrize(("momentum", "states"), [(0.0, 0), (0.9, 1)])
def test_a_step_is_weights_states_and_the_most_it_adds(momentum: float, states: int) -> None:
    """One matrix of 1,000 rows of 100: its gradient is as large as it is, its output 4 kB."""
    model = torch.nn.Linear(100, 1000, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum, foreach=False)
    row = torch.ones(1, 100)

    def step() -> None:
        model(row).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    size = 400_000
    peak = step_peak(model, step)
    assert peak == pytest.approx((1 + states) * size + size, abs=20_000)
    assert peak == step_peak(model, step), "a step leaves nothing behind"
    unused = torch.ones(1_000_000)
    assert peak == step_peak(model, step), "what a step does not touch is not its own"
    del unused
