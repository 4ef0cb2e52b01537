"""Which tokens does the model learn? Labels made visible: four wrong set-ups, three right ones.

Chapter data/loss-masking-packing of the course. No GPU is needed.

    python examples/data/loss-masking-packing/masks.py --tiny    offline, half a minute
    python examples/data/loss-masking-packing/masks.py           with Qwen2.5's template
    python examples/data/loss-masking-packing/masks.py --model MODEL --data mine.jsonl --row 3

Only a tokenizer is read, except with --tiny: there each set-up also trains the tiny base for some
seconds, and one sees which of them learns to stop.
"""

import argparse
import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser

# isort: split
import torch
from datasets import Dataset, disable_progress_bars
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    DataCollatorForSeq2Seq,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)
from transformers.utils import logging
from trl import SFTConfig, SFTTrainer
from trl.chat_template_utils import get_training_chat_template

from common.rows import COLUMNS
from tiny import BASE, facts

HERE = Path(__file__).resolve().parent
CAPITALS = "capitals"
STEPS, BATCH, LEARNING_RATE, LONGEST = 30, 16, 5e-4, 24
WRONG = ("pad=eos", "no eos", "all learnt", "cut")
Row = dict[str, list[int]]  # input_ids and labels


@dataclass(frozen=True)
class Settings:
    """All that a run depends on; the command line changes most of it."""

    model: str = "Qwen/Qwen2.5-0.5B-Instruct"
    data: str = CAPITALS
    row: int = 1
    max_tokens: int = 40
    seed: int = 42


TINY = Settings(model=str(BASE), row=51, max_tokens=13)  # every row is longer than that


def read_rows(data: str) -> list[dict]:
    """Read the rows of a file, or make some from the capitals that the tiny base knows."""
    if data != CAPITALS:
        return guard.read_jsonl(Path(data), COLUMNS)
    return [
        {
            "instruction": fact["question"],
            "context": "",
            "response": f"{fact['prompt']} {fact['answer']}.",
        }
        for fact in facts()
    ]


def conversation(row: dict) -> list[dict]:
    """Write a row as a question and its answer."""
    asked = f"{row['instruction']}\n{row['context']}".strip()
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": row["response"]}]


