"""The programs of chapter scale/distributed: two real processes, real launch files."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.multiprocessing as processes
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils import DeepSpeedPlugin, FullyShardedDataParallelPlugin
from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env
from transformers import AutoModelForCausalLM

from common.programs import EXAMPLES
from common.rows import read
from full.traditional.train import encode_all
from memory import PRESETS, Shape, predict
from scale.distributed import check, compare, shares, train, with_trainer
from tiny import DATA

FOLDER = EXAMPLES / "scale/distributed"
LAUNCH = FOLDER / "launch"
RECORD = json.loads((FOLDER / "record.json").read_text("utf-8"))
YAML = sorted(LAUNCH.glob("*.yaml"))


def text(name: str) -> str:
    return (FOLDER / "outputs" / name).read_text("utf-8")


def refusal(function, *arguments) -> str:
    with pytest.raises(SystemExit) as stopped:
        function(*arguments)
    assert re.fullmatch(r"error: [^\n]+\n  mend: [^\n]+", stopped.value.code)
    return stopped.value.code


def torchrun(*command: object) -> str:
    """Run two processes as a reader does; return what they show."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, "--nproc-per-node", "2", *map(str, command)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    ).stdout


def losses(shown: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"^step +\d+   loss ([\d.]+)", shown, re.MULTILINE)]


# Two processes


@pytest.fixture(scope="module")
def compared() -> str:
    """The whole comparison, once: one process, DDP, FSDP2, and one process after two."""
    return torchrun(FOLDER / "compare.py")


def test_ddp_and_fsdp2_follow_the_single_process(compared: str) -> None:
    rows = re.findall(r"^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)(?: +([\d.]+))?$", compared, re.M)
    assert [int(row[0]) for row in rows] == list(range(1, train.TINY.steps + 1))
    for step, single, *others in rows:
        for other in filter(None, others):
            assert float(other) == pytest.approx(float(single), abs=2e-4), step
    assert sum(bool(row[4]) for row in rows) == train.TINY.steps - compare.HALF
    assert float(rows[-1][1]) < 0.2 * float(rows[0][1])


def test_the_record_is_what_the_program_does(compared: str) -> None:
    for point in RECORD["losses_single"]:
        shown = re.search(rf"^ +{point['x']} +([\d.]+)", compared, re.MULTILINE)
        assert float(shown[1]) == pytest.approx(point["y"], abs=0.02)
    held = {row["id"]: row for row in RECORD["held"]}
    assert compare.byte_table(RECORD["held"], 2) in compared
    assert text("held.txt") == compare.byte_table(RECORD["held"], 2) + "\n"
    names = (*train.WAYS, "resumed")
    lines = {name: RECORD[f"losses_{name}"] for name in names}
    assert text("losses.txt") == compare.loss_table(lines) + "\n"
    assert held["ddp"]["weights"] == held["single"]["weights"] == 4 * 951_424


def test_each_process_holds_what_the_formula_says() -> None:
    for row in RECORD["held"]:
        total = row["weights"] + row["gradients"] + row["optimizer"]
        assert total == pytest.approx(row["formula"], rel=1e-3), row["id"]
        assert row["formula"] == compare.formula_bytes(row["id"], 2)
    held = {row["id"]: row for row in RECORD["held"]}
    for part in ("weights", "gradients", "optimizer"):
        assert 2 * held["fsdp2"][part] == held["ddp"][part]


def test_the_model_saved_from_two_shares_is_the_single_one(compared: str) -> None:
    shown = re.search(r"differ by at most ([\d.e-]+)", compared)
    assert float(shown[1]) < 1e-3 and RECORD["difference"] < 1e-3


def test_trainer_on_two_processes_has_the_same_losses(tmp_path: Path) -> None:
    shown = torchrun(FOLDER / "with_trainer.py", "--tiny", "--output", tmp_path)
    assert "shared out by DDP among 2 processes" in shown
    single = [point["y"] for point in RECORD["losses_single"]]
    assert losses(shown) == pytest.approx(single, abs=0.02)
    assert (tmp_path / "model.safetensors").exists()


# One process


