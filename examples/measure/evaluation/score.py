"""The base against what was made of it: losses, exact answers, what is kept, and how sure.

Chapter measure/evaluation of the course. Machine, command, memory:

    any computer, no network   python examples/measure/evaluation/score.py --tiny
    16 GB, such as a free T4   the same without --tiny, with --tuned output/traditional
    24 or 80 GB                with --model NAME --adapter output/lora

With --tiny the base is trained first, by examples/full/traditional/loop.py, and measured early
too. Else the base and a trained model are compared, one after the other: the weights of one in 16
bits (2 B/parameter), and 12 B x vocabulary a token, for the logits of --batch-size rows and their
copies. 4 rows of 512 tokens: 4.7 GB for Qwen2.5-0.5B, 19 GB for Qwen2.5-7B.
"""

import argparse
import copy
import gc
import importlib
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser

# isort: split
import torch
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    set_seed,
)

from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from measure.evaluation import intervals
from measure.troubleshooting.overfit import measure_memory
from peft import PeftModel
from tiny import batches, facts

HERE = Path(__file__).resolve().parent
prepare = importlib.import_module("data.datasets-chat-templates.prepare")
TINY = replace(full.TINY, epochs=6)
EARLY = 40  # steps: the end of the second epoch is near
LANGUAGES = ("ar", "fr", "en")
PLANTED = 10  # held-out rows slipped into the training rows, to see that they are found


# --8<-- [start:read]
@dataclass(frozen=True)
class Read:
    """What a model makes of one row: its loss in all, on how many tokens, and if all are right."""

    loss: float
    tokens: int
    right: bool


@torch.no_grad()
def read_all(model: PreTrainedModel, rows: list[dict], pad: int, size: int = 32) -> list[Read]:
    """Read rows, a few at a time; each keeps its own sum, so that any mean can be made of them."""
    model.eval()
    found = []
    for part in batches(rows, size):
        batch = {k: v.to(model.device) for k, v in loop.collate(part, pad).items()}
        wanted = batch.pop("labels")[:, 1:]
        logits = model(**batch).logits[:, :-1].float()
        losses = cross_entropy(logits.mT, wanted, reduction="none").sum(1)  # (1)!
        right = ((logits.argmax(-1) == wanted) | (wanted == -100)).all(1)  # (2)!
        counts = (wanted != -100).sum(1)
        columns = (losses.tolist(), counts.tolist(), right.tolist())
        found += [Read(*one) for one in zip(*columns, strict=True)]
    return found


def losses_of(read: list[Read], texts: Sequence[str]) -> dict[str, float]:
    """Turn what was read into the usual figures."""
    total, tokens = sum(one.loss for one in read), sum(one.tokens for one in read)
    low, high = intervals.bootstrap([one.loss for one in read], [one.tokens for one in read])
    size = sum(len(text.encode()) for text in texts)
    return {
        "loss": total / tokens,  # (3)!
        "low": low,
        "high": high,
        "loss_by_rows": sum(one.loss / one.tokens for one in read) / len(read),
        "perplexity": math.exp(total / tokens),  # (4)!
        "bits_per_byte": total / math.log(2) / size,  # (5)!
    }
    # --8<-- [end:read]


# --8<-- [start:kept]
def capitals(tokenizer: PreTrainedTokenizerBase) -> dict[str, list[dict]]:
    """Ask for the capitals that the base knows: as sentences to end, and as questions."""
    rows = {"sentence": [], "question": []}
    for fact in facts():
        forms = {
            "sentence": (f"<s>{fact['prompt']}", f" {fact['answer']}."),
            "question": (f"<s><|user|>{fact['question']}<|assistant|>", fact["answer"]),
        }
        for name, texts in forms.items():
            asked, told = (tokenizer(t, add_special_tokens=False).input_ids for t in texts)
            labels = [-100] * len(asked) + told  # (1)!
            rows[name].append({"input_ids": asked + told, "labels": labels})
    return rows
    # --8<-- [end:kept]


def score(name: str, read: list[Read]) -> dict:
    """Give a share with its interval, as figures want it."""
    right = sum(one.right for one in read)
    low, high = intervals.wilson(right, len(read))
    return {"id": name, "score": right / len(read), "low": low, "high": high, "n": len(read)}


