"""Prompt, retrieve or fine-tune? The same questions put in each way, and what each costs.

Chapter start/choose of the course. Its other program, smoke.py, looks at the machine.

    python examples/start/choose/compare.py --tiny     any computer, no network
    python examples/start/choose/compare.py            the same on a GPU: a free T4, 24 GB, 80 GB

Under a minute for the tiny base, four more for SmolLM2 on a processor.

Both tasks are small on purpose. The form: a travel request to be answered in JSON, with the model
as it is, with three examples in the prompt, and fine-tuned. The facts: opening hours that no model
can know, asked of the model alone, and with the note that a search found. The facts, and the form
a second time, are put to SmolLM2-135M where examples/small/fetch.py has brought it (2 GB of
memory); the tiny base needs 1 GB, and is the one that is fine-tuned.
"""

import argparse
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import make_parser
from common.rows import read
from full.traditional import loop, train
from small import NAME, path_or_none

HERE = Path(__file__).resolve().parent
SHOTS = 3
QUESTIONS = 30  # of the form, for SmolLM2: the first ones in English
NEW_TOKENS = 64
Ask = Callable[[dict], list[dict]]


# --8<-- [start:prompts]
def zero_shot(row: dict) -> list[dict]:
    """Ask without an example, and say what is wanted."""
    keys = "Answer with the JSON only, with the keys to, day, hour, seats."
    request = f"{row['instruction']} {keys}\n{row['context']}"
    return [{"role": "user", "content": request}]


def few_shot(examples: Sequence[dict]) -> Ask:
    """Ask after some solved examples, as a conversation that went before."""
    before = []
    for row in examples:
        before += [*train.ask(row), {"role": "assistant", "content": row["response"]}]  # (1)!
    return lambda row: before + train.ask(row)  # (2)!
    # --8<-- [end:prompts]


def answer(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, chat: list[dict]
) -> tuple[str, int]:
    """Let a model answer a conversation; give the text without special tokens, and tokens read."""
    inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt")
    inputs = inputs.to(model.device)
    output = model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS)
    length = inputs.input_ids.shape[1]
    return tokenizer.decode(output[0, length:], skip_special_tokens=True).strip(), length


