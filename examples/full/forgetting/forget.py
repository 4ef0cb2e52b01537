"""What a model forgets while it learns, measured before and after; and what lowers the loss.

Chapter full/forgetting of the course. Machine, command, and the memory that the run then needs:

    any computer, no network   python examples/full/forgetting/forget.py --tiny
    16 GB, such as a free T4   python examples/full/forgetting/forget.py                  13.2 GB
    24 GB                      the same with --model TinyLlama/TinyLlama_v1.1             22.4 GB
    80 GB                      the same with --model Qwen/Qwen3-4B-Base                   78.1 GB

The base knows capitals: it completes a sentence and answers a question. It is trained on another
task, travel requests, and asked again. Half of the countries may be replayed among the requests;
what is left is measured on the other half, which no run ever sees again. --tiny runs one seed in a
minute or two; --record five of them, since the difference of two single runs may be chance. Memory
is predicted by examples/memory: everything is in fp32 here, 16 B/parameter before activations.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser
from common.rows import read

# isort: split
import torch
from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerBase

from full.traditional import loop
from full.traditional import train as full
from memory import Run, predict
from peft import LoraConfig, get_peft_model
from tiny import DATA, exact, facts

HERE = Path(__file__).resolve().parent
EVERY = 15  # steps between two points of the curves
PARTS = tuple(part / 10 for part in range(11))
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}


# --8<-- [start:methods]
@dataclass(frozen=True)
class Method:
    """A way of training; rank 0 is full fine-tuning."""

    id: str
    rank: int = 0
    rate: float = 1.0  # (1)!
    epochs: float = 3
    replay: float = 0.0  # (2)!
    part: float = 1.0  # (3)!


METHODS = (
    Method("full"),
    Method("full-replay-5", replay=0.05),
    Method("full-replay-20", replay=0.2),
    Method("full-high-rate", rate=2),
    Method("full-low-rate", rate=0.5),
    Method("full-two-epochs", epochs=2),
    Method("full-average-70", part=0.7),
    Method("lora", rank=8),
    Method("lora-replay-5", rank=8, replay=0.05),
    Method("lora-replay-20", rank=8, replay=0.2),
    Method("lora-low-rate", rank=8, rate=0.5),
)
CURVES = {"full": "steps_none", "full-replay-20": "steps_replay"}
# --8<-- [end:methods]


@dataclass(frozen=True)
class Settings:
    """What the machine decides: the model, and a rate for each kind of training."""

    model: str = "Qwen/Qwen2.5-0.5B"
    data: str = str(DATA)
    seed: int = 1
    full_rate: float = 5e-5
    lora_rate: float = 5e-4
    batch_size: int = 8
    max_tokens: int = 128


TINY = replace(Settings(), model=full.TINY.model, full_rate=5e-4, lora_rate=5e-3)


# --8<-- [start:replay]
def split_facts() -> tuple[list[dict], list[dict]]:
    """Part the capitals by country: those that may be replayed, those that are only measured."""
    parts = ([], [])
    for number, fact in enumerate(facts()):
        parts[number // 3 % 2].append(fact)  # (1)!
    return parts


def say(fact: dict, asked: bool, tokenizer: PreTrainedTokenizerBase, end: bool = False) -> dict:
    """Encode a capital, asked in a conversation or left out of a sentence; only it is learnt."""
    if asked:
        chat = full.ask({"instruction": fact["question"], "context": ""})
        prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
    else:
        text = (tokenizer.bos_token or "") + fact["prompt"]
        prompt = tokenizer(text, add_special_tokens=False).input_ids
    text = fact["answer"] if asked else f" {fact['answer']}"
    answer = tokenizer(text, add_special_tokens=False).input_ids
    answer += [tokenizer.eos_token_id] * end  # (2)!
    return {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer}


def replayed(rows: int, share: float, seed: int, tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """Draw old knowledge until it is a share of all rows: questions and sentences in turn."""
    wanted = round(share / (1 - share) * rows)  # (3)!
    draw, pool = random.Random(seed), split_facts()[0]
    return [say(draw.choice(pool), n % 2 == 0, tokenizer, end=True) for n in range(wanted)]
    # --8<-- [end:replay]


# --8<-- [start:retention]
CHANCE = 1 / 40  # (1)!


def retention(after: float, before: float, chance: float = CHANCE) -> float:
    """Part of what was known above chance that is left: 1 all of it, 0 none."""
    return (after - chance) / (before - chance)  # (2)!


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of some seeds, and the two ends of its 95 % confidence interval."""
    mean, seeds = statistics.mean(values), len(values)
    if seeds < 2:
        return mean, math.nan, math.nan
    half = STUDENT[seeds] * statistics.stdev(values) / math.sqrt(seeds)  # (3)!
    return mean, mean - half, mean + half
    # --8<-- [end:retention]


