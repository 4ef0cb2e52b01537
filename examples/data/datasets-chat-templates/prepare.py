"""From raw rows to data that a model can be trained on: cleaned, split, in the model's template.

Chapter data/datasets-chat-templates of the course. No GPU is needed, whatever the model.

    python examples/data/datasets-chat-templates/prepare.py --tiny       offline, a few seconds
    python examples/data/datasets-chat-templates/prepare.py              Qwen2.5's template, Dolly
    python examples/data/datasets-chat-templates/prepare.py --data mine.jsonl --model MODEL

Rows have the columns instruction, context and response; with a column `topic`, rows of one topic
stay on one side of the split. The result is train.jsonl and validation.jsonl in --output, and
removed.jsonl: what was left out, why, and where it was.
"""

import argparse
import json
import random
import re
import sys
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from datasets import load_dataset
from jinja2 import TemplateError
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser
from common.rows import COLUMNS
from small import path_or_none
from tiny import BASE

HERE = Path(__file__).resolve().parent
RAW = HERE / "raw.jsonl"
CHAT = [  # two turns, short enough to be shown token by token
    {"role": "user", "content": "Rabat ?"},
    {"role": "assistant", "content": "Maroc"},
    {"role": "user", "content": "Oslo ?"},
    {"role": "assistant", "content": "Norvège"},
]


@dataclass(frozen=True)
class Settings:
    """All that a run depends on; the command line changes most of it."""

    model: str = "Qwen/Qwen2.5-0.5B-Instruct"
    data: str = "databricks/databricks-dolly-15k"
    output: Path = Path("output/prepared")
    template: str = ""
    form: str = "conversation"
    languages: str = "ar,fr,en"
    max_tokens: int = 512
    validation: float = 0.1
    seed: int = 42


TINY = Settings(
    model=str(BASE),
    data=str(RAW),
    output=Path("output/prepared-tiny"),
    max_tokens=256,
    validation=0.25,
)


# --8<-- [start:shapes]
def request(row: dict) -> str:
    """Write what is asked; the context belongs to it, or the answer cannot be known."""
    return f"{row['instruction']}\n{row['context']}".strip()  # (1)!


def to_text(row: dict) -> dict:
    """Standard: one text, all of which is learnt. For pretraining, and little else."""
    return {"text": f"{request(row)}\n{row['response']}"}


def to_pair(row: dict) -> dict:
    """Prompt and completion: only the completion is learnt."""
    return {"prompt": f"{request(row)}\n", "completion": row["response"]}  # (2)!


def to_conversation(row: dict) -> dict:
    """Conversation: the model's template decides how it is written."""
    turns = (("user", request(row)), ("assistant", row["response"]))
    return {"messages": [{"role": role, "content": text} for role, text in turns]}  # (3)!


def to_preference(row: dict) -> dict:
    """Preference: two answers to one prompt, the better one first. For DPO."""
    prompt, chosen = to_conversation(row)["messages"]
    rejected = chosen | {"content": row["rejected"]}
    return {"prompt": [prompt], "chosen": [chosen], "rejected": [rejected]}  # (4)!


SHAPES: dict[str, Callable[[dict], dict]] = {
    "text": to_text,
    "pair": to_pair,
    "conversation": to_conversation,
    "preference": to_preference,
}
# --8<-- [end:shapes]


