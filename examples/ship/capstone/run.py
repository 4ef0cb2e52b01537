"""The whole project from one file: prepare, train, evaluate, write the model card.

Chapter ship/capstone of the course. Machine, command, and the memory that the training then needs:

    any computer, no network   python examples/ship/capstone/run.py --tiny
    16 GB, such as a free T4   python examples/ship/capstone/run.py                         3.8 GB
    24 GB                      the same, capstone.toml with Qwen/Qwen2.5-7B-Instruct       18.8 GB
    80 GB                      the same, capstone.toml with Qwen/Qwen3-14B                 33.7 GB

Everything that can be chosen is in capstone.toml. A step whose section did not change since it
ended is not done again, and a training that was cut goes on from its last checkpoint: give the same
command again. One step alone, and those before it where needed: --step evaluate.

Your own project: copy this folder, write your rows in place of data/library.jsonl, and change
capstone.toml.
"""

import argparse
import hashlib
import json
import math
import random
import shutil
import sys
import time
import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, programs, record
from common.options import make_parser

# isort: split
import torch
from transformers import AutoConfig

import peft
from common.peak import step_peak
from full.traditional import loop
from full.traditional import train as full
from memory import Run, count_parameters, predict, read_config
from tiny import BASE, batches, recall

lora = programs.load("peft/lora/train.py")
HERE = Path(__file__).resolve().parent
STEPS = ("prepare", "train", "evaluate", "card")
COLUMNS = ("language", "topic", "kind", "instruction", "context", "response", "key")
CURE = "compare with examples/ship/capstone/capstone.toml"
GENERAL = HERE / "data" / "general.jsonl"


# --8<-- [start:config]
def read_config_file(path: Path, tiny: bool) -> dict:
    """Read the configuration; with --tiny its [tiny] part replaces what it names."""
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        guard.stop(f"{path}: {error}", "name a TOML file with --config; see capstone.toml")
    instead = config.pop("tiny", {})
    if tiny:
        for step, values in instead.items():
            config[step] = config.get(step, {}) | values  # (1)!
    missing = [step for step in STEPS if step not in config]
    if missing:
        guard.stop(f"{path} lacks [{missing[0]}]", f"it needs: {', '.join(STEPS)}")
    check_config(path, config)
    return config


def fingerprint(config: dict, step: str, data: Path) -> str:
    """Name a state of the project: the sections up to this step, and the data."""
    sections = {name: config[name] for name in STEPS[: STEPS.index(step) + 1]}
    text = json.dumps(sections, sort_keys=True).encode() + data.read_bytes()
    return hashlib.sha256(text).hexdigest()[:16]  # (2)!
    # --8<-- [end:config]


# --8<-- [start:prepare]
def prepare(config: dict, output: Path) -> dict:
    """Check the rows and split them: of each topic, some ways of asking are never trained on."""
    choices, rows = config["prepare"], guard.read_jsonl(data_file(config), COLUMNS)
    asked = [row["instruction"] for row in rows]
    if len(set(asked)) < len(asked):  # (1)!
        twice = next(q for q in asked if asked.count(q) > 1)
        guard.stop(f"asked twice: {twice}", "keep one of them, or it may be on both sides")
    draw, parts = random.Random(choices["seed"]), {"train": [], "validation": []}
    groups = {}
    for row in rows:
        groups.setdefault((row["language"], row["topic"]), []).append(row)
    for group in groups.values():
        draw.shuffle(group)  # (2)!
        kept = choices["held_out"] if group[0]["kind"] == "fact" else len(group) // 3
        parts["validation"] += group[:kept]
        parts["train"] += group[kept:]
    draw.shuffle(parts["train"])
    for name, part in parts.items():
        write_jsonl(output / "data" / f"{name}.jsonl", part)
    return {name: count(part) for name, part in parts.items()}


def count(rows: Sequence[dict]) -> dict[str, int]:
    """Count rows, in all and of each language and kind."""
    found = {"rows": len(rows)}
    for column in ("language", "kind"):
        for row in rows:
            found[row[column]] = found.get(row[column], 0) + 1
    return found
    # --8<-- [end:prepare]


