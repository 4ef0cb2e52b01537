"""What the runs of the laboratory share: the tiny base, rows about capitals, a short training."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

from tiny import BASE, facts

STEPS, BATCH, RATE, SEED = 30, 16, 5e-4, 42
Row = dict[str, list[int]]


@dataclass(frozen=True)
class Seen:
    """What a reader sees of a run, and what the test of its cause answers."""

    test: object
    log: list[dict] = field(default_factory=list)  # step, loss, grad_norm
    lines: list[str] = field(default_factory=list)  # answers, messages, tables
    curve: list[dict] = field(default_factory=list)  # x and y, where it is not the log's loss
    facts: dict = field(default_factory=dict)  # other numbers, for the record


@dataclass(frozen=True)
class Case:
    """A fault: the run that shows it, its few wrong lines, the same lines right, and a test."""

    run: Callable[[Callable], Seen]
    broken: Callable
    cured: Callable
    test: Callable

    def command(self) -> str:
        """Give the test as one line of Python: what its function returns."""
        source = inspect.getsource(self.test).split("return ", 1)[1]
        source = re.sub(r"\s*#.*", "", source)
        return re.sub(r"(?<=[(\[])\s+|,?\s+(?=[)\]])", "", re.sub(r"\s+", " ", source)).strip()

    def difference(self) -> list[str]:
        """Give the cure as the lines that go (-) and come (+), among those that stay."""
        lines = difflib.ndiff(code_lines(self.broken), code_lines(self.cured))
        return [line for line in lines if not line.startswith("?")]


def code_lines(function: Callable) -> list[str]:
    """Give the lines of a function without its first line and its docstring."""
    lines = inspect.getsource(function).splitlines()
    start = next(i for i, line in enumerate(lines) if '"""' in line) + 1
    return [line[4:] for line in lines[start:] if not line.strip().startswith("# --8<--")]


def load_base(
    dtype: torch.dtype = torch.float32,
) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the tiny base and its tokenizer; draw the same shuffles each time."""
    torch.manual_seed(SEED)
    tokenizer = AutoTokenizer.from_pretrained(BASE)
    return tokenizer, AutoModelForCausalLM.from_pretrained(BASE, dtype=dtype)


def chats() -> tuple[list[list[dict]], list[list[dict]]]:
    """Write the capitals as questions and answers; every fourth country is held out."""
    parts = ([], [])
    for number, fact in enumerate(facts()):
        told = f"{fact['prompt']} {fact['answer']}."
        turns = (("user", fact["question"]), ("assistant", told))
        chat = [{"role": role, "content": text} for role, text in turns]
        parts[number // 3 % 4 == 0].append(chat)
    return parts


def encode(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> Row:
    """Turn a conversation into ids and labels: the answer and its end are learnt."""
    ids = tokenizer.apply_chat_template(chat, return_dict=False)
    asked = tokenizer.apply_chat_template(chat[:-1], add_generation_prompt=True, return_dict=False)
    return {"input_ids": ids, "labels": [-100] * len(asked) + ids[len(asked) :]}


def ask(chat: list[dict], tokenizer: PreTrainedTokenizerBase) -> str:
    """Write the question of a conversation as it was written in training."""
    return tokenizer.apply_chat_template(chat[:1], tokenize=False, add_generation_prompt=True)


def draw_batches(rows: list[Row], collate: Callable, steps: int = STEPS) -> Iterator[dict]:
    """Draw batches, always the same ones."""
    chance = torch.Generator().manual_seed(SEED)
    for _ in range(steps):
        chosen = torch.randperm(len(rows), generator=chance)[:BATCH].tolist()
        yield collate([rows[i] for i in chosen])


def train(
    model: PreTrainedModel, batches: Iterable[dict], optimizer: torch.optim.Optimizer | None = None
) -> list[dict]:
    """Train on each batch in turn; give the log that a reader sees."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=RATE)
    log = []
    for step, batch in enumerate(batches, 1):
        loss = model(**batch).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        log.append({"step": step, "loss": loss.item(), "grad_norm": norm.item()})
    return log


def train_with_trainer(
    model: PreTrainedModel,
    rows: list[Row],
    tokenizer: PreTrainedTokenizerBase,
    steps: int,
    loss: Callable | None = None,
) -> list[dict]:
    """Train with Trainer as it comes, and give the log that it shows."""
    with TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder,
            max_steps=steps,
            learning_rate=RATE,
            per_device_train_batch_size=BATCH,
            logging_steps=1,
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
            seed=SEED,
        )
        collator = DataCollatorForSeq2Seq(tokenizer)
        trainer = Trainer(
            model, args, train_dataset=rows, data_collator=collator, compute_loss_func=loss
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return [
        {key: float(entry[key]) for key in ("step", "loss", "grad_norm")}
        for entry in trainer.state.log_history
        if "loss" in entry
    ]


@torch.no_grad()
def held_out_loss(model: PreTrainedModel, rows: list[Row], tokenizer) -> float:
    """Give the mean loss of rows, each token counted once."""
    batch = DataCollatorForSeq2Seq(tokenizer)(rows)
    training, _ = model.training, model.eval()
    loss = model(**batch).loss.item()
    model.train(training)
    return loss


@torch.no_grad()
def go_on(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """Let a model go on with a text for at most 24 tokens; its end stays visible."""
    asked = tokenizer(text, add_special_tokens=False, return_tensors="pt")
    told = model.eval().generate(
        **asked, do_sample=False, max_new_tokens=24, pad_token_id=tokenizer.pad_token_id
    )
    return tokenizer.decode(told[0, asked.input_ids.shape[1] :])
