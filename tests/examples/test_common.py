"""What the programs share in common/, by what it really counts and says."""

import pytest
import torch
from transformers import LlamaForCausalLM

from common import guard, record
from common.peak import PeakMemory, step_peak
from tiny import BASE, pad


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


def test_ctrl_c_says_what_is_kept(tmp_path, capsys) -> None:
    def stopped(*output) -> str:
        with pytest.raises(SystemExit) as end, guard.explain_memory(*output):
            raise KeyboardInterrupt
        assert end.value.code == 130
        assert end.value.__suppress_context__, "no traceback of what was running"
        return capsys.readouterr().err.strip()

    assert stopped(tmp_path) == (
        f"stopped: there is no checkpoint yet in {tmp_path}; the same command starts again"
    )
    (tmp_path / "checkpoint-60").mkdir()
    (tmp_path / "checkpoint-60/trainer_state.json").write_text("{}", "utf-8")
    (tmp_path / "checkpoint-75").mkdir()  # cut while it was written
    assert stopped(str(tmp_path)) == (
        f"stopped: checkpoint-60 is kept in {tmp_path};"
        " the same command with --resume goes on from it"
    )
    assert "--resume goes on from it" in stopped()


def test_a_mean_loss_does_not_depend_on_how_rows_are_batched() -> None:
    model = LlamaForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    rows = [
        {"input_ids": list(range(5, 12 + n % 4)), "labels": [-100] * 3 + list(range(8, 12 + n % 4))}
        for n in range(40)
    ]

    def collate(chosen: list[dict]) -> dict[str, torch.Tensor]:
        width = max(len(row["input_ids"]) for row in chosen)
        fill = {"input_ids": 0, "labels": -100}
        return {k: torch.tensor([pad(row[k], width, v) for row in chosen]) for k, v in fill.items()}

    with torch.no_grad():
        whole = model(**collate(rows)).loss.item()
    assert record.held_out_loss(model, rows, collate) == pytest.approx(whole, rel=1e-5)
    assert model.training is False