# --8<-- [start:train]
def train(config: dict, output: Path, card: guard.Card) -> dict:
    """Train a LoRA adapter with the programs of earlier chapters, or go on with its training."""
    settings = lora_settings(config, output)
    leave_other_runs(settings.output, fingerprint(config, "train", data_file(config)))
    last = guard.last_checkpoint(settings.output, has_checkpoint(settings.output))  # (1)!
    if last:
        print(f"going on from {Path(last).name}")
    full.set_seed(settings.seed)
    tokenizer, base = lora.load(settings, card)
    parameters = base.num_parameters()
    model = lora.attach(base.to(card.device), settings)
    guard.check_disk(settings.output, lora.count(model)["trained"])
    parts = [
        guard.read_jsonl(output / "data" / f"{n}.jsonl", COLUMNS) for n in ("train", "validation")
    ]
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    with model.disable_adapter():
        before = held_out_loss(model, rows[1], tokenizer)
    started = time.perf_counter()
    log = full.launch(model, tokenizer, rows, full.arguments(settings, card), last)  # (2)!
    return {
        "seconds": time.perf_counter() - started,
        "loss_before": before,
        "loss_after": held_out_loss(model, rows[1], tokenizer),
        "trained": lora.count(model)["trained"],
        "parameters": parameters,
        "tokens": sum(len(row["input_ids"]) for row in rows[0]),
        **measure_peak(settings, card, rows[0], tokenizer),
        **record.history(log),
    }
    # --8<-- [end:train]


def lora_settings(config: dict, output: Path) -> "lora.Settings":
    """Turn the [train] section into the settings of peft/lora."""
    chosen = dict(config["train"])
    chosen.pop("licence")
    model = str(BASE) if chosen["model"] == "tiny" else chosen["model"]
    data = str(output / "data")
    chosen |= {"model": model, "data": data, "output": output / "adapter", "accumulation": 1}
    return lora.Settings(**chosen, alpha=2 * chosen["rank"], evaluations=5)