def read_json(text: str) -> dict | None:
    """Read an answer as JSON, if that is what it is."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


# --8<-- [start:score]
def score(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict], ask: Ask
) -> dict:
    """Share of answers that are JSON, and that are the right JSON; tokens read for each."""
    answers = [answer(model, tokenizer, ask(row)) for row in rows]
    found = [read_json(text) for text, _ in answers]
    right = [json.loads(row["response"]) for row in rows]
    return {
        "json": sum(one is not None for one in found) / len(rows),
        "right": sum(one == two for one, two in zip(found, right, strict=True)) / len(rows),
        "tokens": sum(length for _, length in answers) / len(rows),  # (1)!
        "first": answers[0][0],
    }
    # --8<-- [end:score]


NOTES = """\
The Sablon library opens at 9:40 on Tuesday and lends at most 6 books.
The Sablon swimming pool opens at 7:15 and a ticket costs 340 francs.
The ferry to Odra leaves pier 12 at 17:25 every day but Monday.
The night bus number 83 goes from Sablon to the airport in 52 minutes.
The Miral museum is closed in March and its cloakroom costs 25 francs.
The town hall of Miral answers the telephone at extension 4417.
The market of Odra is on Thursday and has 130 stalls.
Doctor Kavel sees patients in room 208 until 16:50.""".splitlines()
ASKED = [
    ("When does the library in Sablon open on Tuesday?", "9:40"),
    ("How many books does the Sablon library lend?", "6"),
    ("When does the swimming pool open?", "7:15"),
    ("How much is a ticket of the Sablon pool?", "340"),
    ("From which pier does the ferry to Odra leave?", "12"),
    ("At what time does the ferry to Odra leave?", "17:25"),
    ("What is the number of the night bus to the airport?", "83"),
    ("How many minutes does the night bus take to the airport?", "52"),
    ("In which month is the Miral museum closed?", "March"),
    ("What does the cloakroom of the museum cost?", "25"),
    ("What is the telephone extension of the Miral town hall?", "4417"),
    ("On which day is the market of Odra?", "Thursday"),
    ("How many stalls has the market of Odra?", "130"),
    ("In which room does Doctor Kavel see patients?", "208"),
    ("Until when does Doctor Kavel see patients?", "16:50"),
]


# --8<-- [start:retrieve]
def words(text: str) -> list[str]:
    """Cut a text into words."""
    return re.findall(r"\w+", text.lower())


def retrieve(question: str, notes: Sequence[str]) -> str:
    """Find the note that shares the rarest words with the question."""
    counts = Counter(word for note in notes for word in set(words(note)))  # (1)!

    def worth(note: str) -> float:
        shared = set(words(note)) & set(words(question))
        return sum(math.log(len(notes) / counts[word]) for word in shared)

    return max(notes, key=worth)


def with_note(question: str) -> list[dict]:
    """Put the note that was found before the question."""
    note = retrieve(question, NOTES)
    return [{"role": "user", "content": f"{note}\n{question}"}]  # (2)!
    # --8<-- [end:retrieve]


def alone(question: str) -> list[dict]:
    """Ask without anything."""
    return [{"role": "user", "content": question}]


def holds(text: str, expected: str) -> bool:
    """Whether an answer names what was expected, and not as a part of something else."""
    return re.search(rf"(?<![\d:]){re.escape(expected)}(?!:?\d)", text) is not None


def ask_facts(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """Put the questions in both ways; give the share that is right and what a search found."""
    found = [holds(retrieve(question, NOTES), right) for question, right in ASKED]
    rows = [{"id": "search", "name": "the note found holds it", "right": sum(found) / len(found)}]
    for name, ask in (("alone", alone), ("with-note", with_note)):
        texts = [answer(model, tokenizer, ask(question))[0] for question, _ in ASKED]
        right = [holds(text, each) for text, (_, each) in zip(texts, ASKED, strict=True)]
        share = sum(right) / len(right)
        rows.append({"id": name, "right": share, "first": texts[0].splitlines()[0]})
    return rows


# --8<-- [start:fine-tune]
def fine_tune(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict], epochs: float
) -> int:
    """Fine-tune all weights on the solved requests; give the number of steps."""
    settings = replace(train.TINY, epochs=epochs)
    encoded = train.encode_all(rows, tokenizer, settings.max_tokens)
    losses = list(loop.fit(model, encoded, settings, tokenizer.pad_token_id))  # (1)!
    model.eval()
    return len(losses)
    # --8<-- [end:fine-tune]


def compare_form(epochs: float, device: str) -> list[dict]:
    """Put the requests to the tiny base in three ways, and to SmolLM2 in two."""
    training, held_out = read(train.TINY.data)
    tokenizer, model = train.load(train.TINY)
    model.to(device)
    examples = [row for row in training if row["instruction"].startswith("Extract")][:SHOTS]
    ways = {"zero-shot": zero_shot, "few-shot": few_shot(examples)}
    rows = [
        {"id": f"tiny-{name}", "parameters": model.num_parameters()}
        | score(model, tokenizer, held_out, ask)
        for name, ask in ways.items()
    ]
    steps = fine_tune(model.cpu(), tokenizer, training, epochs)
    tuned = score(model.to(device), tokenizer, held_out, train.ask)
    rows.append({"id": "tiny-fine-tuned", "steps": steps} | tuned)
    if folder := path_or_none():
        tokenizer, model = train.load(replace(train.TINY, model=str(folder)))
        english = [row for row in held_out if row["instruction"].startswith("Extract")][:QUESTIONS]
        for name, ask in ways.items():
            row = score(model.to(device), tokenizer, english, ask)
            rows.append({"id": f"smollm2-{name}", "parameters": model.num_parameters()} | row)
    return rows


def write_form(rows: list[dict]) -> str:
    """Write the table of the form."""
    lines = ["                     JSON   right JSON   tokens read"]
    for row in rows:
        lines.append(f"{row['id']:18}{row['json']:7.0%}{row['right']:13.0%}{row['tokens']:14.0f}")
    for row in rows:
        lines += ["", f"{row['id']}:", f"  {row['first'][:76]!r}"]
    return "\n".join(lines)


def write_facts(rows: list[dict]) -> str:
    """Write the table of the facts."""
    question, expected = ASKED[0]
    lines = [f"{row['id']:12}{row['right']:6.0%} of {len(ASKED)}" for row in rows]
    lines += ["", f"{question} ({expected})"]
    lines += [f"  {row['id']}: {row['first'][:76]!r}" for row in rows if "first" in row]
    return "\n".join(lines)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="on the processor")
    parser.add_argument("--epochs", type=float, default=8)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--record", action="store_true", help="refresh compare.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def main(argv: list[str] | None = None) -> None:
    """Compare the ways for a form, then for facts."""
    options = read_options(argv)
    folder = HERE if options.record else None
    if folder and not path_or_none():
        guard.stop(f"{NAME} is not here: its rows would be lost", "run examples/small/fetch.py")
    guard.hush()
    card = guard.find_card(options.tiny)
    torch.manual_seed(options.seed)
    form = compare_form(options.epochs, card.device)
    record.show(write_form(form), folder, "form.txt")
    facts = []
    if small := path_or_none():
        tokenizer, model = train.load(replace(train.TINY, model=str(small)))
        facts = ask_facts(model.to(card.device), tokenizer)
        record.show(write_facts(facts), folder, "facts.txt")
    else:
        print(f"facts: {NAME} is not here; python examples/small/fetch.py brings it")
    if folder:
        for row in (*form, *facts):
            row["percent"] = 100 * row["right"]
        record.write(folder, {"seed": options.seed, "form": form, "facts": facts}, "compare.json")


if __name__ == "__main__":
    main()