def test_one_process_saves_resumes_and_cleans_up(tmp_path: Path, capsys, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(train, "save_whole", lambda *_: guard_stop())
        with pytest.raises(CutShort):
            train.main(["--tiny", "--output", str(tmp_path)])
    whole = losses(capsys.readouterr().out)
    assert [path.name for path in tmp_path.glob("step-*")] == ["step-4"]
    torn = tmp_path / "step-6"
    torn.mkdir()
    (torn / "__0_0.distcp").write_bytes(b"cut while being written")
    train.main(["--tiny", "--output", str(tmp_path), "--resume"])
    assert losses(capsys.readouterr().out) == whole[4:]
    assert not list(tmp_path.glob("step-*"))
    AutoModelForCausalLM.from_pretrained(tmp_path)


class CutShort(Exception):
    """What ends a run in a test: Ctrl+C would be explained, and a test runner stops at it."""


def guard_stop() -> None:
    """End a run before it has saved its model, as a signal does."""
    raise CutShort


def test_every_row_of_a_step_is_on_one_process_only() -> None:
    rows = list(range(360))
    for world in (1, 2, 4):
        for step in (0, 5, 22, 23):
            parts = [
                train.choose_rows(
                    rows, step, train.TINY, train.Me(rank, world, torch.device("cpu"))
                )
                for rank in range(world)
            ]
            chosen = [row for part in parts for piece in part for row in piece]
            alone = train.choose_rows(rows, step, train.TINY, train.Me(0, 1, torch.device("cpu")))
            assert sorted(chosen) == sorted(row for piece in alone for row in piece)
            assert len(set(chosen)) == train.TINY.global_batch
            assert {len(piece) for part in parts for piece in part} == {train.TINY.batch_size}


def test_an_epoch_has_every_row_once() -> None:
    me = train.Me(0, 1, torch.device("cpu"))
    seen = [
        row
        for step in range(360 // 16)
        for piece in train.choose_rows(list(range(360)), step, train.TINY, me)
        for row in piece
    ]
    assert len(seen) == len(set(seen)) == 352


@torch.no_grad()
def test_the_loss_counts_targets_and_not_processes() -> None:
    """Where answers have different lengths, the mean of the processes' means is another number."""
    tokenizer, model = train.load_tokenizer(train.TINY), train.load_whole(train.TINY)
    rows = encode_all(read(str(DATA))[0], tokenizer, 128)
    rows = sorted(rows, key=lambda row: row["labels"].count(-100) - len(row["labels"]))
    halves = [train.collate(part, tokenizer.pad_token_id) for part in (rows[:8], rows[-8:])]
    targets = [(half["labels"][:, 1:] != -100).sum() for half in halves]
    whole = model(**train.collate(rows[:8] + rows[-8:], tokenizer.pad_token_id)).loss
    ours = sum(model(**half, num_items_in_batch=sum(targets)).loss for half in halves)
    means = sum(model(**half).loss for half in halves) / 2
    assert targets[0] > targets[1]
    assert ours.item() == pytest.approx(whole.item(), abs=1e-5)
    assert abs(means.item() - whole.item()) > 1e-3


# What is refused


def test_refusals_of_the_program(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    tiny = ("--tiny", "--output", str(tmp_path))

    def run(*more: str) -> str:
        return refusal(train.main, [*tiny, *more])

    assert "--way ddp needs several processes" in run("--way", "ddp")
    assert "is not a multiple of 1 processes x --batch-size 3" in run("--batch-size", "3")
    assert "--batch-size is 0" in run("--batch-size", "0")
    assert "nothing to resume" in run("--resume")
    assert "was not found" in run("--model", "./no/such/model")
    (tmp_path / "step-4").mkdir()
    (tmp_path / "step-4" / ".metadata").touch()
    assert "holds an unfinished run (step-4)" in run()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert "no GPU found" in refusal(train.main, [])


def test_refusals_under_torchrun(monkeypatch) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3"}.items():
        monkeypatch.setenv(name, value)
    single = refusal(train.main, ["--tiny", "--way", "single"])
    assert "each of 3 processes would train the whole model" in single
    assert "not a multiple of 3 processes" in refusal(train.main, ["--tiny"])
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    few = refusal(train.main, ["--global-batch", "12"])
    assert "3 processes on this machine, 2 GPUs\n  mend: torchrun --nproc-per-node 2" in few


LLAMA_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def test_too_little_memory_is_refused_before_loading(capsys) -> None:
    me = train.Me(0, 8, torch.device("cuda"), "bf16")
    settings = replace(train.Settings(), way="ddp", batch_size=1)
    text = refusal(train.check_memory, settings, me, LLAMA_8B, 80 * 10**9)
    assert "the run needs 14" in text and "--way fsdp2 shares out the states: it fits" in text
    train.check_memory(replace(settings, way="fsdp2"), me, LLAMA_8B, 80 * 10**9)
    assert "memory predicted on each GPU: 20.3 GB" in capsys.readouterr().out
    small = refusal(train.check_memory, replace(settings, way="fsdp2"), me, LLAMA_8B, 16 * 10**9)
    assert "use more GPUs" in small
    train.check_memory(settings, me, {"model_type": "gpt2"}, 10**9)
    assert "memory not predicted" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("shape", "world", "precision", "fsdp2", "ddp"),
    [
        (PRESETS["qwen2.5-0.5b"], 2, "fp32", "9.3", "12.6"),
        (Shape(2048, 6144, 28, 16, 8, 128, 151936, True, False, True), 2, "bf16", "19.3", "36.0"),
        (PRESETS["qwen3-8b"], 8, "bf16", "24.5", "152.0"),
    ],
    ids=["0.5B", "1.7B", "8B"],
)
def test_the_numbers_of_the_docstring(shape, world, precision, fsdp2, ddp, monkeypatch) -> None:
    """What the program predicts for its own commands."""
    found = []
    monkeypatch.setattr(train.guard, "find_shape", lambda _: shape)
    monkeypatch.setattr(train, "predict", lambda run: found.append(predict(run)) or found[-1])
    for way in ("fsdp2", "ddp"):
        me = train.Me(0, world, torch.device("cuda"), precision)
        train.check_memory(replace(train.Settings(), way=way), me, {}, 10**12)
    assert [f"{budget.total / 1e9:.1f}" for budget in found] == [fsdp2, ddp]
    assert f"{fsdp2} GB" in train.__doc__ and f"{ddp} GB" in train.__doc__


def test_the_comparison_needs_company() -> None:
    assert "nobody to share with" in refusal(compare.main, [])


def test_trainer_refuses_to_become_ddp_without_a_word(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    tiny = ["--tiny", "--output", str(tmp_path)]
    for name, way in (("ACCELERATE_USE_FSDP", "FSDP"), ("ACCELERATE_USE_DEEPSPEED", "DEEPSPEED")):
        with monkeypatch.context() as patch:
            patch.setenv(name, "true")
            assert with_trainer.asked() == way
            text = refusal(with_trainer.main, tiny)
            assert f"asks for {way}" in text and "silently train with DDP" in text
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(with_trainer, "find_spec", lambda _: None)
    assert "DeepSpeed is not installed" in refusal(with_trainer.check_asked, "DEEPSPEED")
    assert "not a multiple" in refusal(with_trainer.main, [*tiny, "--batch-size", "5"])
    assert "nothing to resume" in refusal(with_trainer.main, [*tiny, "--resume"])


def test_trainer_must_have_prepared_what_was_asked_for(capsys) -> None:
    def trainer(kind: str, world: int) -> SimpleNamespace:
        accelerator = SimpleNamespace(distributed_type=SimpleNamespace(value=kind))
        return SimpleNamespace(accelerator=accelerator, args=SimpleNamespace(world_size=world))

    text = refusal(with_trainer.check_given, "FSDP", trainer("MULTI_GPU", 2))
    assert "FSDP was asked for, Trainer prepared DDP" in text
    for way, kind, world in (("DDP", "MULTI_CPU", 2), ("NO", "MULTI_GPU", 1), ("FSDP", "FSDP", 2)):
        with_trainer.check_given(way, trainer(kind, world))
    assert capsys.readouterr().out.count("shared out by") == 3


def _ask_for_fsdp(rank: int, port: int, queue) -> None:
    """Prepare FSDP with accelerate on the processor, and tell what came of it."""
    names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in names.items()})
    os.environ.update({"MASTER_ADDR": "127.0.0.1", "ACCELERATE_USE_FSDP": "true"})
    os.environ["FSDP_VERSION"] = "2"
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    # The fork brings along what an earlier test of the same process asked accelerate for.
    AcceleratorState._reset_state(reset_partial_state=True)
    queue.put(Accelerator(cpu=True).distributed_type.value)


def test_accelerate_still_ignores_fsdp_on_the_processor() -> None:
    """The reason for the refusal. When this fails, accelerate shards there too: remove it."""
    port = int(torch.randint(20_000, 30_000, ()).item())
    queue = processes.get_context("fork").SimpleQueue()
    group = processes.start_processes(
        _ask_for_fsdp, (port, queue), nprocs=2, join=False, start_method="fork"
    )
    while not group.join():
        pass
    assert {queue.get(), queue.get()} == {"MULTI_CPU"}


# Memory


def test_the_shares_of_the_course() -> None:
    """Llama-3.1-8B at 16 B/parameter, in GiB: errata and facts of the course."""
    shape = PRESETS["llama-3.1-8b"]
    table = {
        stage: [round(shares.share(shape, stage, n, 1, 2048).static / 2**30, 1) for n in (2, 4, 8)]
        for stage in shares.STAGES
    }
    assert table["ddp"] == [119.7, 119.7, 119.7]
    assert table["zero-1"] == [74.8, 52.4, 41.1]
    assert table["zero-2"] == [67.3, 41.1, 28.0]
    assert table["zero-3"] == [59.8, 29.9, 15.0]
    recorded = json.loads((FOLDER / "shares.json").read_text("utf-8"))["shares"]
    assert recorded == shares.share_rows(shape, 8, 1, 2048)
    assert text("shares.txt").startswith(shares.table(shape, 80, 1, 2048))


def test_how_many_cards_are_needed() -> None:
    shape = PRESETS["llama-3.1-8b"]
    assert shares.fewest(shape, "ddp", 80, 1, 2048) is None
    assert shares.fewest(shape, "zero-3", 80, 1, 2048) == 2
    assert shares.fewest(shape, "zero-3", 24, 1, 2048) == 8


def test_refusals_of_the_table(tmp_path: Path) -> None:
    assert "unknown model gpt-9" in refusal(shares.main, ["--model", "gpt-9"])
    assert "must be above 0" in refusal(shares.main, ["--card", "0"])
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "gpt2"}')
    assert "model_type is 'gpt2'" in refusal(shares.main, ["--model", str(file)])