def leave_other_runs(folder: Path, name: str) -> None:
    """Delete the checkpoints of a training with other choices or rows: it cannot go on as this."""
    mark = folder / "fingerprint.txt"
    if not mark.exists() or mark.read_text("utf-8") != name:
        for checkpoint in folder.glob("checkpoint-*"):
            shutil.rmtree(checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    mark.write_text(name, encoding="utf-8")


def has_checkpoint(folder: Path) -> bool:
    """Say whether a training was cut there."""
    return guard.last_complete(folder) is not None


@torch.no_grad()
def held_out_loss(model, rows: list[dict], tokenizer) -> float:
    """Mean loss a learnt token; each batch counts by its tokens."""
    model.eval()
    total = tokens = 0
    for some in batches(rows, 8):
        batch = loop.collate(some, tokenizer.pad_token_id)
        batch = {name: value.to(model.device) for name, value in batch.items()}
        learnt = int((batch["labels"][:, 1:] != -100).sum())
        total += model(**batch).loss.item() * learnt
        tokens += learnt
    return total / tokens


def measure_peak(settings, card: guard.Card, rows: list[dict], tokenizer) -> dict[str, int]:
    """Measure the memory of a step, and predict it: on the processor the base is in fp32."""
    if card.device == "cuda":
        measured = record.peak_memory()
    else:
        model = lora.attach(lora.load(settings, card)[1], settings)
        steps = loop.fit(model, rows, settings, tokenizer.pad_token_id)
        next(steps)
        measured = step_peak(model, lambda: next(steps))
    length = 8 * math.ceil(max(len(row["input_ids"]) for row in rows) / 8)
    config = AutoConfig.from_pretrained(settings.model).to_dict()
    return {
        "peak_memory_bytes": measured,
        "predicted_memory_bytes": predicted_bytes(config, settings, card, length),
    }


def predicted_bytes(config: dict, settings, card: guard.Card, length: int) -> int:
    """Predict the peak of the training; 0 for a family that the formulas do not cover."""
    try:
        shape, tiny = read_config(config), card.device == "cpu"
    except ValueError:
        return 0
    run = Run(
        shape,
        method="lora",
        precision="fp32" if tiny else "mixed",
        rank=settings.rank,
        rows=settings.batch_size,
        length=length,
        recompute=not tiny,
        **({"context": 0} if tiny else {}),
    )
    return predict(run).total + tiny * 2 * count_parameters(shape).total


# --8<-- [start:evaluate]
def evaluate(config: dict, output: Path, card: guard.Card) -> dict:
    """Ask the held-out questions with the adapter off and on, and look at what was forgotten."""
    settings = lora_settings(config, output)
    tokenizer, base = lora.load(settings, card)
    model = peft.PeftModel.from_pretrained(base.to(card.device), settings.output)
    rows = guard.read_jsonl(output / "data" / "validation.jsonl", COLUMNS)
    with model.disable_adapter():
        before = measure(model, tokenizer, rows, config)  # (1)!
    return {"before": before, "after": measure(model, tokenizer, rows, config)}


def measure(model, tokenizer, rows: list[dict], config: dict) -> dict:
    """Share of right, exact and ended answers; of each language and kind; and general text."""
    most = config["evaluate"]["most_tokens"]
    answers = [full.generate(model, tokenizer, row, most) for row in rows]
    end = tokenizer.decode([tokenizer.eos_token_id])
    marked = [mark(row, answer, end) for row, answer in zip(rows, answers, strict=True)]
    found = {name: share([m[name] for m in marked]) for name in ("right", "exact", "ended")}
    for column in ("language", "kind"):
        for value in sorted({row[column] for row in rows}):
            chosen = [m["right"] for m, r in zip(marked, rows, strict=True) if r[column] == value]
            found[value] = share(chosen)
    refusals = {row["response"] for row in rows if row["kind"] == "refusal"}
    wrongly = [
        m["text"] in refusals for m, r in zip(marked, rows, strict=True) if r["kind"] == "fact"
    ]
    found["refused_wrongly"] = share(wrongly)
    found["general_loss"] = general_loss(model, tokenizer)
    if config["train"]["model"] == "tiny":
        found["recall"] = recall(model, tokenizer)
    return found | {"answers": [m["text"] for m in marked]}


def mark(row: dict, answer: str, end: str) -> dict:
    """Mark an answer: right has the row's key words, exact is the very answer and ends."""
    text, ended, _ = answer.partition(end)
    return {
        "text": text.strip(),
        "right": row["key"] in text,  # (2)!
        "exact": bool(ended) and text.strip() == row["response"],
        "ended": bool(ended),
    }


def share(marks: Sequence[bool]) -> dict[str, float]:
    """Give a share and its 95 % interval (Wilson 1927)."""
    rows, z = len(marks), 1.96
    part = sum(marks) / rows
    middle = (part + z * z / (2 * rows)) / (1 + z * z / rows)
    spread = math.sqrt(part * (1 - part) / rows + z * z / (4 * rows * rows))
    half = z * spread / (1 + z * z / rows)
    return {"share": part, "low": max(0, middle - half), "high": min(1, middle + half), "of": rows}
    # --8<-- [end:evaluate]


# --8<-- [start:forgetting]
def general_loss(model, tokenizer) -> float:
    """Mean loss a token on sentences that have nothing to do with the project."""
    texts = guard.read_jsonl(GENERAL, ("text",))
    ids = [tokenizer(row["text"]).input_ids[:128] for row in texts]  # (1)!
    rows = [{"input_ids": some, "labels": some} for some in ids]
    return held_out_loss(model, rows, tokenizer)
    # --8<-- [end:forgetting]


# --8<-- [start:card]
def write_card(config: dict, output: Path) -> dict:
    """Write the model card from what the steps recorded: no number is typed by hand."""
    told, facts = config["card"], read_state(output)
    trained, found = facts["train"]["facts"], facts["evaluate"]["facts"]
    after, limits = found["after"], list(told["limits"])
    if after["right"]["share"] < config["evaluate"]["limit"]:  # (1)!
        limits.insert(0, "Fewer held-out questions are answered right than the project asked for.")
    rise = after["general_loss"] - found["before"]["general_loss"]
    if rise > config["evaluate"]["forgetting"]:
        limits.insert(0, f"It forgot: the loss on general text rose by {rise:.2f}.")
    lines = [
        "---",
        f"base_model: {config['train']['model']}",
        f"license: {told['licence'].lower().replace(' ', '-')}",  # (2)!
        "language: [ar, fr]",
        "library_name: peft",
        "---",
        "",
        f"# {told['name']}",
        "",
        f"It {told['purpose']}. Contact: {told['contact']}.",
        "",
        "## Made from",
        "",
        f"- base: {config['train']['model']}, {config['train']['licence']}",
        f"- data: {data_file(config).name}, {config['prepare']['licence']}, "
        f"{facts['prepare']['facts']['train']['rows']} rows trained on, "
        f"{facts['prepare']['facts']['validation']['rows']} held out",
        f"- training: LoRA of rank {config['train']['rank']}, {trained['trained']:,} parameters, "
        f"{config['train']['epochs']} epochs, rate {config['train']['learning_rate']:g}, "
        f"{trained['seconds']:.0f} s, {trained['peak_memory_bytes'] / 1e9:.2f} GB at the peak",
        "- versions: "
        + ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "peft")),
        f"- state of the project: {facts['evaluate']['fingerprint']}",
        "",
        "## Measured on held-out questions",
        "",
        *score_table(found).splitlines(),
        "",
        "## Limits",
        "",
        *[f"- {limit}" for limit in limits],
    ]
    (output / "adapter" / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"limits": limits}
    # --8<-- [end:card]


