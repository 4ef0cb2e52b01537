"""One training on several GPUs, with DDP or FSDP2, in plain PyTorch: launched by torchrun.

Chapter scale/distributed of the course. with_trainer.py does the same with Trainer.

    torchrun --nproc-per-node 2 examples/scale/distributed/train.py --tiny      any computer
    python examples/scale/distributed/train.py                                  one free T4
    torchrun --nproc-per-node 2 examples/scale/distributed/train.py             two free T4
    torchrun --nproc-per-node 2 examples/scale/distributed/train.py --model Qwen/Qwen3-1.7B-Base
        two cards of 24 GB: 19.3 GB on each with FSDP2, 36.0 GB with DDP
    torchrun --nproc-per-node 8 examples/scale/distributed/train.py --model Qwen/Qwen3-8B-Base
        eight cards of 80 GB: 24.5 GB on each with FSDP2, 152.0 GB with DDP

Memory of each GPU, predicted before any weight is loaded: 16 B/parameter of static state, divided
by the number of GPUs with FSDP2 and not with DDP; then its own activations and logits, and with
FSDP2 the 16-bit weights that it gathers, a layer at a time, and those of both tables. shares.py
prints the table. Qwen2.5-0.5B on T4, which compute no bf16 and so train in fp32: 12.6 GB on one, or
on each of two with DDP; 9.3 GB with FSDP2.
"""

import argparse
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    set_seed,
)
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard
from common.options import choose_settings, make_parser
from common.rows import read
from full.traditional.loop import collate
from full.traditional.train import PLAIN_TEMPLATE, answer_end, encode_all
from memory import Run, predict
from tiny import BASE, DATA

WAYS = ("single", "ddp", "fsdp2")


# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings:
    """All that a run depends on; the command line changes most of it."""

    model: str = "Qwen/Qwen2.5-0.5B"
    data: str = "databricks/databricks-dolly-15k"
    output: Path = Path("output/distributed")
    way: str = "fsdp2"  # (1)!
    seed: int = 42
    steps: int = 500
    learning_rate: float = 2e-5
    global_batch: int = 16  # (2)!
    batch_size: int = 4  # (3)!
    max_tokens: int = 512
    save_every: int = 100


TINY = Settings(
    model=str(BASE),
    data=str(DATA),
    output=Path("output/distributed-tiny"),
    steps=8,
    learning_rate=1e-3,
    max_tokens=128,
    save_every=4,
)
# --8<-- [end:settings]


# --8<-- [start:join]
@dataclass(frozen=True)
class Me:
    """One of the processes: its number, how many there are, its device, what it computes in."""

    rank: int
    world: int
    device: torch.device
    precision: str = "fp32"


def join(tiny: bool) -> Me:
    """Join the processes that torchrun started; without it, be the only one."""
    local = int(os.environ.get("LOCAL_RANK", 0))  # (1)!
    device = torch.device("cpu") if tiny else torch.device("cuda", local)
    precision = "fp32"
    if device.type == "cuda":
        torch.cuda.set_device(device)  # (2)!
        if torch.cuda.is_bf16_supported(including_emulation=False):
            precision = "bf16"
    if "RANK" not in os.environ:
        return Me(0, 1, device, precision)
    dist.init_process_group("gloo" if tiny else "nccl")  # (3)!
    return Me(dist.get_rank(), dist.get_world_size(), device, precision)
    # --8<-- [end:join]


# --8<-- [start:shard]
def shard(model: PreTrainedModel, me: Me) -> PreTrainedModel:
    """Cut the weights into as many shares as there are processes: FSDP2."""
    mesh = init_device_mesh(me.device.type, (me.world,))
    policy = MixedPrecisionPolicy()
    if me.precision == "bf16":
        policy = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)  # (1)!
    for module in model.modules():
        if type(module).__name__ in model._no_split_modules:  # (2)!
            fully_shard(module, mesh=mesh, mp_policy=policy)
    return fully_shard(model, mesh=mesh, mp_policy=policy)  # (3)!