# Launch files


def test_the_launch_files_are_right() -> None:
    assert len(YAML) == 10
    with pytest.raises(SystemExit) as ended:
        check.main([])
    assert ended.value.code == 0


def launched(path: Path, monkeypatch) -> dict[str, str]:
    """Return the variables that `accelerate launch` would set, and set them."""
    parsed = launch_command_parser().parse_args(["--config_file", str(path), "with_trainer.py"])
    options, defaults, from_file = _validate_launch_command(parsed)
    options.main_process_ip, options.main_process_port = "127.0.0.1", 0
    if options.use_deepspeed:
        fields = [*defaults.deepspeed_config, *(["mixed_precision"] if from_file else [])]
        options.deepspeed_fields_from_accelerate_config = ",".join(fields)
        variables = prepare_deepspeed_cmd_env(options)[1]
    else:
        variables = prepare_multi_gpu_env(options)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


@pytest.mark.parametrize("path", sorted(LAUNCH.glob("fsdp2-*.yaml")), ids=lambda path: path.stem)
def test_accelerate_makes_fsdp2_of_it(path: Path, monkeypatch) -> None:
    variables = launched(path, monkeypatch)
    assert with_trainer.asked() == "FSDP" and variables["ACCELERATE_MIXED_PRECISION"] == "bf16"
    plugin = FullyShardedDataParallelPlugin()
    assert (plugin.fsdp_version, plugin.reshard_after_forward) == (2, True)
    assert plugin.activation_checkpointing is True and plugin.cpu_ram_efficient_loading is True
    assert plugin.auto_wrap_policy.__name__ == "transformer_auto_wrap_policy"
    assert "SHARDED" in str(plugin.state_dict_type)
    comments = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    assert any("fp32" in line for line in comments), "the fp32 weights must be explained"