def draw_intervals(scores: list[dict]) -> list[dict]:
    """Give the intervals of all rows in points, as a figure draws them: where from, how wide."""
    return [
        {"id": one["id"], "low": 100 * one["low"], "width": 100 * (one["high"] - one["low"])}
        for one in scores
        if not one["id"].endswith(tuple(f"-{language}" for language in LANGUAGES))
    ]


def score_parts(name: str, read: list[Read], languages: list[str]) -> list[dict]:
    """Score all rows, then those of each language."""
    scores = [score(name, read)]
    for language in LANGUAGES:
        part = [one for one, own in zip(read, languages, strict=True) if own == language]
        if part:
            scores.append(score(f"{name}-{language}", part))
    return scores


# --8<-- [start:contamination]
def find_contamination(train: list[dict], held_out: list[dict]) -> dict[str, dict[str, int]]:
    """Count held-out rows that the training rows give away; then with some slipped in."""
    planted = train + held_out[:PLANTED]  # (1)!
    return {
        "as it is": prepare.find_leaks(train, held_out),
        f"with {PLANTED} slipped in": prepare.find_leaks(planted, held_out),
    }
    # --8<-- [end:contamination]


def train_tiny(
    settings: full.Settings, rows: list[dict], steps: int | None = None
) -> dict[str, PreTrainedModel]:
    """Train the tiny base; give it as it was, early, and at the end (or after some steps)."""
    set_seed(settings.seed)
    tokenizer, model = full.load(settings)
    models = {"base": copy.deepcopy(model)}
    training = loop.fit(model, rows, settings, tokenizer.pad_token_id)
    for step, _ in enumerate(islice(training, steps), 1):
        if step == EARLY:
            models["early"] = copy.deepcopy(model)
    return models | {"tuned": model}


def load(
    settings: full.Settings, card: guard.Card, tuned: str | None = None, adapter: str | None = None
) -> PreTrainedModel:
    """Load the base, a model that was trained whole, or the base with its adapter."""
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    option, source = ("tuned", tuned) if tuned else ("model", settings.model)
    with guard.explain(option, source):
        model = AutoModelForCausalLM.from_pretrained(source, dtype=kinds[card.precision])
    if adapter:
        with guard.explain("adapter", adapter):
            model = PeftModel.from_pretrained(model, adapter)
    return model.to(card.device)


def read_pair(
    settings: full.Settings,
    tuned: str | None,
    adapter: str | None,
    card: guard.Card,
    rows: list[dict],
    pad: int,
) -> dict[str, list[Read]]:
    """Read rows with the base, then with the trained model: never both in memory."""
    found = {"base": read_all(load(settings, card), rows, pad, settings.batch_size)}
    gc.collect()  # the base goes before the other comes
    other = load(settings, card, tuned, adapter)
    return found | {"tuned": read_all(other, rows, pad, settings.batch_size)}


def show_losses(losses: dict[str, dict]) -> str:
    """Show the losses of each model."""
    lines = ["          loss   95 %             perplexity   bits a byte   mean of the rows' means"]
    for name, row in losses.items():
        lines.append(
            f"{name:7} {row['loss']:6.4f}   {row['low']:.4f}-{row['high']:.4f}"
            f" {row['perplexity']:13.4f} {row['bits_per_byte']:13.4f} {row['loss_by_rows']:16.4f}"
        )
    return "\n".join(lines)


def show_scores(scores: list[dict]) -> str:
    """Show shares with their intervals."""
    lines = ["                            score    95 %              rows"]
    for row in scores:
        lines.append(
            f"{row['id']:26} {row['score']:6.1%}   {row['low']:6.1%} to {row['high']:6.1%}"
            f" {row['n']:6}"
        )
    return "\n".join(lines)


def show_pair(names: list[str], found: dict) -> str:
    """Show a paired comparison."""
    wrong = found["rows"] - found["both"] - found["only_first"] - found["only_second"]
    return "\n".join(
        [
            f"both right          {found['both']:4}",
            f"only {names[0] + ' right':14} {found['only_first']:4}",
            f"only {names[1] + ' right':14} {found['only_second']:4}",
            f"both wrong          {wrong:4}",
            f"difference          {found['difference']:+.1%}"
            f"   95 %: {found['low']:+.1%} to {found['high']:+.1%}",
            f"p (McNemar)         {found['p']:.2g}",
        ]
    )


