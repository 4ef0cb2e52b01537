"""Padding and packing: what is wasted, what is dropped, and who sees whom in a packed row.

Chapter data/loss-masking-packing of the course.

    python examples/data/loss-masking-packing/packing.py --tiny     offline, some seconds
    python examples/data/loss-masking-packing/packing.py            Qwen2.5-0.5B: 2 GB, GPU or not
    python examples/data/loss-masking-packing/packing.py --model MODEL --data mine.jsonl

The rows are packed by TRL itself, each token with the number of its conversation: so that every
count below is exact.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser

# isort: split
import torch
from datasets import Dataset, disable_progress_bars
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging
from trl import pack_dataset
from trl.chat_template_utils import get_training_chat_template

from common.rows import COLUMNS
from tiny import BASE, facts

HERE = Path(__file__).resolve().parent
DIALOGUES = "dialogues"
TURNS = (1, 1, 1, 2, 2, 3, 4, 6, 8)  # of which a dialogue's number of questions is drawn
STRATEGIES = ("bfd", "bfd_split", "wrapped")


@dataclass(frozen=True)
class Settings:
    """All that a run depends on; the command line changes most of it."""

    model: str = "Qwen/Qwen2.5-0.5B-Instruct"
    data: str = DIALOGUES
    length: int = 128
    batch_size: int = 8
    seed: int = 42


TINY = Settings(model=str(BASE), length=64)


def read_chats(data: str, seed: int) -> list[list[dict]]:
    """Read a conversation a row, or draw dialogues about capitals, of 1 to 8 questions each."""
    if data != DIALOGUES:
        rows = guard.read_jsonl(Path(data), COLUMNS)
        return [turn(f"{row['instruction']}\n{row['context']}", row["response"]) for row in rows]
    draw, known = random.Random(seed), facts()
    chats = []
    for number in range(120):
        language = ("ar", "fr", "en")[number % 3]
        mine = [fact for fact in known if fact["language"] == language]
        chosen = draw.sample(mine, draw.choice(TURNS))
        chats.append([part for f in chosen for part in turn(f["question"], f["answer"])])
    return chats


def turn(asked: str, answered: str) -> list[dict]:
    """Write a question and its answer."""
    return [
        {"role": "user", "content": asked.strip()},
        {"role": "assistant", "content": answered},
    ]


def find_template(tokenizer: PreTrainedTokenizerBase, model: str) -> str | None:
    """Find a template that marks answers: None is the tokenizer's own."""
    if not tokenizer.chat_template:
        guard.stop(f"model {model} has no chat template", "name an instruct model with --model")
    try:
        return get_training_chat_template(tokenizer)
    except ValueError:
        guard.stop(
            f"the chat template of {model} does not mark answers, and TRL has none that does",
            "put {% generation %} and {% endgeneration %} around the answer and its end",
        )


def encode(
    chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase, template: str | None
) -> Dataset:
    """Encode conversations; every answer is learnt, and each token knows where it comes from."""
    rows = []
    for number, chat in enumerate(chats):
        coded = tokenizer.apply_chat_template(
            chat, chat_template=template, return_dict=True, return_assistant_tokens_mask=True
        )
        ids, mask = coded["input_ids"], coded["assistant_masks"]
        labels = [i if learnt else -100 for i, learnt in zip(ids, mask, strict=True)]
        origin = {"source": [number] * len(ids), "place": list(range(len(ids)))}
        rows.append({"input_ids": ids, "labels": labels, **origin})
    return Dataset.from_list(rows)


# --8<-- [start:waste]
def wasted(lengths: Iterable[int], widths: Iterable[int]) -> float:
    """Give the share of padding, from 0 to 1: 1 - 150 / 512 = 0.71 for 150 tokens made 512."""
    return 1 - sum(lengths) / sum(widths)  # (1)!


def batch_widths(lengths: list[int], size: int) -> Iterator[int]:
    """Give each row the width of the longest of its batch."""
    for first in range(0, len(lengths), size):
        batch = lengths[first : first + size]
        yield from [max(batch)] * len(batch)  # (2)!


