"""The same eight steps on one process, with DDP and with FSDP2: their losses, and what each holds.

    torchrun --nproc-per-node 2 examples/scale/distributed/compare.py --record

On the processor, without a network, in half a minute. The last column goes on, on one process, from
a checkpoint that two processes wrote with FSDP2 after four steps.
"""

import argparse
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PreTrainedTokenizerBase,
    set_seed,
)
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.rows import read
from full.traditional.train import encode_all
from memory import Run, predict, read_config
from scale.distributed import train

HERE = Path(__file__).resolve().parent
HALF = train.TINY.steps // 2


def held(tensors: list[torch.Tensor]) -> int:
    """Count the bytes of tensors that are on this process: of a shared one, its own part."""
    local = [one.to_local() if isinstance(one, DTensor) else one for one in tensors]
    return sum(one.numel() * one.element_size() for one in local)


def held_bytes(model, optimizer) -> dict[str, int]:
    """Count what this process holds at the end of a step, before the gradients are let go."""
    weights = list(model.parameters())
    states = [v for state in optimizer.state.values() for v in state.values() if v.ndim]
    gradients = [weight.grad for weight in weights]
    return {
        "weights": held(weights),
        "gradients": held(gradients),
        "optimizer": held(states),
    }


def formula_bytes(way: str, world: int) -> int:
    """Predict the sum of these three with the formulas of examples/memory."""
    config = AutoConfig.from_pretrained(train.TINY.model)
    shards = {"gpus": world, "shards": 3} if way == "fsdp2" else {}
    return predict(Run(read_config(config.to_dict()), precision="fp32", **shards)).static


def same_folder(own: str) -> Path:
    """Give every process the folder of process 0."""
    names = [own]
    dist.broadcast_object_list(names, 0)
    return Path(names[0])


@dataclass(frozen=True)
class Work:
    """What all runs have in common: the rows, the padding, and a folder that all processes see."""

    rows: list[dict]
    tokenizer: PreTrainedTokenizerBase
    folder: Path

    @property
    def half(self) -> Path:
        """Where the run with FSDP2 is saved half-way."""
        return self.folder / f"step-{HALF}"

    @property
    def whole(self) -> Path:
        """Where its trained model is saved."""
        return self.folder / "whole"


def start(way: str, me: train.Me) -> tuple:
    """Load the model in one way, and make its optimiser."""
    settings = replace(train.TINY, way=way)
    set_seed(settings.seed)
    model = train.load(settings, me)
    return settings, model, train.make_optimizer(model, settings)


def run(way: str, work: Work, me: train.Me) -> tuple[list[dict], dict, torch.nn.Module]:
    """Train in one way; with FSDP2, save half-way and at the end."""
    settings, model, optimizer = start(way, me)
    losses = []
    steps = train.fit(model, optimizer, work.rows, settings, me, work.tokenizer.pad_token_id)
    for step, loss in steps:
        losses.append({"x": step, "y": loss})
        if step == HALF and way == "fsdp2":
            train.save(work.half, model, optimizer, step)
    if way == "fsdp2":
        train.save_whole(work.whole, model, work.tokenizer, me)
    return losses, held_bytes(model, optimizer), model


def go_on(work: Work, me: train.Me) -> list[dict]:
    """Load the checkpoint of all processes into one, and make the other steps."""
    settings, model, optimizer = start("single", me)
    first = train.resume(work.half, model, optimizer)
    steps = train.fit(model, optimizer, work.rows, settings, me, work.tokenizer.pad_token_id, first)
    return [{"x": step, "y": loss} for step, loss in steps]


def difference(model: torch.nn.Module, folder: Path) -> float:
    """Return the largest difference between the weights of a model and of a saved one."""
    saved = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    pairs = zip(model.parameters(), saved.parameters(), strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


def compare(work: Work, me: train.Me) -> dict:
    """Train in every way, one after the other."""
    alone = replace(me, rank=0, world=1)
    found: dict = {"losses": {}, "held": []}
    trained = {}
    for way in train.WAYS:
        who = alone if way == "single" else me
        found["losses"][way], held, trained[way] = run(way, work, who)
        found["held"].append({"id": way} | held | {"formula": formula_bytes(way, who.world)})
    dist.barrier()  # the files of process 0 must be whole
    found["losses"]["resumed"] = go_on(work, alone)
    found["difference"] = difference(trained["single"], work.whole)
    return found


def loss_table(losses: dict[str, list[dict]]) -> str:
    """Write the losses side by side."""
    lines = ["step   one process        DDP      FSDP2   FSDP2, then one process"]
    resumed = {point["x"]: point["y"] for point in losses["resumed"]}
    for single, ddp, fsdp2 in zip(*(losses[way] for way in train.WAYS), strict=True):
        step = single["x"]
        last = f"{resumed[step]:26.5f}" if step in resumed else ""
        lines.append(f"{step:4}{single['y']:14.5f}{ddp['y']:11.5f}{fsdp2['y']:11.5f}{last}")
    return "\n".join(lines)


def byte_table(rows: list[dict], world: int) -> str:
    """Write what one of the processes holds, and what the formula says."""
    parts = ("weights", "gradients", "optimizer")
    lines = [f"bytes held by one of {world} processes"]
    lines.append(f"{'':7}{'weights':>11}{'gradients':>11}{'states':>11}{'sum':>12}{'formula':>12}")
    for row in rows:
        cells = "".join(f"{row[part]:11,}" for part in parts)
        total = sum(row[part] for part in parts)
        lines.append(f"{row['id']:7}{cells}{total:12,}{row['formula']:12,}")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Train in each way, and show what is the same and what is not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    options = parser.parse_args(argv)
    if int(os.environ.get("WORLD_SIZE", 1)) < 2:
        guard.stop("one process has nobody to share with", "torchrun --nproc-per-node 2 compare.py")
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # else each load reports the tied output layer as missing
    me = train.join(tiny=True)
    if me.rank:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (open until the end: one voice is enough)
    tokenizer = train.load_tokenizer(train.TINY)
    rows = encode_all(read(train.TINY.data)[0], tokenizer, train.TINY.max_tokens)
    with TemporaryDirectory() as own:
        found = compare(Work(rows, tokenizer, same_folder(own)), me)
        dist.barrier()  # process 0 removes the folder: the others must have read it
    folder = HERE if options.record and me.rank == 0 else None
    record.show(loss_table(found["losses"]), folder, "losses.txt")
    record.show(byte_table(found["held"], me.world), folder, "held.txt")
    print(f"weights of FSDP2 and of one process differ by at most {found['difference']:.1e}")
    if folder:
        facts = record.settings(train.TINY) | {"processes": me.world}
        del facts["settings"]["way"]
        facts |= {f"losses_{way}": points for way, points in found["losses"].items()}
        record.write(HERE, facts | {"held": found["held"], "difference": found["difference"]})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