def count_rows(share: float, disagree: float) -> list[dict]:
    """Count the rows that it takes to see some differences."""
    wanted = (0.01, 0.02, 0.05, 0.10)
    return [
        {
            "points": round(100 * d),
            "apart": intervals.rows_apart(min(share, 1 - d), d),
            "paired": intervals.rows_paired(disagree, d),
        }
        for d in wanted
    ]


def show_rows(rows: list[dict], share: float, disagree: float) -> str:
    """Show how many rows show a difference."""
    lines = [
        f"to see, 4 times in 5, a difference at {share:.0%} right; disagreement {disagree:.1%}",
        "points   other rows for each   the same rows for both",
    ]
    lines += [f"{one['points']:6} {one['apart']:21,} {one['paired']:24,}" for one in rows]
    return "\n".join(lines)


def show_contamination(found: dict[str, dict[str, int]]) -> str:
    """Show what the training rows give away."""
    lines = ["                      held out   shared runs of words   same request"]
    for name, row in found.items():
        lines.append(f"{name:20} {row['rows']:9} {row['reworded']:22} {row['topic']:14}")
    return "\n".join(lines)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny base, on the processor, offline")
    parser.add_argument("--model", help="the base: folder or name on the Hub")
    parser.add_argument("--tuned", help="folder of a model that was trained whole")
    parser.add_argument("--adapter", help="folder of a LoRA adapter")
    parser.add_argument("--data", help="folder with train.jsonl and validation.jsonl, or name")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--epochs", type=float, help="with --tiny")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    options = guard.check_options(parser.parse_args(argv))
    if not options.tiny and bool(options.tuned) == bool(options.adapter):
        guard.stop("one trained model is needed", "name its folder: --tuned or --adapter")
    return options


def choose(options: argparse.Namespace) -> full.Settings:
    """Combine the defaults with what the command line asks for."""
    default = TINY if options.tiny else full.Settings()
    return choose_settings(default, options)


def main(argv: list[str] | None = None) -> None:
    """Train or load, read the held-out rows with each model, compare."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    guard.hush()
    card, started = guard.find_card(options.tiny), time.process_time()
    tokenizer = full.load_tokenizer(settings)
    parts = [list(part) for part in read(settings.data)]
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    fitting = settings.max_tokens
    kept = [r for r in parts[1] if len(full.encode(r, tokenizer)["input_ids"]) <= fitting]
    pad = tokenizer.pad_token_id
    if options.tiny:
        models = train_tiny(settings, rows[0])
        read_by = {name: read_all(model, rows[1], pad) for name, model in models.items()}
    else:
        read_by = read_pair(settings, options.tuned, options.adapter, card, rows[1], pad)
    losses = {n: losses_of(r, [row["response"] for row in kept]) for n, r in read_by.items()}
    record.show(show_losses(losses), folder, "losses.txt")

    languages = [prepare.guess_language(prepare.request(row)) for row in kept]
    scores = [s for n, r in read_by.items() for s in score_parts(f"exact-{n}", r, languages)]
    if options.tiny:
        for form, asked in capitals(tokenizer).items():
            scores += [score(f"{form}-{n}", read_all(m, asked, pad)) for n, m in models.items()]
    record.show(show_scores(scores), folder, "scores.txt")

    names = list(read_by)[-2:]
    first, second = ([one.right for one in read_by[name]] for name in names)
    pair = intervals.compare(first, second)
    record.show(show_pair(names, pair), folder, "pair.txt")
    disagree = (pair["only_first"] + pair["only_second"]) / pair["rows"]
    share = sum(first) / len(first)
    needed = count_rows(share, disagree)
    record.show(show_rows(needed, share, disagree), folder, "rows.txt")
    leaks = find_contamination(*parts)
    record.show(show_contamination(leaks), folder, "contamination.txt")
    if folder:
        longest = sorted(rows[0], key=lambda row: -len(row["input_ids"]))[: settings.batch_size]
        memory = measure_memory(settings, loop.collate(longest, pad), card)
        facts_of = {"seconds": round(time.process_time() - started, 1)}
        facts_of |= {"loss_before": losses["base"]["loss"], "loss_after": losses["tuned"]["loss"]}
        tables = {"losses": [{"id": n, **row} for n, row in losses.items()], "scores": scores}
        tables |= {"intervals": draw_intervals(scores)}
        tables |= {"pair": pair, "rows_needed": needed, "contamination": leaks}
        record.write(HERE, record.settings(settings) | facts_of | memory | tables)


if __name__ == "__main__":
    main()