TEMPLATES = {
    "chatml": (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n"
        "{% if message.role == 'assistant' %}"
        "{% generation %}{{ message.content }}<|im_end|>{% endgeneration %}"
        "{% else %}{{ message.content }}<|im_end|>{% endif %}\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    ),
    "plain": (
        "{{ bos_token }}{% for message in messages %}"
        "{% if message.role == 'user' %}### Request\n{{ message.content }}\n\n### Answer\n"
        "{% else %}{% generation %}{{ message.content + eos_token }}{% endgeneration %}"
        "{% endif %}{% endfor %}"
    ),
}


def load_tokenizer(settings: Settings) -> PreTrainedTokenizerBase:
    """Load the tokenizer with the template that is asked for, else its own."""
    with guard.explain("model", settings.model):
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
    if settings.template:
        tokenizer.chat_template = find_template(settings.template)
    if not tokenizer.chat_template:
        guard.stop(
            f"model {settings.model} has no chat template: it is a base model",
            f"choose one with --template: {', '.join(TEMPLATES)}, or a file.jinja",
        )
    return tokenizer


def find_template(name: str) -> str:
    """Give a template by its name here, or from a file."""
    if name in TEMPLATES:
        return TEMPLATES[name]
    if Path(name).suffix == ".jinja" and Path(name).is_file():
        return Path(name).read_text("utf-8")
    guard.stop(f"unknown template '{name}'", f"choose {', '.join(TEMPLATES)}, or a file.jinja")


# --8<-- [start:template]
def take_apart(tokenizer: PreTrainedTokenizerBase) -> dict[str, str | bool]:
    """Show what a template writes around the two texts of a conversation."""
    chat = to_conversation({"instruction": "[1]", "context": "", "response": "[2]"})["messages"]
    try:
        whole = tokenizer.apply_chat_template(chat, tokenize=False)  # (1)!
        asked = tokenizer.apply_chat_template(chat[:1], tokenize=False)
        waiting = tokenizer.apply_chat_template(
            chat[:1],
            tokenize=False,
            add_generation_prompt=True,  # (2)!
        )
    except TemplateError as error:
        guard.stop(f"the chat template fails: {error}", "mend it, or choose another: --template")
    parts = re.split(r"\[1\]|\[2\]", whole)
    if len(parts) != 3:
        guard.stop("the chat template loses a message", "mend it, or choose another: --template")
    return {
        **dict(zip(("before", "between", "after"), parts, strict=True)),
        "generation_prompt": waiting.removeprefix(asked),
        "answers_follow_the_prompt": whole.startswith(waiting),  # (3)!
        "marks_answers": bool(re.search(r"{%-? *generation", tokenizer.chat_template)),  # (4)!
    }
    # --8<-- [end:template]


def count_tokens(tokenizer: PreTrainedTokenizerBase, mark: str) -> int:
    """Count the tokens of a mark: one if the vocabulary has it whole."""
    return len(tokenizer(mark, add_special_tokens=False).input_ids)


def refuse_base(settings: Settings) -> str:
    """Give what is said of a model without a template: this tokenizer, its own taken away."""
    tokenizer = AutoTokenizer.from_pretrained(settings.model)
    tokenizer.chat_template = None
    with TemporaryDirectory() as folder, chdir(folder):
        tokenizer.save_pretrained("my-base")
        try:
            load_tokenizer(replace(settings, model="my-base", template=""))
        except SystemExit as stopped:
            return str(stopped.code)
    raise AssertionError("a tokenizer without a template was taken")


# --8<-- [start:bos]
def count_bos(tokenizer: PreTrainedTokenizerBase, chat: list[dict]) -> dict[str, int]:
    """Count the BOS tokens of a conversation, tokenized in three ways."""
    text = tokenizer.apply_chat_template(chat, tokenize=False)
    ways = {
        "tokenizer(text)": tokenizer(text).input_ids,  # (1)!
        "tokenizer(text, add_special_tokens=False)": tokenizer(
            text, add_special_tokens=False
        ).input_ids,
        "apply_chat_template(chat)": tokenizer.apply_chat_template(chat, return_dict=False),  # (2)!
    }
    return {way: ids.count(tokenizer.bos_token_id) for way, ids in ways.items()}


def add_bos_always(model: str) -> PreTrainedTokenizerBase:
    """Load a tokenizer and make it write BOS before every text, as Llama's and Gemma's do."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    bos = tokenizer.bos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{bos} $A", special_tokens=[(bos, tokenizer.bos_token_id)]
    )
    return tokenizer
    # --8<-- [end:bos]


# --8<-- [start:answers]
def find_answers(tokenizer: PreTrainedTokenizerBase, chat: list[dict]) -> list[tuple[str, int]]:
    """Give each token of a conversation, and 1 where it belongs to an answer."""
    coded = tokenizer.apply_chat_template(
        chat,
        return_dict=True,
        return_assistant_tokens_mask=True,  # (1)!
    )
    tokens = [tokenizer.decode([token]) for token in coded["input_ids"]]
    return list(zip(tokens, coded["assistant_masks"], strict=True))  # (2)!
    # --8<-- [end:answers]


def read_rows(data: str) -> list[dict]:
    """Read every row of a file or of a data set of the Hub, and number it."""
    if Path(data).suffix == ".jsonl":
        rows = guard.read_jsonl(Path(data), COLUMNS)
    else:
        with guard.explain("data", data):
            rows = load_dataset(data, split="train")
        guard.check_columns(data, rows.column_names, COLUMNS)
    return [row | {"number": number} for number, row in enumerate(rows, 1)]


# --8<-- [start:fold]
def fold(text: str) -> str:
    """Reduce a text to what its copies share. To compare texts, never to train on them."""
    text = unicodedata.normalize("NFKD", text.casefold())  # (1)!
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")  # (2)!
    text = text.translate(str.maketrans("ىة", "يه", "ـ"))  # (3)!
    return " ".join(re.findall(r"\w+", text))  # (4)!
    # --8<-- [end:fold]


# --8<-- [start:language]
COMMON = {
    "fr": "le la les un une des du de et est à que qui dans pour elle il ce je tu ton au mon sur",
    "en": "the a an of and is to that in for it its are you your do does what how when by from as",
    "es": "el los una y que en por con para del las al no es se lo su pero como más",
    "de": "der die das und ist nicht ein eine den sie wie zu mit auf bis er warum",
}
WORDS = {language: set(words.split()) for language, words in COMMON.items()}


def guess_language(text: str) -> str | None:
    """Guess by the letters, then by the commonest words; None where both say too little."""
    letters = [c for c in text if c.isalpha()]
    arabic = sum("\u0600" <= c <= "\u06ff" for c in letters)
    if arabic > len(letters) / 2:
        return "ar"
    words = re.findall(r"\w+", text.lower())
    counts = {language: sum(w in known for w in words) for language, known in WORDS.items()}
    best, second = sorted(counts.values(), reverse=True)[:2]
    return max(counts, key=counts.get) if best > second and len(words) > 2 else None  # (1)!
    # --8<-- [end:language]


# --8<-- [start:clean]
@dataclass(frozen=True)
class Removal:
    """A row that is left out: its number in the file, why, and what there is to see."""

    row: int
    reason: str
    detail: str


def clean(
    rows: list[dict], tokenizer: PreTrainedTokenizerBase, settings: Settings
) -> tuple[list[dict], list[Removal]]:
    """Keep the rows with which nothing is wrong; say of each other one what is."""
    kept, removed = [], []
    exact, near = {}, {}  # request and answer, folded request -> the first such row
    for row in rows:
        fault = find_fault(row, tokenizer, settings) or find_copy(row, exact, near)
        if fault:
            removed.append(Removal(row["number"], *fault))
            continue
        kept.append(row)
        exact[request(row), row["response"]] = near[near_key(row)] = row  # (1)!
    return kept, removed


def near_key(row: dict) -> str:
    """Give what near copies share; a request of signs alone folds to nothing and stays itself."""
    return fold(request(row)) or request(row)


def find_fault(
    row: dict, tokenizer: PreTrainedTokenizerBase, settings: Settings
) -> tuple[str, str] | None:
    """Find what is wrong with a row by itself."""
    for column in ("instruction", "response"):
        if not row[column].strip():
            return "empty", f"no {column}"
    asked, answered = guess_language(request(row)), guess_language(row["response"])
    for language in (asked, answered):
        if language and language not in settings.languages.split(","):  # (2)!
            return "language", f"{language} is not wanted"
    if asked and answered and asked != answered:
        return "language", f"asked in {asked}, answered in {answered}"  # (3)!
    ids = tokenizer.apply_chat_template(to_conversation(row)["messages"], return_dict=False)
    if len(ids) > settings.max_tokens:  # (4)!
        return "too long", f"{len(ids)} tokens, {settings.max_tokens} are allowed"
    return None


def find_copy(row: dict, exact: dict, near: dict) -> tuple[str, str] | None:
    """Find an earlier row that is the same, or that asks the same with other marks."""
    if first := exact.get((request(row), row["response"])):
        return "copy", f"of row {first['number']}"
    if first := near.get(near_key(row)):
        same = fold(first["response"]) == fold(row["response"])
        other = "" if same else ", with another answer"  # (5)!
        return "near copy", f"of row {first['number']}{other}"
    return None
    # --8<-- [end:clean]


# --8<-- [start:split]
def topic(row: dict) -> str:
    """What a row is about: rows that share it, be it in two languages, stay together."""
    return row.get("topic") or fold(row["context"] or row["instruction"])  # (1)!


def split(rows: list[dict], share: float) -> tuple[list[dict], list[dict]]:
    """Hold out a share of the topics; the choice depends on nothing but the topic's name."""
    parts = ([], [])
    for row in rows:
        place = zlib.crc32(topic(row).encode()) / 2**32  # (2)!
        parts[place < share].append(row)
    return parts


REWORDINGS = {
    "ar": ("من فضلك: {}", "عندي سؤال. {}"),
    "fr": ("S'il te plaît : {}", "J'ai une question. {}"),
    "en": ("Please: {}", "I have a question. {}"),
}


def augment(rows: list[dict]) -> list[dict]:
    """Add rewordings of each request. After the split, and to the training rows alone."""
    more = []
    for row in rows:
        forms = REWORDINGS.get(guess_language(row["instruction"]) or "", ())
        more += [row | {"instruction": form.format(row["instruction"])} for form in forms]
    return rows + more
    # --8<-- [end:split]


# --8<-- [start:leaks]
def pieces(row: dict) -> set[tuple[str, ...]]:
    """Give the runs of three words of a row, folded."""
    words = fold(f"{request(row)} {row['response']}").split()
    return set(zip(words, words[1:], words[2:], strict=False))


def find_leaks(train: list[dict], held_out: list[dict]) -> dict[str, int]:
    """Count the held-out rows that the training rows give away."""
    index = {}  # run of three words -> training rows that have it
    for number, row in enumerate(train):
        for piece in pieces(row):
            index.setdefault(piece, []).append(number)
    topics, found = set(map(topic, train)), Counter(rows=len(held_out), reworded=0, topic=0)
    for row in held_out:
        mine = pieces(row)
        shared = Counter(number for piece in mine for number in index.get(piece, ()))
        found["reworded"] += max(shared.values(), default=0) > len(mine) / 2  # (1)!
        found["topic"] += topic(row) in topics  # (2)!
    return dict(found)
    # --8<-- [end:leaks]


def split_at_random(rows: list[dict], share: float, seed: int) -> tuple[list[dict], list[dict]]:
    """Shuffle and cut: what one does without a thought, shown for what it does."""
    rows = random.Random(seed).sample(rows, len(rows))
    cut = round(len(rows) * share)
    return rows[cut:], rows[:cut]


def compare_splits(rows: list[dict], settings: Settings) -> list[dict]:
    """Split in three ways and count what leaks."""
    share, seed = settings.validation, settings.seed
    first = split_at_random(augment(rows), share, seed)
    second = split_at_random(rows, share, seed)
    third = split(rows, share)
    ways = {
        "augment, then split at random": first,
        "split at random, then augment": (augment(second[0]), second[1]),
        "split by topic, then augment": (augment(third[0]), third[1]),
    }
    return [{"way": way, **find_leaks(*parts)} for way, parts in ways.items()]


def write_rows(folder: Path, parts: dict[str, list[dict]], form: str) -> None:
    """Write the rows of each part in a shape that TRL's trainers read."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        shaped = rows if name == "removed" else map(SHAPES[form], rows)
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in shaped]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def check(rows: list[dict], settings: Settings) -> None:
    """Refuse a share that is none, a shape that does not exist, or that a row cannot take."""
    if not 0 < settings.validation < 1:
        guard.stop(f"--validation is {settings.validation}", "give a share between 0 and 1")
    if settings.form not in SHAPES:
        guard.stop(f"unknown form '{settings.form}'", f"choose --form {', '.join(SHAPES)}")
    lacking = [row["number"] for row in rows if not row.get("rejected")]
    if settings.form == "preference" and lacking:
        guard.stop(
            f"{Path(settings.data).name}:{lacking[0]}: no text in column 'rejected'",
            f"give these rows a worse answer too: {len(lacking)} lack one",
        )


def show_shapes(row: dict) -> str:
    """Show one row in each shape."""
    forms = [
        f"{name}\n{json.dumps(shape(row), ensure_ascii=False, indent=1)}"
        for name, shape in SHAPES.items()
    ]
    return "\n\n".join(forms)


def show_template(parts: dict[str, dict]) -> str:
    """Show what each template writes, string by string."""
    lines = []
    for model, template in parts.items():
        lines += ["", model, *(f"  {name:26}{value!r}" for name, value in template.items())]
    return "\n".join(lines[1:])


def show_prompts(tokenizer: PreTrainedTokenizerBase, row: dict) -> str:
    """Show a row's conversation, its prompt, and what one must not do."""
    chat = to_conversation(row)["messages"]
    ways = {
        "to train on": (chat, False),
        "to ask": (chat[:1], True),
        "wrong: a whole conversation, and add_generation_prompt=True": (chat, True),
    }
    lines = []
    for title, (messages, prompt) in ways.items():
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=prompt)
        lines += ["", title, text]
    return "\n".join(lines[1:])


