"""What the programs share in common/, by what it really counts and says."""

import errno
import json
import math
import re
from argparse import Namespace

import pytest
import torch
from safetensors import SafetensorError
from transformers import LlamaForCausalLM

from common import guard, record, rows
from common.peak import PeakMemory, step_peak
from common.programs import EXAMPLES
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", 0),
        ("max_tokens", -1),
        ("seed", -1),
        ("seed", 2**32),
        ("epochs", 0.0),
        ("epochs", math.inf),
        ("learning_rate", math.nan),
        ("beta", -0.1),
    ],
)
def test_a_number_of_no_use_is_refused_and_others_pass(name: str, value: float) -> None:
    option = f"--{name.replace('_', '-')} is {value}"
    with pytest.raises(SystemExit, match=f"^error: {option}\n  mend: choose "):
        guard.check_options(Namespace(**{name: value}))
    kept = Namespace(batch_size=1, max_tokens=None, seed=0, epochs=0.1, other=-1)
    assert guard.check_options(kept) is kept


def test_a_disk_that_fills_up_says_what_is_kept(tmp_path) -> None:
    """On /dev/full each write fails as on a full disk; the libraries say it in their own ways."""
    part = tmp_path / "checkpoint-5"
    part.mkdir()
    (part / "trainer_state.json").write_text('{"epoch"')  # cut while it was written
    end = r"the disk is full; there is no checkpoint yet in .*\n  mend: free some space"
    full = pytest.raises(SystemExit, match=end)
    with full, guard.explain_memory(tmp_path), open("/dev/full", "w") as file:
        file.write("x" * 100_000)
    messages = [
        SafetensorError("Error while serializing: I/O error: No space left (os error 28)"),
        RuntimeError("PytorchStreamWriter failed writing file data/1: file write failed"),
    ]
    for error in messages:
        with pytest.raises(SystemExit, match=end), guard.explain_memory(tmp_path):
            raise error
    with pytest.raises(OSError, match="other"), guard.explain_memory(tmp_path):
        raise OSError(errno.EIO, "other")


def test_an_output_that_is_no_folder_is_refused(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for output in (file, file / "under"):
        with pytest.raises(SystemExit, match="file is not a folder\n  mend: name another"):
            guard.last_checkpoint(output, resume=False)
    assert guard.last_checkpoint(tmp_path / "new" / "one", resume=False) is None
    assert not (tmp_path / "new").exists()


def test_rows_are_read_as_they_are_or_refused(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {"instruction": "one\u2028two", "context": "", "response": "c"}
    line = json.dumps(row, ensure_ascii=False)
    path.write_text(f"\ufeff{line}\n\n{line}\n", encoding="utf-8")
    assert guard.read_jsonl(path, rows.COLUMNS) == [row, row]
    with pytest.raises(SystemExit, match="has 2 rows: too few"):
        rows.read(str(path))
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SystemExit, match=r"not UTF-8 \(byte 7\)"):
        guard.read_jsonl(path, ("a",))


def test_programs_silence_bitsandbytes_before_it_is_imported() -> None:
    """Else each would begin with a line that looks like a failure; see common/__init__.py."""
    loud = re.compile(r"^(?:from|import) (?:bitsandbytes|peft|trl|transformers)\b", re.MULTILINE)
    for path in EXAMPLES.glob("*/*/*.py"):
        text = path.read_text("utf-8")
        needs = re.search(r"^(?:from|import) (?:bitsandbytes|peft|trl)\b", text, re.MULTILINE)
        if needs and "\nif __name__" in text:
            assert text.index("\nfrom common import") < loud.search(text).start(), path
