"""Check the launch files: what a launcher would ignore without a word is an error here.

    python examples/scale/distributed/check.py                 the files of this folder
    python examples/scale/distributed/check.py my-launch.yaml ds.json train.py

accelerate takes a misspelt key of `fsdp_config` or `deepspeed_config` without a word, and so does
DeepSpeed at the top of its JSON: the run then goes on with a default, slower or larger than meant.
"""

import argparse
import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file
from accelerate.commands.launch import launch_command_parser
from accelerate.utils import DistributedType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FSDP1_ONLY = {  # settings of the first FSDP, that the second one ignores
    "fsdp_sharding_strategy": "fsdp_reshard_after_forward",
    "fsdp_backward_prefetch": "nothing: it prefetches by itself",
    "fsdp_forward_prefetch": "nothing: it prefetches by itself",
    "fsdp_use_orig_params": "nothing: it always does",
    "fsdp_sync_module_states": "fsdp_cpu_ram_efficient_loading",
}
BATCH = {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}
# The keys of DeepSpeed 0.19: runtime/constants.py, runtime/zero/config.py, precision_config.py.
KNOWN: dict[str, set[str]] = {
    "": BATCH
    | {"activation_checkpointing", "aio", "bf16", "checkpoint", "comms_logger", "csv_monitor"}
    | {"communication_data_type", "data_types", "dump_state", "flops_profiler", "fp16"}
    | {"gradient_clipping", "optimizer", "prescale_gradients", "scheduler", "steps_per_print"}
    | {"tensorboard", "wall_clock_breakdown", "wandb", "zero_allow_untested_optimizer"}
    | {"zero_force_ds_cpu_optimizer", "zero_optimization"},
    "bf16": {"enabled", "immediate_grad_update", "check_grad_overflow"},
    "fp16": {"enabled", "auto_cast", "loss_scale", "initial_scale_power", "loss_scale_window"}
    | {"hysteresis", "consecutive_hysteresis", "min_loss_scale"},
    "zero_optimization": {"stage", "allgather_bucket_size", "allgather_partitions"}
    | {"contiguous_gradients", "ignore_unused_parameters", "offload_optimizer", "offload_param"}
    | {"overlap_comm", "reduce_bucket_size", "reduce_scatter", "round_robin_gradients"}
    | {"stage3_gather_16bit_weights_on_model_save", "stage3_max_live_parameters"}
    | {"stage3_max_reuse_distance", "stage3_module_granularity_threshold"}
    | {"stage3_param_persistence_threshold", "stage3_prefetch_bucket_size", "sub_group_size"}
    | {"zero_hpz_partition_size", "zero_quantized_gradients", "zero_quantized_weights"},
    "zero_optimization.offload_optimizer": {"device", "pin_memory", "nvme_path", "ratio"},
    "zero_optimization.offload_param": {"device", "pin_memory", "nvme_path"},
}


@dataclass(frozen=True, order=True)
class Problem:
    """What is wrong, where, and its cure."""

    file: str
    line: int
    message: str
    mend: str

    def __str__(self) -> str:
        """Write it in two lines."""
        return f"{self.file}:{self.line}: error: {self.message}\n  mend: {self.mend}"


def find_line(path: Path, key: str) -> int:
    """Find the line of a key; 1 where the file has none."""
    lines = path.read_text("utf-8").splitlines()
    return next((n for n, line in enumerate(lines, 1) if key in line.partition("#")[0]), 1)


# --8<-- [start:launch-file]
def check_launch_file(path: Path) -> Iterator[Problem]:
    """Check a launch file of accelerate."""

    def wrong(key: str, message: str, mend: str) -> Problem:
        return Problem(path.name, find_line(path, key), message, mend)

    try:
        config = load_config_from_file(str(path))  # (1)!
    except Exception as error:  # YAML's own errors, those of enumerations, unknown keys
        reason = str(error).splitlines()[0]
        yield Problem(path.name, 1, f"accelerate does not load it: {reason}", "see launch/")
        return
    known = {action.dest for action in launch_command_parser()._actions}
    for key in (*config.fsdp_config, *config.deepspeed_config):
        if key not in known:  # (2)!
            yield wrong(key, f"accelerate ignores {key}", "correct its spelling, or remove it")
    if config.num_processes % config.num_machines:
        message = f"{config.num_processes} processes on {config.num_machines} machines"
        yield wrong("num_processes", message, "num_processes counts those of all machines")
    if config.distributed_type == DistributedType.FSDP:
        yield from check_fsdp(config, wrong)
    if config.distributed_type == DistributedType.DEEPSPEED:
        yield from check_deepspeed(config, wrong)
        # --8<-- [end:launch-file]