def show_bos(counts: dict[str, dict[str, int]]) -> str:
    """Show how often BOS is written."""
    lines = [f"{'':44}{'as it is':>10}{'adds BOS':>10}"]
    first, second = counts.values()
    return "\n".join(lines + [f"{way:44}{first[way]:10}{second[way]:10}" for way in first])


def show_answers(marks: list[tuple[str, int]]) -> str:
    """Show each token, those of answers with a mark."""
    return "\n".join(f"{'learnt' if mark else '':8}{token!r}" for token, mark in marks)


def show_removed(removed: list[Removal], rows: int) -> str:
    """Show what was left out, and how much of it."""
    lines = ["row   reason      what there is to see"]
    lines += [f"{r.row:3}   {r.reason:10}  {r.detail}" for r in removed]
    counts = Counter(r.reason for r in removed)
    total = ", ".join(f"{count} {reason}" for reason, count in counts.items())
    return "\n".join([*lines, f"{rows - len(removed)} of {rows} rows are kept; removed: {total}"])


def show_splits(ways: list[dict]) -> str:
    """Show the leaks of each way to split."""
    lines = ["                                held out   reworded   same topic"]
    for way in ways:
        lines.append(f"{way['way']:30} {way['rows']:9} {way['reworded']:10} {way['topic']:12}")
    return "\n".join(lines)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny tokenizer, own rows, offline")
    parser.add_argument("--model", help="folder or name on the Hub; only its tokenizer is read")
    parser.add_argument("--data", help="file.jsonl, or name on the Hub")
    parser.add_argument("--output", type=Path, help="folder for the prepared rows")
    parser.add_argument("--template", help=f"{', '.join(TEMPLATES)} or file.jinja; not the model's")
    parser.add_argument("--form", help=f"shape of the rows: {', '.join(SHAPES)}")
    parser.add_argument("--languages", help="those to keep, with commas")
    parser.add_argument("--max-tokens", type=int, help="longer conversations are removed")
    parser.add_argument("--validation", type=float, help="share of the topics to hold out")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    default = TINY if options.tiny else Settings()
    return choose_settings(default, options)