def measure_waste(lengths: list[int], settings: Settings, packed: int) -> list[dict]:
    """Compare ways to bring rows of several lengths into one tensor: padding and its share."""
    n, size = len(lengths), settings.batch_size
    drawn = random.Random(settings.seed).sample(lengths, n)
    ways = {
        "all to 512": [512] * n,
        "all to the longest row": [max(lengths)] * n,
        f"to the longest of {size}": list(batch_widths(drawn, size)),
        "the same, sorted by length": list(batch_widths(sorted(lengths), size)),  # (3)!
        f"packed into rows of {settings.length}": [settings.length] * packed,
    }
    return [
        {"id": way, "padding": sum(widths) - sum(lengths), "share": wasted(lengths, widths)}
        for way, widths in ways.items()
    ]
    # --8<-- [end:waste]


# --8<-- [start:pack]
def pack(rows: Dataset, length: int) -> dict[str, Dataset]:
    """Pack rows in each of TRL's three ways."""
    return {name: pack_dataset(rows, length, strategy=name) for name in STRATEGIES}  # (1)!


def fragments(packed: Dataset) -> Iterator[dict]:
    """Yield each piece of a conversation that a packed row holds, and the number of the row."""
    for number, row in enumerate(packed):
        lengths = row.pop("seq_lengths", None)  # (2)!
        if lengths is None:
            lengths = [len(list(run)) for _, run in groupby(row["source"])]  # (3)!
        first = 0
        for size in lengths:
            piece = {name: values[first : first + size] for name, values in row.items()}
            yield piece | {"row": number, "alone": first == 0}
            first += size
    # --8<-- [end:pack]


# --8<-- [start:count]
def count(rows: Dataset, packed: Dataset) -> dict[str, int]:
    """Count what packing did to the conversations and to their tokens."""
    borders = "seq_lengths" in packed.column_names
    tokens = orphans = strangers = 0
    pieces, ends = Counter(), 0
    for piece in fragments(packed):
        source, size = piece["source"][0], len(piece["input_ids"])
        pieces[source] += 1
        tokens += size
        ends += piece["place"][-1] == len(rows[source]["input_ids"]) - 1
        if piece["place"][0] > 0:  # (1)!
            orphans += learnt(piece["labels"])
        if not borders and not piece["alone"]:  # (2)!
            strangers += size
    return {
        "rows": len(packed),
        "tokens_dropped": sum(map(len, rows["input_ids"])) - tokens,
        "learnt_dropped": sum(map(learnt, rows["labels"])) - sum(map(learnt, packed["labels"])),
        "ends_dropped": len(rows) - ends,  # (3)!
        "conversations_in_pieces": sum(number > 1 for number in pieces.values()),
        "learnt_without_beginning": orphans,
        "tokens_that_see_others": strangers,
    }


def learnt(labels: list[int]) -> int:
    """Count the labels that are not masked."""
    return sum(label != -100 for label in labels)
    # --8<-- [end:count]


# --8<-- [start:attention]
def inputs_of(pieces: list[list[int]], way: str) -> dict[str, torch.Tensor | bool]:
    """Put conversations one after the other in one row, in one of four ways."""
    ids = torch.tensor([[token for piece in pieces for token in piece]])
    again = torch.tensor([[place for piece in pieces for place in range(len(piece))]])  # (1)!
    ways = {
        "positions start again": {"position_ids": again, "use_cache": False},
        "... with a cache": {"position_ids": again, "use_cache": True},  # (2)!
        "... with a mask of ones": {
            "position_ids": again,
            "use_cache": False,
            "attention_mask": torch.ones_like(ids),  # (3)!
        },
        "joined, nothing more": {"use_cache": False},
    }
    return {"input_ids": ids, **ways[way]}


WAYS = (
    "positions start again",
    "... with a cache",
    "... with a mask of ones",
    "joined, nothing more",
)


