"""The same training with Trainer: the launch file alone says how it is shared out.

Chapter scale/distributed of the course. train.py does the same in plain PyTorch.

    torchrun --nproc-per-node 2 examples/scale/distributed/with_trainer.py --tiny     any computer
    accelerate launch --config_file examples/scale/distributed/launch/one-gpu.yaml
        examples/scale/distributed/with_trainer.py                           one GPU, a free T4 too
    accelerate launch --config_file examples/scale/distributed/launch/fsdp2-2.yaml
        examples/scale/distributed/with_trainer.py                           two cards of 24 GB
    accelerate launch --config_file examples/scale/distributed/launch/zero3-8.yaml
        examples/scale/distributed/with_trainer.py --model Qwen/Qwen3-8B-Base     eight of 80 GB

Each command is one line. Memory on each GPU is that of train.py; shares.py prints the table. The
zero2 and zero3 files need DeepSpeed: pip install deepspeed==0.19.8.
"""

import argparse
import os
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard
from common.options import choose_settings, make_parser
from common.rows import read

# isort: split
import torch
from transformers import (
    AutoConfig,
    DataCollatorForSeq2Seq,
    Trainer,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging

from full.traditional.train import encode_all
from scale.distributed import train


# --8<-- [start:asked]
def asked() -> str:
    """Read how the launcher wants the run shared out, from the variables that it sets."""
    if os.environ.get("ACCELERATE_USE_FSDP") == "true":  # (1)!
        return "FSDP"
    if os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true":
        return "DEEPSPEED"
    return "DDP" if int(os.environ.get("WORLD_SIZE", 1)) > 1 else "NO"


def check_asked(way: str) -> None:
    """Refuse what would not happen: Trainer would train in another way, without a word."""
    if way in ("FSDP", "DEEPSPEED") and not torch.cuda.is_available():
        guard.stop(
            f"the launch file asks for {way}, and there is no GPU: accelerate would not shard"
            " anything, it would silently train with DDP",  # (2)!
            "torchrun --nproc-per-node 2 train.py --tiny: it shards on the processor too",
        )
    if way == "DEEPSPEED" and find_spec("deepspeed") is None:
        guard.stop("DeepSpeed is not installed", "pip install deepspeed==0.19.8, or an fsdp2 file")


def check_given(way: str, trainer: Trainer) -> None:
    """Compare what was asked for with what Trainer has prepared."""
    kind = trainer.accelerator.distributed_type.value
    if kind.startswith("MULTI"):  # MULTI_GPU, MULTI_CPU: a copy of the model on each
        kind = "DDP" if trainer.args.world_size > 1 else "NO"
    if kind != way:
        guard.stop(f"{way} was asked for, Trainer prepared {kind}", "look at the launch file")
    print(f"shared out by {kind} among {trainer.args.world_size} processes")
    # --8<-- [end:asked]


def check_fit(settings: train.Settings, way: str) -> None:
    """Predict the peak on each GPU before weights are loaded."""
    if way == "DEEPSPEED":
        print("memory: shares.py predicts it for each stage of ZeRO")
        return
    kind = {"NO": "single", "DDP": "ddp", "FSDP": "fsdp2"}[way]
    bf16 = torch.cuda.is_bf16_supported(including_emulation=False)
    world, device = int(os.environ.get("WORLD_SIZE", 1)), torch.device("cuda")
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model).to_dict()
    memory = torch.cuda.get_device_properties(0).total_memory
    me = train.Me(0, world, device, "bf16" if bf16 else "fp16")
    train.check_memory(replace(settings, way=kind), me, config, memory)


@dataclass(frozen=True)
class Plan:
    """How a step's rows are cut: those at once on each GPU, and how many times."""

    batch_size: int
    accumulation: int


def plan(settings: train.Settings, world: int) -> Plan:
    """Keep the global batch whatever the number of GPUs."""
    whole, at_once = settings.global_batch, settings.batch_size
    if at_once < 1 or whole % (at_once * world):
        guard.stop(
            f"--global-batch {whole} is not a multiple of {world} processes x --batch-size"
            f" {at_once}",
            "change one of them: every process must have as many rows as the others",
        )
    return Plan(at_once, whole // (at_once * world))


# --8<-- [start:arguments]
def arguments(settings: train.Settings, way: str, tiny: bool) -> TrainingArguments:
    """State every choice of the training; how it is shared out is not among them."""
    world = int(os.environ.get("WORLD_SIZE", 1))
    cut = plan(settings, world)
    bf16 = not tiny and torch.cuda.is_bf16_supported(including_emulation=False)
    return TrainingArguments(
        output_dir=str(settings.output),
        max_steps=settings.steps,
        per_device_train_batch_size=cut.batch_size,
        gradient_accumulation_steps=cut.accumulation,  # (1)!
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant",
        bf16=bf16,
        fp16=not tiny and not bf16,
        activation_checkpointing=not tiny and way != "FSDP",  # (2)!
        save_strategy="no" if tiny else "steps",
        save_steps=settings.save_every,
        save_total_limit=1,
        logging_steps=1 if tiny else 10,
        logging_nan_inf_filter=False,
        disable_tqdm=tiny,
        use_cpu=tiny,
        ddp_backend="gloo" if tiny and world > 1 else None,  # (3)!
        ddp_find_unused_parameters=False,
        seed=settings.seed,
    )
    # --8<-- [end:arguments]


# --8<-- [start:launch]
def launch(settings: train.Settings, way: str, tiny: bool, last: str | None) -> list[dict]:
    """Train and save, whatever the way; return the log."""
    args = arguments(settings, way, tiny)  # (1)!
    set_seed(settings.seed)
    tokenizer = train.load_tokenizer(settings)
    model = train.load_whole(settings)  # (2)!
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=encode_all(read(settings.data)[0], tokenizer, settings.max_tokens),
        data_collator=DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8),
        processing_class=tokenizer,
        callbacks=[guard.StopOnNan()],
    )
    check_given(way, trainer)
    with guard.explain_memory(args.output_dir):
        trainer.train(resume_from_checkpoint=last)
    if trainer.is_fsdp_enabled:
        trainer.accelerator.state.fsdp_plugin.set_state_dict_type("FULL_STATE_DICT")  # (3)!
    trainer.save_model()
    return trainer.state.log_history
    # --8<-- [end:launch]


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
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


def choose(options: argparse.Namespace) -> train.Settings:
    """Combine the defaults with what the command line asks for."""
    default = train.TINY if options.tiny else train.Settings()
    default = replace(default, output=default.output.with_name(f"{default.output.name}-trainer"))
    return choose_settings(default, options)


def main(argv: list[str] | None = None) -> None:
    """Check what the launcher asks for, train, and show the losses."""
    options = read_options(argv)
    settings, way = choose(options), asked()
    check_asked(way)
    last = guard.last_checkpoint(settings.output, options.resume)
    if not options.tiny:
        train.check_cards(torch.cuda.device_count(), int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
        check_fit(settings, way)
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # else each load reports the tied output layer as missing
    if int(os.environ.get("RANK", 0)):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (open until the end: one voice is enough)
    log = launch(settings, way, options.tiny, last)
    for entry in log:
        if "loss" in entry:
            print(f"step {entry['step']:4}   loss {entry['loss']:.4f}")


if __name__ == "__main__":
    main()