# --8<-- [start:measure]
def measure(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, held_out: list) -> dict:
    """Measure the new task, and the capitals that no run replays: in a sentence, in a question."""
    kept = split_facts()[1]
    return {
        "task": exact(held_out, model) if held_out else None,
        "raw": exact([say(fact, False, tokenizer) for fact in kept], model),  # (1)!
        "question": exact([say(fact, True, tokenizer) for fact in kept], model),
    }
    # --8<-- [end:measure]


def load(settings: Settings, card: guard.Card) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the base in fp32; the loop makes its batches on the processor, the model moves them."""
    tokenizer, model = full.load(replace(full.TINY, model=settings.model))
    model.to(card.device)

    def move(model: PreTrainedModel, positions: tuple, names: dict) -> tuple[tuple, dict]:
        tensors = {k: v.to(model.device) for k, v in names.items() if torch.is_tensor(v)}
        return positions, names | tensors

    model.register_forward_pre_hook(move, with_kwargs=True)
    return tokenizer, model


def start(method: Method, settings: Settings, model: PreTrainedModel, tokenizer, rows: list[dict]):
    """Give the model an adapter if the method has one; return it, and the steps of its training."""
    rate = method.rate * (settings.lora_rate if method.rank else settings.full_rate)
    if method.rank:
        torch.manual_seed(settings.seed)
        config = LoraConfig(r=method.rank, lora_alpha=2 * method.rank, target_modules="all-linear")
        model = get_peft_model(model, config)
    rows = rows + replayed(len(rows), method.replay, settings.seed, tokenizer)
    run = replace(
        full.TINY,
        learning_rate=rate,
        epochs=method.epochs,
        batch_size=settings.batch_size,
        seed=settings.seed,
    )
    return model, loop.fit(model, rows, run, tokenizer.pad_token_id)


# --8<-- [start:run]
def run(method: Method, settings: Settings, card: guard.Card, rows: list[list[dict]]) -> tuple:
    """Train the base in one way; return the model, what it can do, and points on the way."""
    tokenizer, model = load(settings, card)
    model, training = start(method, settings, model, tokenizer, rows[0])
    points, clock = [], time.perf_counter if card.device == "cuda" else time.process_time
    if method.id in CURVES:
        points.append({"x": 0} | measure(model, tokenizer, []))
    started = clock()
    for step, _ in enumerate(training, 1):
        if method.id in CURVES and step % EVERY == 0:
            points.append({"x": step} | measure(model, tokenizer, []))  # (1)!
    seconds = {"seconds": round(clock() - started, 1)}
    return model, measure(model, tokenizer, rows[1]) | seconds, points
    # --8<-- [end:run]


# --8<-- [start:between]
@torch.no_grad()
def between(tuned: PreTrainedModel, settings: Settings, card: guard.Card, rows: list) -> list[dict]:
    """Measure models on the way from the base to the tuned one: weights are averaged."""
    tokenizer, model = load(settings, card)
    base = {name: weight.clone() for name, weight in model.state_dict().items()}
    end = {name: weight.to(model.device) for name, weight in tuned.state_dict().items()}
    points = []
    for part in PARTS:
        mixed = {name: torch.lerp(base[name], end[name], part) for name in base}  # (1)!
        model.load_state_dict(mixed)
        points.append({"x": part} | measure(model, tokenizer, rows))
    return points
    # --8<-- [end:between]


# --8<-- [start:compare]
def compare(settings: Settings, card: guard.Card, rows: list[list[dict]], seeds: Sequence[int]):
    """Train in every way with every seed; return what was found, and the models of the first."""
    runs, first, curves = [], {}, {name: [] for name in (*CURVES.values(), "between")}
    for seed in seeds:
        kept = {}
        for method in METHODS:
            own = replace(settings, seed=seed)
            if method.part < 1:
                path = between(kept["full"], own, card, rows[1])
                found = path[PARTS.index(method.part)].copy()  # (1)!
                curves["between"] += path
                del found["x"]
            else:
                model, found, points = run(method, own, card, rows)
                if method.id in CURVES:
                    kept[method.id] = model.to("cpu")  # (2)!
                    curves[CURVES[method.id]] += points
            runs.append({"id": method.id, "seed": seed} | found)
            print(f"seed {seed}  {method.id:16}", *(f"{v:.3g}" for v in found.values()), flush=True)
        first = first or kept
    return runs, curves, first
    # --8<-- [end:compare]


def summarize(runs: list[dict], before: dict[str, float]) -> list[dict]:
    """Gather the seeds of each method: means, and retention of the questions with its interval.

    An interval of few seeds may leave what is possible: it is cut at no capital and at all of them.
    """
    least, most = (retention(share, before["question"]) for share in (0, 1))
    rows = []
    for method in METHODS:
        same = [run for run in runs if run["id"] == method.id]
        means = {k: statistics.mean(run[k] for run in same) for k in ("task", "raw", "question")}
        kept = [retention(run["question"], before["question"]) for run in same]
        mean, low, high = interval(kept)
        kind = "lora" if method.rank else "full"
        row = {"id": method.id, "method": kind, "replay": method.replay} | means
        row |= {"retention": mean, "retention_raw": retention(means["raw"], before["raw"])}
        row |= {} if math.isnan(low) else {"low": max(low, least), "high": min(high, most)}
        rows.append({k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()})
    return rows


def difference(runs: list[dict], before: dict[str, float], one: str, other: str) -> dict:
    """Compare two methods seed by seed: by how much the first retains more than the second."""
    kept = {
        (run["id"], run["seed"]): retention(run["question"], before["question"]) for run in runs
    }
    pairs = [kept[one, seed] - kept[other, seed] for name, seed in kept if name == one]
    names = ("mean", "low", "high")
    return {"of": one, "minus": other} | dict(zip(names, interval(pairs), strict=True))


def average(points: list[dict], before: dict[str, float], key: str) -> list[dict]:
    """Average the curves of the seeds: points of a figure, the task as it is, else retention."""
    steps = dict.fromkeys(point["x"] for point in points)
    rows = []
    for x in steps:
        values = [point[key] for point in points if point["x"] == x]
        if key != "task":
            values = [retention(value, before[key]) for value in values]
        rows.append({"x": x, "y": round(statistics.mean(values), 6)})
    return rows


def table(rows: list[dict], before: dict[str, float], gap: dict) -> str:
    """Show every method: new task, old knowledge, retention and its interval."""
    lines = [
        "                                capitals known     retention of questions",
        "                     new task   text   question    chance removed, 95 % interval",
        f"{'base':20} {before['task']:8.1%} {before['raw']:6.1%} {before['question']:10.1%}",
    ]
    for row in rows:
        ends = f"[{row['low']:7.1%}, {row['high']:7.1%}]" if "low" in row else ""
        lines.append(
            f"{row['id']:20} {row['task']:8.1%} {row['raw']:6.1%} {row['question']:10.1%}"
            f" {row['retention']:10.1%}   {ends}".rstrip()
        )
    if not math.isnan(gap["low"]):
        lines.append(
            f"{gap['of']} against {gap['minus']}, seed by seed: {100 * gap['mean']:+.1f} points"
            f" [{100 * gap['low']:+.1f}, {100 * gap['high']:+.1f}]"
        )
    return "\n".join(lines)


# --8<-- [start:answers]
def complete(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """Go on with a text, as a base model does."""
    ids = tokenizer((tokenizer.bos_token or "") + text, add_special_tokens=False).input_ids
    ids = torch.tensor([ids], device=model.device)
    output = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=16)
    return tokenizer.decode(output[0, ids.shape[1] :]).strip()


def answers(models: dict[str, PreTrainedModel], tokenizer, request: dict) -> str:
    """Let some models answer the request and questions never replayed, and end sentences."""
    kept = split_facts()[1]
    asked = [{"instruction": fact["question"], "context": ""} for fact in kept[:2]]
    lines = []
    for row in (*asked, request):
        lines += ["", row["context"] or row["instruction"]]
        for name, model in models.items():
            lines.append(f"  {name + ':':16} {full.generate(model, tokenizer, row)[:64]}")
    for fact in kept[:2]:
        lines += ["", f"{fact['prompt']} ..."]
        for name, model in models.items():
            lines.append(f"  {name + ':':16} {complete(model, tokenizer, fact['prompt'])[:64]}")
    return "\n".join(lines[1:])
    # --8<-- [end:answers]


def check_memory(settings: Settings, card: guard.Card) -> None:
    """Predict the peak on a GPU before any weight is loaded; refuse what cannot fit."""
    if card.device == "cpu":
        return
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model).to_dict()
    shape = guard.find_shape(config)
    if not shape:
        return
    sizes = {"rows": settings.batch_size, "length": settings.max_tokens}
    needed = predict(Run(shape, precision="fp32", recompute=False, **sizes)).total
    print(f"memory predicted: {needed / 1e9:.1f} GB")
    guard.check_fits(card, needed, "choose a smaller --model")


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--model", help="folder or name on the Hub")
    parser.add_argument("--data", help="folder with train.jsonl and validation.jsonl, or name")
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--seeds", type=int, help="how many: 1, or 5 with --record")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    options = guard.check_options(parser.parse_args(argv))
    options.seeds = options.seeds or (5 if options.record else 1)
    if not 1 <= options.seeds <= max(STUDENT):
        guard.stop(f"--seeds is {options.seeds}", f"choose 1 to {max(STUDENT)}")
    return options


def main(argv: list[str] | None = None) -> None:
    """Measure before, train in every way with every seed, measure after, and record."""
    options = read_options(argv)
    folder, default = HERE if options.record else None, TINY if options.tiny else Settings()
    settings = choose_settings(default, options)
    guard.hush()
    card = guard.find_card(options.tiny)
    check_memory(settings, card)
    tokenizer, base = load(settings, card)
    parts = read(settings.data)
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    before = measure(base, tokenizer, rows[1])
    for key in ("raw", "question"):
        if before[key] < 4 * CHANCE:
            guard.stop(
                f"the base knows {before[key]:.0%} of the capitals ({key}): nothing to forget",
                "choose a --model that knows them, or measure what yours knows",
            )
    seeds = range(settings.seed, settings.seed + options.seeds)
    runs, curves, models = compare(settings, card, rows, seeds)

    summary = summarize(runs, before)
    gap = difference(runs, before, "full-replay-20", "full")
    record.show(table(summary, before, gap), folder, "retention.txt")
    shown = {"base": base} | {name: models[name] for name in CURVES}
    record.show(answers(shown, tokenizer, parts[1][1]), folder, "answers.txt")
    lines = {name: average(curves[name], before, "question") for name in CURVES.values()}
    for key in ("task", "raw", "question"):
        lines[f"between_{key}"] = average(curves["between"], before, key)
    if not folder:
        return
    collate = partial(loop.collate, pad=tokenizer.pad_token_id)
    facts_of_run = {
        "settings": {"chance": CHANCE, "seeds": list(seeds), "batch_size": settings.batch_size},
        "parameters": base.num_parameters(),
        "rows": {"train": len(rows[0]), "validation": len(rows[1])},
        "seconds": runs[0]["seconds"],
        "loss_before": record.held_out_loss(base, rows[1], collate),
        "loss_after": record.held_out_loss(models["full"], rows[1], collate),
    }
    facts_of_run |= record.memory(base, rows[0], collate, settings.batch_size)
    facts_of_run |= {"before": before, "difference": gap}
    record.write(folder, facts_of_run | {"retention": summary, "runs": runs} | lines)


if __name__ == "__main__":
    main()