def check_fsdp(config: ClusterConfig, wrong) -> Iterator[Problem]:
    """Check that FSDP means its second version, a layer at a time."""
    settings = config.fsdp_config
    if settings.get("fsdp_version") != 2:
        yield wrong("fsdp_version", "this is FSDP1, accelerate's default", "fsdp_version: 2")
    for key, instead in FSDP1_ONLY.items():
        if key in settings:
            yield wrong(key, f"FSDP2 has no {key}", f"instead: {instead}")
    if settings.get("fsdp_auto_wrap_policy", "NO_WRAP") == "NO_WRAP":
        message = "the whole model is one unit: all its weights are gathered at once"
        yield wrong("fsdp_config", message, "fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP")


def check_deepspeed(config: ClusterConfig, wrong) -> Iterator[Problem]:
    """Check that the JSON file is there, and alone to say what it says."""
    settings = config.deepspeed_config
    name = str(settings.get("deepspeed_config_file"))
    if not (ROOT / name).is_file():
        yield wrong("deepspeed_config", f"{name} is not a file", "give its path from the root")
    if config.mixed_precision:
        message = "accelerate refuses mixed_precision beside a DeepSpeed file"
        yield wrong("mixed_precision", message, "remove it: bf16 is in the JSON file")
    standard = settings.get("deepspeed_multinode_launcher") == "standard"
    if config.num_machines > 1 and not standard:
        message = "the launcher of several machines is pdsh: it needs a hostfile and ssh"
        yield wrong("deepspeed_config", message, "deepspeed_multinode_launcher: standard")


# --8<-- [start:deepspeed-file]
def check_deepspeed_file(path: Path) -> Iterator[Problem]:
    """Check a JSON file of DeepSpeed: known keys, and what Trainer decides left to it."""
    try:
        config = json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        yield Problem(path.name, error.lineno, f"not JSON: {error.msg}", "correct it there")
        return
    if not isinstance(config, dict):
        yield Problem(path.name, 1, "not an object", "see launch/ds_zero2.json")
        return
    for place, known in KNOWN.items():
        part = config
        for name in filter(None, place.split(".")):
            part = part.get(name) or {}
        for key in sorted(set(part) - known):
            message = f"unknown key {f'{place}.{key}'.lstrip('.')}"
            yield Problem(path.name, find_line(path, f'"{key}"'), message, "see DeepSpeed's list")
    for key in sorted(BATCH):
        if config.get(key) != "auto":  # (1)!
            message = f"{key} is {config.get(key)!r}: it may contradict TrainingArguments"
            yield Problem(path.name, find_line(path, f'"{key}"'), message, f'"{key}": "auto"')
    stage = (config.get("zero_optimization") or {}).get("stage")
    if stage not in (1, 2, 3):
        message = f"stage is {stage!r}: nothing is shared out"
        yield Problem(path.name, find_line(path, '"stage"'), message, '"stage": 1, 2 or 3')
        # --8<-- [end:deepspeed-file]


def check_program(path: Path) -> Iterator[Problem]:
    """Find `device_map`: it lays one model over all GPUs, which then work one after the other."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            for argument in node.keywords:
                if argument.arg == "device_map":
                    message = "device_map in a program that is launched on several GPUs"
                    mend = "remove it: the launcher gives each process its GPU"
                    yield Problem(path.name, argument.value.lineno, message, mend)


CHECKS = {".yaml": check_launch_file, ".json": check_deepspeed_file, ".py": check_program}


def main(argv: list[str] | None = None) -> None:
    """Check files; exit with status 1 if one of them is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="default: those of this folder")
    chosen = parser.parse_args(argv).files
    launch = (*HERE.glob("launch/*.yaml"), *HERE.glob("launch/*.json"), *HERE.glob("*.py"))
    files = [path for path in chosen or sorted(launch) if path.suffix in CHECKS]
    missing = [
        Problem(str(f), 1, "no such file", "check the path") for f in files if not f.exists()
    ]
    found = [p for path in files if path.exists() for p in CHECKS[path.suffix](path)]
    for problem in sorted(missing + found):
        print(problem)
    print(f"{len(files)} files, {len(missing + found)} problems")
    sys.exit(bool(missing or found))


if __name__ == "__main__":
    main()