def load_sharded(settings: Settings, me: Me) -> PreTrainedModel:
    """Load the weights on one process, and give every process its share of them."""
    config = AutoConfig.from_pretrained(settings.model)
    with torch.device("meta"):  # (4)!
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model = shard(prepare_model(model, me), me)
    model.to_empty(device=me.device)
    model.tie_weights()  # (5)!
    whole = load_whole(settings) if me.rank == 0 else None
    weights = whole.state_dict() if whole else {}
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(model, weights, options=options)  # (6)!
    for name, buffer in model.named_buffers():
        if whole:
            buffer.copy_(whole.get_buffer(name))
        share(buffer, me)
    return model
    # --8<-- [end:shard]


def load_whole(settings: Settings) -> PreTrainedModel:
    """Load all weights in fp32, into the memory of the processor."""
    with guard.explain("model", settings.model):
        return AutoModelForCausalLM.from_pretrained(settings.model, dtype=torch.float32)


def load_tokenizer(settings: Settings) -> PreTrainedTokenizerBase:
    """Load the tokenizer, as the chapter on traditional training does."""
    with guard.explain("model", settings.model):
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
    tokenizer.chat_template = tokenizer.chat_template or PLAIN_TEMPLATE
    tokenizer.eos_token_id = answer_end(tokenizer)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def share(tensor: torch.Tensor, me: Me) -> None:
    """Give all processes what process 0 has."""
    if me.world > 1:
        dist.broadcast(tensor, 0)


def prepare_model(model: PreTrainedModel, me: Me) -> PreTrainedModel:
    """Set the model to train, on a GPU with recomputed activations."""
    if me.device.type == "cuda":
        model.activation_checkpointing_enable()
    return model.train()


# --8<-- [start:wrap]
def load(settings: Settings, me: Me) -> torch.nn.Module:
    """Load the model in the way asked for."""
    if settings.way == "fsdp2":
        return load_sharded(settings, me)
    model = prepare_model(load_whole(settings).to(me.device), me)
    if settings.way == "ddp":
        return DistributedDataParallel(model)  # (1)!
    return model
    # --8<-- [end:wrap]


# --8<-- [start:batch]
def choose_rows(rows: list[dict], step: int, settings: Settings, me: Me) -> list[list[dict]]:
    """Choose this process's part of a step's rows, in pieces of `batch_size`."""
    batches = len(rows) // settings.global_batch
    epoch, place = divmod(step, batches)
    shuffle = torch.Generator().manual_seed(settings.seed + epoch)  # (1)!
    order = torch.randperm(len(rows), generator=shuffle).tolist()
    first = place * settings.global_batch
    mine = order[first : first + settings.global_batch][me.rank :: me.world]  # (2)!
    size = settings.batch_size
    return [[rows[i] for i in mine[at : at + size]] for at in range(0, len(mine), size)]
    # --8<-- [end:batch]


# --8<-- [start:loop]
def fit(model, optimizer, rows, settings: Settings, me: Me, pad: int, first: int = 0):
    """Train from step `first` on; yields each step and its loss, the same on every process."""
    for step in range(first, settings.steps):
        pieces = [collate(piece, pad) for piece in choose_rows(rows, step, settings, me)]
        targets = sum((piece["labels"][:, 1:] != -100).sum() for piece in pieces).to(me.device)
        total = torch.zeros((), device=me.device)
        add_up(targets, me)  # (1)!
        optimizer.zero_grad()
        for number, piece in enumerate(pieces, 1):
            synchronise(model, number == len(pieces))  # (2)!
            piece = {name: tensor.to(me.device) for name, tensor in piece.items()}
            with autocast(settings, me):
                loss = model(**piece, num_items_in_batch=targets).loss
            (loss * me.world).backward()  # (3)!
            total += loss.detach()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # (4)!
        optimizer.step()
        add_up(total, me)
        yield step + 1, total.item()