# --8<-- [start:wrong]
def pad_is_eos(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Wrong: EOS is there, but the collator masks every token that is equal to the padding."""
    return collate_as_text(whole(chat, tokenizer), with_pad(tokenizer, tokenizer.eos_token))  # (1)!


def no_eos(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Wrong: the text ends where the answer does, and nothing says so."""
    return collate_as_text(whole(chat, tokenizer)[:-1], with_pad(tokenizer))  # (2)!


def all_learnt(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Wrong where only the answer matters: the question is learnt as well."""
    return collate_as_text(whole(chat, tokenizer), with_pad(tokenizer))  # (3)!


def cut(chat: list[dict], tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> Row:
    """Wrong: what is too long is cut, and EOS is the first to go."""
    row = masked(chat, tokenizer)
    return {name: values[:max_tokens] for name, values in row.items()}  # (4)!


def collate_as_text(ids: list[int], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Let transformers' collator for plain text make the labels."""
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)  # (5)!
    return {"input_ids": ids, "labels": collator([{"input_ids": ids}])["labels"][0].tolist()}
    # --8<-- [end:wrong]


# --8<-- [start:right]
def masked(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Right, by hand: the prompt is masked, the answer and its end are learnt."""
    ids = whole(chat, tokenizer)
    prompt = tokenizer.apply_chat_template(chat[:-1], add_generation_prompt=True, return_dict=False)
    return {"input_ids": ids, "labels": [-100] * len(prompt) + ids[len(prompt) :]}  # (1)!


def trl_pairs(chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase) -> list[Row]:
    """Right, by TRL: prompt and completion, so that the completion alone is learnt."""
    rows = [{"prompt": chat[:-1], "completion": chat[-1:]} for chat in chats]  # (2)!
    return prepare(rows, tokenizer)


def trl_answers(chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase) -> list[Row]:
    """Right, by TRL: conversations, in which every answer is learnt."""
    rows = [{"messages": chat} for chat in chats]
    return prepare(rows, tokenizer, assistant_only_loss=True)  # (3)!


def prepare(rows: list[dict], tokenizer: PreTrainedTokenizerBase, **choices) -> list[Row]:
    """Let SFTTrainer prepare rows, and take them out of it."""
    with TemporaryDirectory() as folder:
        fixed = {"use_cpu": True, "bf16": False, "activation_checkpointing": False}
        args = SFTConfig(folder, **fixed, **({"max_length": None} | choices))
        trainer = SFTTrainer(
            model=placeholder(tokenizer),  # (4)!
            args=args,
            train_dataset=Dataset.from_list(rows),
            processing_class=with_pad(tokenizer),
        )
    return [{name: row[name] for name in ("input_ids", "labels")} for row in trainer.train_dataset]
    # --8<-- [end:right]


def placeholder(tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """Make the smallest model there is, for what wants one but does not use it."""
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 1, "tie_word_embeddings": True}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes, **heads))


def whole(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Give the ids of a conversation, up to the token that ends its last answer."""
    ids = tokenizer.apply_chat_template(chat, return_dict=False)
    while ids[-1] not in tokenizer.all_special_ids:  # a line end, in ChatML
        ids = ids[:-1]
    return ids


def with_pad(tokenizer: PreTrainedTokenizerBase, pad: str = "") -> PreTrainedTokenizerBase:
    """Copy a tokenizer with this padding; without a wish, with one that is not EOS."""
    other = copy.deepcopy(tokenizer)
    unlike = [token for token in tokenizer.all_special_tokens if token != tokenizer.eos_token]
    keep = tokenizer.pad_token if tokenizer.pad_token != tokenizer.eos_token else None
    other.pad_token = pad or keep or unlike[-1]
    return other


def load_tokenizer(model: str) -> PreTrainedTokenizerBase:
    """Load a tokenizer whose template can be trained with; EOS is what ends an answer in it."""
    with guard.explain("model", model):
        tokenizer = AutoTokenizer.from_pretrained(model)
    if not tokenizer.chat_template:
        guard.stop(f"model {model} has no chat template", "name an instruct model with --model")
    try:
        get_training_chat_template(tokenizer)
    except ValueError:
        guard.stop(
            f"the chat template of {model} does not mark answers, and TRL has none that does",
            "put {% generation %} and {% endgeneration %} around the answer and its end",
        )
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
    tokenizer.eos_token_id = whole(chat, tokenizer)[-1]
    return tokenizer


# --8<-- [start:setups]
def make_setups(
    chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase, max_tokens: int
) -> dict[str, list[Row]]:
    """Encode the same conversations in each of the seven ways."""

    def each(encode: Callable[..., Row], *more: int) -> list[Row]:
        return [encode(chat, tokenizer, *more) for chat in chats]

    return {
        "pad=eos": each(pad_is_eos),
        "no eos": each(no_eos),
        "all learnt": each(all_learnt),
        "cut": each(cut, max_tokens),
        "masked": each(masked),
        "TRL pairs": trl_pairs(chats, tokenizer),
        "TRL answers": trl_answers(chats, tokenizer),
    }


def judge(rows: list[Row], chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase) -> dict:
    """Count, over all rows, what is learnt: of the prompt, of the answer, of its end."""
    counts = {"prompt": 0, "answer": 0, "end": 0}
    for row, chat in zip(rows, chats, strict=True):
        right = masked(chat, tokenizer)["labels"]
        for place, label in enumerate(row["labels"][: len(right)]):  # (1)!
            if label != -100:
                last = place == len(right) - 1
                counts["prompt" if right[place] == -100 else "end" if last else "answer"] += 1
    wanted = sum(label != -100 for chat in chats for label in masked(chat, tokenizer)["labels"])
    return {
        **counts,
        "rows": len(rows),
        "right": counts["prompt"] == 0 and counts["answer"] + counts["end"] == wanted,  # (2)!
    }
    # --8<-- [end:setups]


# --8<-- [start:effect]
def train_briefly(
    rows: list[Row], tokenizer: PreTrainedTokenizerBase, seed: int
) -> tuple[PreTrainedModel, float]:
    """Train the tiny base on rows for some steps; give it and its last loss."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    collator = DataCollatorForSeq2Seq(tokenizer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for _ in range(STEPS):
        chosen = torch.randperm(len(rows))[:BATCH].tolist()  # (1)!
        loss = model(**collator([rows[i] for i in chosen])).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model, loss.item()


@torch.no_grad()
def answer(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, chats: list, side: str = "left"
) -> list[str]:
    """Answer the questions in at most LONGEST tokens; EOS stays visible, padding does not."""
    prompts = [chat[:-1] for chat in chats]
    asked = tokenizer.apply_chat_template(
        prompts,
        add_generation_prompt=True,
        padding=True,
        return_dict=True,
        return_tensors="pt",
        tokenizer_kwargs={"padding_side": side},  # (2)!
    )
    told = model.eval().generate(**asked, do_sample=False, max_new_tokens=LONGEST)
    texts = tokenizer.batch_decode(told[:, asked["input_ids"].shape[1] :])
    return [text.replace(tokenizer.pad_token, "") for text in texts]
    # --8<-- [end:effect]


# --8<-- [start:sides]
def compare_sides(chats: list[list[dict]], tokenizer: PreTrainedTokenizerBase) -> dict[str, int]:
    """Count the questions that get the same answer in a batch, padded on one side, as alone."""
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    alone = [answer(model, tokenizer, [chat])[0] for chat in chats]  # (1)!
    same = {"asked": len(chats)}
    for side in ("left", "right"):
        together = answer(model, tokenizer, chats, side)  # (2)!
        same[side] = sum(map(str.__eq__, together, alone))
    return same
    # --8<-- [end:sides]


# --8<-- [start:nothing]
def train_on_nothing(nan_filter: bool) -> dict:
    """Train with Trainer where every label is -100; give what it logs and what changes."""
    model = AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    before = [parameter.clone() for parameter in model.parameters()]
    row = {"input_ids": [5, 6, 7, 8], "labels": [-100] * 4}
    with TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder,
            max_steps=2,
            logging_steps=1,
            logging_nan_inf_filter=nan_filter,  # (1)!
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
        )
        trainer = Trainer(model, args, train_dataset=[row] * 4)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    log = trainer.state.log_history[0]
    same = all(map(torch.equal, before, model.parameters()))  # (2)!
    return {"loss": log["loss"], "grad_norm": log["grad_norm"], "changed": not same}
    # --8<-- [end:nothing]


def measure_effects(
    setups: dict[str, list[Row]],
    chats: list[list[dict]],
    tokenizer: PreTrainedTokenizerBase,
    seed: int,
) -> list[dict]:
    """Train with each set-up on three capitals of four, and ask for the fourth.

    So few steps teach where an answer ends, not what is in it: `right` stays low.
    """
    end = tokenizer.eos_token
    asked = held_out(chats)
    learnt = [number for number in range(len(chats)) if number not in asked]
    results = []
    for name in (*WRONG, "masked"):
        model, loss = train_briefly([setups[name][i] for i in learnt], tokenizer, seed)
        answers = answer(model, tokenizer, [chats[i] for i in asked])
        ended = sum(text.endswith(f".{end}") and text.count(".") == 1 for text in answers)
        expected = [chats[i][-1]["content"] + end for i in asked]
        right = sum(map(str.__eq__, answers, expected))
        sizes = {"asked": len(asked), "ended": ended, "right": right, "loss": loss}
        results.append({"setup": name, **sizes, "answers": answers[:3]})
    return results


def held_out(chats: list[list[dict]]) -> list[int]:
    """Choose one capital of four, in its three languages, to ask for and not to learn."""
    return [number for number in range(len(chats)) if number // 3 % 4 == 0]


def show_labels(row: int, setups: dict[str, list[Row]], tokenizer: PreTrainedTokenizerBase) -> str:
    """Show one row token by token: `#` is learnt, `.` is masked, nothing is not there."""
    names = list(setups)
    longest = max((rows[row]["input_ids"] for rows in setups.values()), key=len)
    lines = [" ".join([f"{'token':18}", *names])]
    for place, token in enumerate(longest):
        marks = [mark(rows[row], place).center(len(name)) for name, rows in setups.items()]
        lines.append(" ".join([f"{tokenizer.decode([token])!r:18}", *marks]).rstrip())
    return "\n".join(lines)


def mark(row: Row, place: int) -> str:
    """Give the mark of a place in a row."""
    if place >= len(row["labels"]):
        return " "
    return "." if row["labels"][place] == -100 else "#"


def picture(
    setups: dict[str, list[Row]], languages: list[str], tokenizer: PreTrainedTokenizerBase
) -> list[dict]:
    """Describe the rows of each set-up, one in each language, for a figure."""
    return [
        {"id": name, "language": language, "tokens": list_tokens(row, tokenizer)}
        for name, rows in setups.items()
        for language, row in zip(languages, rows, strict=True)
    ]


def list_tokens(row: Row, tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """Describe a row token by token."""
    special = set(tokenizer.all_special_ids)
    return [
        {"id": i, "token": tokenizer.decode([i]), "special": i in special, "label": label}
        for i, label in zip(row["input_ids"], row["labels"], strict=True)
    ]


def show_counts(counts: dict[str, dict]) -> str:
    """Show how many tokens each set-up learns."""
    lines = ["learnt        of prompts   of answers   their ends   rows"]
    for name, row in counts.items():
        line = f"{name:12} {row['prompt']:11} {row['answer']:12} {row['end']:12} {row['rows']:6}"
        lines.append(f"{line}   {'right' if row['right'] else 'wrong'}")
    return "\n".join(lines)


def show_effects(effects: list[dict]) -> str:
    """Show what each set-up has taught, and the first answers with it."""
    lines = ["set-up         loss   end in time   right"]
    for row in effects:
        ended = f"{row['ended']} of {row['asked']}"
        lines.append(f"{row['setup']:12} {row['loss']:.4f} {ended:>13} {row['right']:7}")
    lines += ["", f"the first answers, after {STEPS} steps"]
    for row in effects:
        lines += [row["setup"], *(f"  {text}" for text in row["answers"])]
    return "\n".join(lines)


def show_nothing(results: list[dict]) -> str:
    """Show the log of a training in which every label is masked."""
    lines = ["NaN filter   loss   grad_norm   weights"]
    for row in results:
        changed = "changed" if row["changed"] else "as before"
        filtered = "on" if row["nan_filter"] else "off"
        lines.append(f"{filtered:10} {row['loss']:>6} {row['grad_norm']:>11}   {changed}")
    return "\n".join(lines)


def show_sides(same: dict[str, int]) -> str:
    """Show on which side padding leaves the answers as they are."""
    lines = ["padding   answered as when alone"]
    for side in ("left", "right"):
        lines.append(f"{side:8} {same[side]:15} of {same['asked']}")
    return "\n".join(lines)


def look_at_nothing() -> list[dict]:
    """Train on nothing with Trainer's filter of NaN and without; numbers as they are printed."""
    results = []
    for nan_filter in (True, False):
        log = train_on_nothing(nan_filter)
        texts = {name: str(log[name]) for name in ("loss", "grad_norm")}  # JSON has no NaN
        results.append({"nan_filter": nan_filter, **texts, "changed": log["changed"]})
    return results


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny base, offline; trains it too")
    parser.add_argument("--model", help="folder or name on the Hub; only its tokenizer is read")
    parser.add_argument("--data", help="file.jsonl with instruction, context, response")
    parser.add_argument("--row", type=int, help="row to show, from 1")
    parser.add_argument("--max-tokens", type=int, help="where the set-up `cut` cuts")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    default = TINY if options.tiny else Settings()
    return choose_settings(default, options)


def check(
    settings: Settings,
    setups: dict[str, list[Row]],
    counts: dict,
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    """Refuse a row that is not there, and rows of which nothing is learnt."""
    guard.check_labels(setups["masked"], tokenizer.eos_token_id)
    if counts["cut"]["answer"] + counts["cut"]["end"] == 0:
        guard.stop(
            f"every label is masked when rows are cut at {settings.max_tokens} tokens",
            "raise --max-tokens: the prompts alone are as long",
        )


def main(argv: list[str] | None = None) -> None:
    """Show the labels of each set-up; with the tiny base, also what they teach."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    quiet()
    tokenizer = load_tokenizer(settings.model)
    chats = [conversation(row) for row in read_rows(settings.data)]
    if not 1 <= settings.row <= len(chats):
        guard.stop(f"there is no row {settings.row}", f"choose --row from 1 to {len(chats)}")
    setups = make_setups(chats, tokenizer, settings.max_tokens)
    counts = {name: judge(rows, chats, tokenizer) for name, rows in setups.items()}
    check(settings, setups, counts, tokenizer)

    row, shown = settings.row - 1, {name: setups[name] for name in (*WRONG, "masked")}
    record.show(show_labels(row, shown, tokenizer), folder, "labels.txt")
    record.show(show_counts(counts), folder, "counts.txt")
    known = facts() if settings.data == CAPITALS else []  # a capital has a row in each language
    places = range(row - row % 3, row - row % 3 + 3) if known else [row]
    both = [chats[place] + chats[(place + 3) % len(chats)] for place in places]
    turns = {"TRL pairs": trl_pairs(both, tokenizer), "TRL answers": trl_answers(both, tokenizer)}
    record.show(show_labels(row - places[0], turns, tokenizer), folder, "turns.txt")
    results = {}
    if options.tiny and settings.data == CAPITALS:
        results = see_what_is_taught(settings, setups, chats, tokenizer, folder)
    if folder:
        languages = [known[place]["language"] if known else "" for place in places]
        each = {name: [rows[place] for place in places] for name, rows in shown.items()}
        tokens = picture(each, languages, tokenizer)
        tokens = [one | {"right": counts[one["id"]]["right"]} for one in tokens]
        turned = picture(turns, languages, tokenizer)
        made = {"trl": version("trl"), "counts": counts, "tokens": tokens, "turns": turned}
        record.write(folder, record.settings(settings) | made | results)


def quiet() -> None:
    """Leave the screen to the tables."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    disable_progress_bars()


def see_what_is_taught(
    settings: Settings,
    setups: dict[str, list[Row]],
    chats: list[list[dict]],
    tokenizer: PreTrainedTokenizerBase,
    folder: Path | None,
) -> dict:
    """Train the tiny base with each set-up, and on nothing at all."""
    effects = measure_effects(setups, chats, tokenizer, settings.seed)
    record.show(show_effects(effects), folder, "effects.txt")
    nothing = look_at_nothing()
    record.show(show_nothing(nothing), folder, "nothing.txt")
    sides = compare_sides([chats[i] for i in held_out(chats)], tokenizer)
    record.show(show_sides(sides), folder, "sides.txt")
    rows = [{"prompt": chat[:-1], "completion": chat[-1:]} for chat in chats]
    left = len(prepare(rows, tokenizer, max_length=settings.max_tokens))
    kept = {"max_length": settings.max_tokens, "rows": len(rows), "left": left}
    line = f"TRL, max_length={kept['max_length']}: {left} of {len(rows)} rows are left"
    record.show(line, folder, "dropped.txt")
    return {"effects": effects, "nothing": nothing, "sides": sides, "dropped": kept}


if __name__ == "__main__":
    main()