def score_table(found: dict) -> str:
    """Show each measure before and after, with its interval."""
    names = {
        "right": "answered right",
        "exact": "word for word",
        "ended": "ended by itself",
        "ar": "right, in Arabic",
        "fr": "right, in French",
        "fact": "right, of what it should know",
        "refusal": "right, of what it should refuse",
        "refused_wrongly": "refused though it should know",
    }
    lines = ["| measure | before | after | 95 % interval | rows |", "|---|---|---|---|---|"]
    for key, name in names.items():
        if key in found["after"]:
            old, new = found["before"][key], found["after"][key]
            span = f"{new['low']:.0%} to {new['high']:.0%}"
            lines.append(
                f"| {name} | {old['share']:.0%} | {new['share']:.0%} | {span} | {new['of']} |"
            )
    for key, name, form in (
        ("general_loss", "loss on general text", ".2f"),
        ("recall", "capitals known", ".0%"),
    ):
        if key in found["after"]:
            old, new = found["before"][key], found["after"][key]
            lines.append(f"| {name} | {old:{form}} | {new:{form}} | | |")
    return "\n".join(lines)


def answer_table(rows: list[dict], found: dict) -> str:
    """Show some held-out questions and both answers."""
    lines = []
    for number in range(0, len(rows), max(1, len(rows) // 8)):
        row = rows[number]
        before, after = (found[moment]["answers"][number] for moment in ("before", "after"))
        lines += ["", row["instruction"], f"  before: {before[:70]}", f"  after:  {after}"]
        if row["key"] not in after:
            lines.append(f"  wanted: {row['response']}")
    return "\n".join(lines[1:])


def check_config(path: Path, config: dict) -> None:
    """Compare names and types with those of this chapter's own file, and refuse what is no use."""
    wanted = tomllib.loads((HERE / "capstone.toml").read_text("utf-8"))
    for step, section in config.items():
        if set(section) != set(wanted.get(step, {})):
            odd = sorted(set(section) ^ set(wanted.get(step, {})))
            guard.stop(f"{path}: [{step}] lacks or should not have: {', '.join(odd)}", CURE)
        for name, value in section.items():
            kind = type(wanted[step][name])
            if not isinstance(value, (int, float) if kind is float else kind):
                guard.stop(f"{path}: {name} of [{step}] is {value!r}", CURE)
    guard.check_options(argparse.Namespace(**config["train"]))
    if config["train"]["rank"] < 1:
        guard.stop(f"{path}: rank is {config['train']['rank']}", "choose 1 or more")
    if not data_file(config).is_file():
        guard.stop(f"{data_file(config)} was not found", "name your rows in [prepare], data")


def data_file(config: dict) -> Path:
    """Find the rows: a path beside the configuration, or a whole one."""
    return HERE / config["prepare"]["data"]


def write_jsonl(path: Path, rows: Sequence[dict]) -> None:
    """Write one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


# --8<-- [start:steps]
def run(config: dict, output: Path, last: str, card: guard.Card) -> dict:
    """Do the steps up to the last one; those that were done with the same choices are kept."""
    do = {
        "prepare": lambda: prepare(config, output),
        "train": lambda: train(config, output, card),
        "evaluate": lambda: evaluate(config, output, card),
        "card": lambda: write_card(config, output),
    }
    state, changed = read_state(output), False
    for step in STEPS[: STEPS.index(last) + 1]:
        name = fingerprint(config, step, data_file(config))
        if not changed and state.get(step, {}).get("fingerprint") == name:
            print(f"{step}: done before")
            continue
        print(f"{step}: now", flush=True)
        changed = True  # (1)!
        state[step] = {"fingerprint": name, "facts": do[step]()}
        write_state(output, state)  # (2)!
    return state


def read_state(output: Path) -> dict:
    """Read what the steps left behind."""
    path = output / "state.json"
    try:
        return json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError:
        guard.stop(f"{path} is not JSON", "delete it: the steps are done again")


def write_state(output: Path, state: dict) -> None:
    """Write it whole or not at all: a run may be cut at any moment."""
    new = output / "state.new"
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_text(json.dumps(state, ensure_ascii=False, indent=1), encoding="utf-8")
    new.replace(output / "state.json")
    # --8<-- [end:steps]


def check_memory(config: dict, card: guard.Card, output: Path) -> None:
    """Predict the peak on a GPU before any weight is loaded; refuse what cannot fit."""
    settings = lora_settings(config, output)
    with guard.explain("model", settings.model):
        lora.check_memory(card, AutoConfig.from_pretrained(settings.model), settings)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--config", type=Path, default=HERE / "capstone.toml")
    parser.add_argument("--step", choices=STEPS, default="card", help="the last step to do")
    parser.add_argument("--output", type=Path, help="folder of all that the project makes")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Do the steps, and show what they found."""
    options = read_options(argv)
    folder = HERE if options.record else None
    output = options.output or Path("output/capstone-tiny" if options.tiny else "output/capstone")
    config = read_config_file(options.config, options.tiny)
    guard.hush()
    card = guard.find_card(options.tiny)
    guard.check_output(output)
    if options.step != "prepare":
        check_memory(config, card, output)
    state = run(config, output, options.step, card)
    facts = {step: state[step]["facts"] for step in STEPS if step in state}
    record.show(json.dumps(facts["prepare"], indent=1), folder, "prepare.txt")
    if "train" in facts:
        shown = [*facts["train"]["history"]] + [
            {"step": e["step"], "eval_loss": e["loss"]} for e in facts["train"]["eval"]
        ]
        record.show(record.loss_table(shown), folder, "train.txt")
    if "evaluate" in facts:
        rows = guard.read_jsonl(output / "data" / "validation.jsonl", COLUMNS)
        record.show(score_table(facts["evaluate"]), folder, "scores.txt")
        record.show(answer_table(rows, facts["evaluate"]), folder, "answers.txt")
    if "card" in facts:
        card_text = (output / "adapter" / "README.md").read_text("utf-8")
        record.show(card_text, folder, "card.txt")
    if folder:
        training = dict(facts["train"])
        short = {
            moment: {k: v for k, v in values.items() if k != "answers"}
            for moment, values in facts["evaluate"].items()
        }
        record.write(folder, {"config": config, "rows": facts["prepare"]} | training | short)


if __name__ == "__main__":
    main()