def add_up(tensor: torch.Tensor, me: Me) -> None:
    """Replace a tensor by its sum over all processes."""
    if me.world > 1:
        dist.all_reduce(tensor)


def synchronise(model, now: bool) -> None:
    """Exchange gradients after this piece, or wait for the last one."""
    if isinstance(model, DistributedDataParallel):
        model.require_backward_grad_sync = now
    if isinstance(model, FSDPModule):
        model.set_requires_gradient_sync(now)
        # --8<-- [end:loop]


def autocast(settings: Settings, me: Me):
    """Compute in 16 bits where the card can; FSDP2 does so by its policy instead."""
    if me.precision == "bf16" and settings.way != "fsdp2":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


# --8<-- [start:save]
def save(folder: Path, model, optimizer, step: int) -> None:
    """Save what is needed to go on: every process writes its own share."""
    weights, states = get_state_dict(model, optimizer)  # (1)!
    state = {"model": weights, "optimizer": states, "step": step}
    dcp.save(state, checkpoint_id=folder)


def resume(folder: Path, model, optimizer) -> int:
    """Go on from a checkpoint, with as many processes as there are now; return its step."""
    weights, states = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": states, "step": 0}
    dcp.load(state, checkpoint_id=folder)  # (2)!
    set_state_dict(
        model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"]
    )
    return state["step"]


def save_whole(output: Path, model, tokenizer, me: Me) -> None:
    """Save the trained model as one that `from_pretrained` loads."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights = get_model_state_dict(model, options=options)  # (3)!
    if me.rank == 0:
        inner = model.module if isinstance(model, DistributedDataParallel) else model
        inner.save_pretrained(output, state_dict=weights)
        tokenizer.save_pretrained(output)
        # --8<-- [end:save]


def last_checkpoint(output: Path, wanted: bool) -> Path | None:
    """Find where to go on. `.metadata` is written last: without it a checkpoint is not whole."""
    found = [path.parent for path in output.glob("step-*/.metadata")]
    last = max(found, key=lambda path: int(path.name.split("-")[1]), default=None)
    if last and not wanted:
        guard.stop(
            f"{output} holds an unfinished run ({last.name})",
            "add --resume to go on with it, or name another folder with --output",
        )
    if wanted and not last:
        guard.stop(f"nothing to resume in {output}", "start without --resume, or name --output")
    return last


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--way", choices=WAYS, help="fsdp2 under torchrun, else single")
    parser.add_argument("--model", help="folder or name on the Hub")
    parser.add_argument("--data", help="folder, file, or name on the Hub")
    parser.add_argument("--output", type=Path, help="folder for checkpoints and model")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--global-batch", type=int, help="rows of a step, on all GPUs together")
    parser.add_argument("--batch-size", type=int, help="rows at once on each GPU")
    parser.add_argument("--max-tokens", type=int, help="longer rows are dropped")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with the command line, and refuse what cannot be run."""
    launched = "RANK" in os.environ
    default = replace(TINY if options.tiny else Settings(), way="fsdp2" if launched else "single")
    settings = choose_settings(default, options)
    check_launch(settings, launched, int(os.environ.get("WORLD_SIZE", 1)))
    if not options.tiny:
        check_cards(torch.cuda.device_count(), int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
    return settings


def check_launch(settings: Settings, launched: bool, world: int) -> None:
    """Refuse a way to train that does not suit the way of starting, and uneven batches."""
    if settings.way != "single" and not launched:
        guard.stop(
            f"--way {settings.way} needs several processes", "torchrun --nproc-per-node 2 train.py"
        )
    if settings.way == "single" and world > 1:
        guard.stop(
            f"each of {world} processes would train the whole model by itself",
            "choose --way ddp or --way fsdp2, or start without torchrun",
        )
    if settings.batch_size < 1 or settings.global_batch % (world * settings.batch_size):
        guard.stop(
            f"--global-batch {settings.global_batch} is not a multiple of"
            f" {world} processes x --batch-size {settings.batch_size}",
            "change one of them: every process must have as many rows as the others",
        )


def check_cards(cards: int, processes: int) -> None:
    """Refuse to run without a GPU for each process of this machine."""
    if not cards:
        guard.stop("no GPU found", "add --tiny to train on the processor, or use a GPU")
    if processes > cards:
        guard.stop(
            f"{processes} processes on this machine, {cards} GPUs",
            f"torchrun --nproc-per-node {cards}",
        )


def check_memory(settings: Settings, me: Me, config: dict, memory: int) -> None:
    """Predict the peak on each GPU; if it is too high, say what would lower it."""
    shape = guard.find_shape(config)
    if not shape:
        return
    # The sums of bf16 weights with an fp32 copy are also those of FSDP2: fp32 shares, 16-bit layers
    kind = {"ddp": "mixed", "single": "mixed", "fsdp2": "master"}[settings.way]
    kind = "fp32" if me.precision == "fp32" else kind
    run = Run(shape, precision=kind, rows=settings.batch_size, length=settings.max_tokens)
    sharded = replace(run, gpus=me.world, shards=3) if me.world > 1 else run
    needed = predict(sharded if settings.way == "fsdp2" else run).total
    print(f"memory predicted on each GPU: {needed / 1e9:.3g} GB of {memory / 1e9:.3g} GB")
    if needed <= memory:
        return
    mend = "lower --batch-size and --max-tokens, or use more GPUs"
    if settings.way == "ddp" and predict(sharded).total <= memory:
        mend = "--way fsdp2 shares out the states: it fits"
    guard.stop(f"each GPU has {memory / 1e9:.3g} GB, the run needs {needed / 1e9:.3g} GB", mend)


def prepare(settings: Settings, me: Me, wanted: bool) -> Path | None:
    """Check all that can be checked before weights are loaded; find where to go on."""
    last = last_checkpoint(settings.output, wanted)
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model)
    if me.device.type == "cuda":
        memory = torch.cuda.get_device_properties(me.device).total_memory
        check_memory(settings, me, config.to_dict(), memory)
    return last


