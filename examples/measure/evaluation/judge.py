"""A judge that can be looked into: what order and length do to its verdicts.

Chapter measure/evaluation of the course. Offline, on the processor:

    python examples/measure/evaluation/judge.py --tiny

The judge is the tiny base. It reads a question and two answers, one after the other, and prefers
the one that surprises it less. That is a caricature of a large model that is asked «which is
better?»: it has no opinion, and so shows the two habits alone. No score of it means anything.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser

# isort: split
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from measure.evaluation import intervals
from tiny import BASE, facts

HERE = Path(__file__).resolve().parent


# --8<-- [start:judge]
@torch.no_grad()
def surprise(model, tokenizer, before: str, answer: str) -> tuple[float, int]:
    """Give how unlikely an answer is after a text (in nats), and its tokens."""
    asked, told = (tokenizer(t, add_special_tokens=False).input_ids for t in (before, answer))
    logits = model(torch.tensor([asked + told])).logits[0, len(asked) - 1 : -1]
    chances = logits.log_softmax(-1).gather(1, torch.tensor(told)[:, None])
    return -chances.sum().item(), len(told)


def prefers_first(model, tokenizer, question: str, first: str, second: str) -> bool:
    """Read both answers in this order, and prefer the one that surprises less, a token."""
    before = f"<s><|user|>{question}<|assistant|>"
    one, tokens = surprise(model, tokenizer, before, first)
    other, others = surprise(model, tokenizer, f"{before}{first}\n", second)  # (1)!
    return one / tokens < other / others
    # --8<-- [end:judge]


# --8<-- [start:swap]
def judge_twice(model, tokenizer, pairs: list[tuple[str, str, str]]) -> dict[str, int]:
    """Ask about each pair in both orders; count verdicts that keep to an answer or to a place."""
    counts = {"pairs": len(pairs), "first_twice": 0, "second_twice": 0, "kept": 0, "kept_right": 0}
    for question, right, wrong in pairs:
        straight = prefers_first(model, tokenizer, question, right, wrong)
        swapped = prefers_first(model, tokenizer, question, wrong, right)
        counts["first_twice"] += straight and swapped  # (1)!
        counts["second_twice"] += not straight and not swapped
        counts["kept"] += straight != swapped  # (2)!
        counts["kept_right"] += straight and not swapped
    return counts
    # --8<-- [end:swap]


# --8<-- [start:length]
def compare_lengths(model, tokenizer, sentences: list[str]) -> dict[str, int]:
    """Judge a right sentence said once and said twice: by the sum, and by the mean of tokens."""
    counts = {"pairs": len(sentences), "twice_by_sum": 0, "twice_by_mean": 0}
    for sentence in sentences:
        once, tokens = surprise(model, tokenizer, "<s>", sentence)
        twice, more = surprise(model, tokenizer, "<s>", f"{sentence} {sentence}")
        counts["twice_by_sum"] += twice < once  # (1)!
        counts["twice_by_mean"] += twice / more < once / tokens  # (2)!
    return counts
    # --8<-- [end:length]


def make_pairs(seed: int) -> tuple[list, list]:
    """Make pairs of a right and a wrong capital, and right sentences."""
    draw, order, length = random.Random(seed), [], []
    rows = facts()
    for fact in rows:
        others = [one["answer"] for one in rows if one["language"] == fact["language"]]
        wrong = draw.choice([one for one in others if one != fact["answer"]])
        order.append((fact["question"], fact["answer"], wrong))
        length.append(f"{fact['prompt']} {fact['answer']}.")
    return order, length


def show(order: dict[str, int], length: dict[str, int]) -> str:
    """Show both counts, with their intervals."""

    def line(text: str, count: int, rows: int) -> str:
        low, high = intervals.wilson(count, rows)
        return f"  {text:38}{count:4}   {count / rows:6.1%}   95 %: {low:.1%} to {high:.1%}"

    flipped, rows = order["first_twice"] + order["second_twice"], order["pairs"]
    return "\n".join(
        [
            f"{rows} pairs, each judged in both orders",
            line("the verdict flips with the order", flipped, rows),
            line("  the first place wins twice", order["first_twice"], rows),
            line("  the second place wins twice", order["second_twice"], rows),
            line("the same answer wins twice", order["kept"], rows),
            line("  and it is the right one", order["kept_right"], rows),
            f"{length['pairs']} right sentences, said once and said twice",
            line("said twice wins, by the sum", length["twice_by_sum"], length["pairs"]),
            line("said twice wins, by the mean", length["twice_by_mean"], length["pairs"]),
        ]
    )


def main(argv: list[str] | None = None) -> None:
    """Judge the pairs, and show what the verdicts depend on."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="the only way: the judge is a toy")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh judge.json and outputs/")
    options = guard.check_options(parser.parse_args(argv))
    if not options.tiny:
        guard.stop("the judge is a toy, of the tiny base alone", "add --tiny")
    guard.hush()
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32).eval()
    pairs, lengths = make_pairs(options.seed)
    order = judge_twice(model, tokenizer, pairs)
    length = compare_lengths(model, tokenizer, lengths)
    folder = HERE if options.record else None
    record.show(show(order, length), folder, "judge.txt")
    if folder:
        record.write(HERE, {"order": order, "length": length}, "judge.json")


if __name__ == "__main__":
    main()