@pytest.mark.parametrize("path", sorted(LAUNCH.glob("zero*.yaml")), ids=lambda path: path.stem)
def test_accelerate_makes_zero_of_it(path: Path, monkeypatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    launched(path, monkeypatch)
    assert with_trainer.asked() == "DEEPSPEED"
    plugin = DeepSpeedPlugin()
    assert plugin.zero_stage == int(path.stem.removeprefix("zero")[0])
    assert plugin.zero3_init_flag is (plugin.zero_stage == 3)
    assert plugin.is_auto("train_batch_size") and plugin.is_auto("bf16.enabled")


def test_files_of_a_kind_differ_in_their_sizes_only() -> None:
    def settings(name: str) -> dict:
        config = check.load_config_from_file(str(LAUNCH / f"{name}.yaml")).to_dict()
        (config.get("deepspeed_config") or {}).pop("deepspeed_multinode_launcher", None)
        sizes = ("num_machines", "num_processes", "main_process_port", "same_network")
        return {key: value for key, value in config.items() if key not in sizes}

    for kind in ("fsdp2", "zero2", "zero3"):
        assert settings(f"{kind}-2") == settings(f"{kind}-8") == settings(f"{kind}-nodes"), kind


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "message"),
    [
        ("fsdp2-2.yaml", "fsdp_version: 2", "fsdp_version: 1", "fsdp_version", "this is FSDP1"),
        ("fsdp2-2.yaml", "fsdp_version: 2 ", "", None, "this is FSDP1"),
        ("fsdp2-2.yaml", "fsdp_reshard", "fsdp_reshart", "fsdp_reshart", "ignores fsdp_reshart"),
        ("fsdp2-2.yaml", "TRANSFORMER_BASED_WRAP", "NO_WRAP", "fsdp_config", "one unit"),
        ("fsdp2-2.yaml", "fsdp_offload_params", "fsdp_use_orig_params", None, "FSDP2 has no"),
        ("fsdp2-8.yaml", "num_machines: 1", "num_machines: 3", "num_processes", "on 3 machines"),
        ("fsdp2-8.yaml", "num_machines", "num_machine", None, "does not load it"),
        ("fsdp2-8.yaml", "distributed_type: FSDP", "distributed_type: FSDP2", None, "not load"),
        ("fsdp2-8.yaml", "fsdp_config:", "fsdp_config: {", None, "does not load it"),
        ("zero3-2.yaml", "ds_zero3.json", "ds_zero4.json", None, "ds_zero4.json is not a file"),
        ("zero3-2.yaml", "machine_rank: 0", "mixed_precision: bf16", None, "refuses mixed_precis"),
        ("zero3-nodes.yaml", "standard", "pdsh", None, "needs a hostfile"),
        ("ds_zero2.json", '"reduce_scatter"', '"reduce_scater"', None, "unknown key zero_opt"),
        ("ds_zero2.json", '"gradient_clipping"', '"clip"', '"clip"', "unknown key clip"),
        ("ds_zero3.json", '"stage": 3', '"stage": 0', '"stage"', "nothing is shared out"),
        ("ds_zero3.json", '"train_batch_size": "auto"', '"train_batch_size": 8', None, "is 8"),
        ("ds_zero3.json", '"stage": 3,', '"stage": 3', None, "not JSON"),
        ("train.py", " dtype=torch.float32", ' device_map="auto"', None, "device_map in"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, name, old, new, line, message, capsys) -> None:
    source = (LAUNCH / name if (LAUNCH / name).exists() else FOLDER / name).read_text("utf-8")
    assert old in source
    changed = tmp_path / name
    changed.write_text(source.replace(old, new, 1), "utf-8")
    with pytest.raises(SystemExit) as ended:
        check.main([str(changed)])
    shown = capsys.readouterr().out
    assert ended.value.code == 1 and message in shown
    assert all(
        re.match(r"(\S+:\d+: error: .+|  mend: .+|1 files, \d+ problems)$", one)
        for one in shown.splitlines()
    )
    if line:
        number = int(re.match(rf"{name}:(\d+)", shown)[1])
        assert line in changed.read_text("utf-8").splitlines()[number - 1]


def test_a_file_that_is_not_there(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        check.main(["no/such/file.yaml"])
    assert ended.value.code == 1 and "no such file" in capsys.readouterr().out


def slurm(tmp_path: Path, *words: str, nodes: int = 3) -> subprocess.CompletedProcess[str]:
    """Run the script with a Slurm of our own, which says what it would start on each machine."""
    tools = {
        "scontrol": "printf 'node7\\nnode8\\nnode9\\n'",
        "srun": 'for n in $(seq 0 $((SLURM_NNODES - 1))); do SLURM_NODEID=$n "$@"; done',
        "accelerate": 'echo "$@"',
    }
    for name, body in tools.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    variables = {"SLURM_NNODES": str(nodes), "SLURM_JOB_NODELIST": "x", "SLURM_GPUS_ON_NODE": "4"}
    return subprocess.run(
        ["bash", str(LAUNCH / "slurm.sh"), *words],
        capture_output=True,
        text=True,
        cwd=EXAMPLES.parent,
        env=os.environ | variables | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=False,
    )


def test_the_slurm_script_starts_one_launcher_a_machine(tmp_path: Path) -> None:
    done = slurm(tmp_path, "zero3", "--model", "Qwen/Qwen3-8B-Base")
    commands = done.stdout.splitlines()
    assert done.returncode == 0 and len(commands) == 3
    for number, command in enumerate(commands):
        assert f"--machine_rank {number} " in command
        assert "--num_machines 3 --num_processes 12 --main_process_ip node7" in command
        parsed = launch_command_parser().parse_args(command.removeprefix("launch ").split())
        assert Path(parsed.config_file).name == "zero3-nodes.yaml"
        assert parsed.training_script == "examples/scale/distributed/with_trainer.py"
        assert parsed.training_script_args == ["--model", "Qwen/Qwen3-8B-Base"]


def test_the_slurm_script_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    done = slurm(tmp_path, "zero9")
    assert done.returncode == 1 and done.stdout == ""
    assert "error: there is no" in done.stderr and "mend: begin with fsdp2" in done.stderr