def make_optimizer(model: torch.nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Make AdamW for the weights that this process has: all of them, or its share."""
    return torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.0)


def train(settings: Settings, me: Me, last: Path | None) -> Iterator[tuple[int, float]]:
    """Load, train, save; yields each step and its loss."""
    set_seed(settings.seed)
    tokenizer, model = load_tokenizer(settings), load(settings, me)
    rows = encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    optimizer = make_optimizer(model, settings)
    first = resume(last, model, optimizer) if last else 0
    for step, loss in fit(model, optimizer, rows, settings, me, tokenizer.pad_token_id, first):
        yield step, loss
        if step % settings.save_every == 0 and step < settings.steps:
            save(settings.output / f"step-{step}", model, optimizer, step)
    save_whole(settings.output, model, tokenizer, me)


def main(argv: list[str] | None = None) -> None:
    """Check, join the others, train, and show the losses."""
    options = read_options(argv)
    settings = choose(options)
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # else each load reports the tied output layer as missing
    warnings.filterwarnings("ignore", "torch.distributed is disabled")  # one process: as meant
    me = join(options.tiny)
    if me.rank:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (open until the end: one voice is enough)
    last = prepare(settings, me, options.resume)
    print(f"{settings.way}: {me.world} processes, computing in {me.precision}")
    with guard.explain_memory():
        for step, loss in train(settings, me, last):
            print(f"step {step:4}   loss {loss:.4f}", flush=True)
    if me.rank == 0:
        for checkpoint in settings.output.glob("step-*"):
            shutil.rmtree(checkpoint)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