@torch.no_grad()
def compare(model: PreTrainedModel, pieces: list[list[int]]) -> dict[str, float]:
    """Give the largest difference of logits from separate runs, as a share of the largest logit."""
    alone = [model(torch.tensor([piece], device=model.device)).logits[0] for piece in pieces]
    expected = torch.cat(alone)
    differences = {}
    for way in WAYS:
        inputs = {
            name: value.to(model.device) if torch.is_tensor(value) else value
            for name, value in inputs_of(pieces, way).items()
        }
        difference = (model(**inputs).logits[0] - expected).abs().max()
        differences[way] = (difference / expected.abs().max()).item()  # (4)!
    return differences
    # --8<-- [end:attention]


def measure_attention(model: str, pieces: list[list[int]], tiny: bool) -> dict[str, dict]:
    """Compare in both attention programs of PyTorch and transformers, in fp32."""
    device = "cuda" if torch.cuda.is_available() and not tiny else "cpu"
    results = {}
    for attention in ("sdpa", "eager"):
        with guard.explain("model", model), guard.explain_memory():
            loaded = AutoModelForCausalLM.from_pretrained(
                model, dtype=torch.float32, attn_implementation=attention
            )
            results[attention] = compare(loaded.to(device).eval(), pieces)
    return results


def show_waste(ways: list[dict]) -> str:
    """Show the share of padding of each way."""
    lines = ["rows                          padding"]
    return "\n".join(lines + [f"{way['id']:28} {way['share']:8.1%}" for way in ways])


def show_counts(counts: dict[str, dict[str, int]]) -> str:
    """Show what each strategy did."""
    lines = [f"{'':26}" + "".join(f"{name:>11}" for name in counts)]
    for name in counts[STRATEGIES[0]]:
        numbers = "".join(f"{row[name]:11}" for row in counts.values())
        lines.append(f"{name.replace('_', ' '):26}{numbers}")
    return "\n".join(lines)


def show_attention(results: dict[str, dict[str, float]]) -> str:
    """Show how far the logits of a packed row are from those of separate runs."""
    lines = [f"{'difference / largest logit':28}" + "".join(f"{name:>10}" for name in results)]
    for way in WAYS:
        numbers = "".join(f"{result[way]:10.1e}" for result in results.values())
        lines.append(f"{way:28}{numbers}")
    return "\n".join(lines)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny base, on the processor, offline")
    parser.add_argument("--model", help="folder or name on the Hub")
    parser.add_argument("--data", help="file.jsonl with instruction, context, response")
    parser.add_argument("--length", type=int, help="tokens of a packed row")
    parser.add_argument("--batch-size", type=int, help="rows that are padded together")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", action="store_true", help="refresh packing.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    default = TINY if options.tiny else Settings()
    return choose_settings(default, options)


def main(argv: list[str] | None = None) -> None:
    """Measure padding, count what packing does, and compare attention."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    disable_progress_bars()
    if min(settings.length, settings.batch_size) < 1:
        guard.stop("--length and --batch-size must be above 0", "for instance --length 128")
    with guard.explain("model", settings.model):
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
    template = find_template(tokenizer, settings.model)
    rows = encode(read_chats(settings.data, settings.seed), tokenizer, template)
    if len(rows) < 2:
        guard.stop(f"{len(rows)} conversation: there is nothing to pack", "give more with --data")

    packed = pack(rows, settings.length)
    lengths = [len(ids) for ids in rows["input_ids"]]
    waste = measure_waste(lengths, settings, len(packed["bfd_split"]))
    record.show(show_waste(waste), folder, "padding.txt")
    counts = {name: count(rows, one) for name, one in packed.items()}
    before = f"{len(rows)} conversations, {sum(lengths)} tokens, rows of {settings.length}"
    record.show(f"{before}\n{show_counts(counts)}", folder, "packing.txt")
    attention = measure_attention(settings.model, rows["input_ids"][:3], options.tiny)
    record.show(show_attention(attention), folder, "attention.txt")
    if folder:
        sizes = {"trl": version("trl"), "conversations": len(rows), "tokens": sum(lengths)}
        shown = [way | {"tokens": sum(lengths)} for way in waste]
        results = {"counts": counts, "attention": attention, "padding": shown}
        record.write(folder, record.settings(settings) | sizes | results, "packing.json")


if __name__ == "__main__":
    main()