def main(argv: list[str] | None = None) -> None:
    """Read, clean, split, augment and write; show each step."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    logging.set_verbosity_error()
    tokenizer = load_tokenizer(settings)
    rows = read_rows(settings.data)
    check(rows, settings)
    facts = look_at_template(settings, tokenizer, rows, folder)
    kept, removed = clean(rows, tokenizer, settings)
    record.show(show_removed(removed, len(rows)), folder, "removed.txt")
    if not kept:
        guard.stop("no row is left", "look at the reasons above: --languages, --max-tokens, --data")
    ways = compare_splits(kept, settings)
    record.show(show_splits(ways), folder, "splits.txt")
    parts = divide(kept, settings)
    write_rows(settings.output, parts | {"removed": map(asdict, removed)}, settings.form)
    counts = {name: len(part) for name, part in parts.items()}
    print(f"{counts['train']} rows to train on, {counts['validation']} held out: {settings.output}")
    if folder:
        facts["rows"] = {"read": len(rows), "kept": len(kept)} | counts
        tables = {"removed": [asdict(r) for r in removed], "splits": ways}
        record.write(folder, record.settings(settings) | facts | tables)


def divide(rows: list[dict], settings: Settings) -> dict[str, list[dict]]:
    """Hold some topics out, and add rewordings to the others."""
    train, held_out = split(rows, settings.validation)
    if not (train and held_out):
        guard.stop(
            f"{len(train)} rows to train on and {len(held_out)} to hold out",
            "both need some: change --validation, or bring more topics",
        )
    return {"train": augment(train), "validation": held_out}


def look_at_template(
    settings: Settings, tokenizer: PreTrainedTokenizerBase, rows: list[dict], folder: Path | None
) -> dict:
    """Show the shapes of a row and what the template makes of it."""
    name = "tiny base" if settings.model == str(BASE) else settings.model
    tokenizers = {name: tokenizer}
    if small := path_or_none():
        tokenizers[small.name] = AutoTokenizer.from_pretrained(small)
    templates = {
        name: take_apart(one) | {"tokens_of_im_start": count_tokens(one, "<|im_start|>")}
        for name, one in tokenizers.items()
    }
    record.show(show_template(templates), folder, "template.txt")
    if folder:
        record.show(refuse_base(settings), folder, "refusal.txt")
    if row := next((row for row in rows if row.get("rejected")), None):
        record.show(show_shapes(row), folder, "shapes.txt")
    row = rows[0]
    record.show(show_prompts(tokenizer, row), folder, "prompts.txt")
    chat = to_conversation(row)["messages"]
    facts = {"templates": templates}
    if tokenizer.bos_token:
        always = add_bos_always(settings.model)
        always.chat_template = tokenizer.chat_template
        facts["bos"] = {
            "as it is": count_bos(tokenizer, chat),
            "adds BOS": count_bos(always, chat),
        }
        record.show(show_bos(facts["bos"]), folder, "bos.txt")
    if templates[name]["marks_answers"]:
        facts["answers"] = find_answers(tokenizer, CHAT)
        record.show(show_answers(facts["answers"]), folder, "answers.txt")
    return facts


if __name__ == "__main__":
    main()
