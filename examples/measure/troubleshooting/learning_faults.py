"""Five faults of what a run learns; each is a few wrong lines, a run, a test and a cure."""

import math

import torch
from torch.nn.functional import cross_entropy
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorForSeq2Seq,
)

from measure.troubleshooting.short_runs import (
    Case,
    Seen,
    ask,
    chats,
    draw_batches,
    encode,
    go_on,
    held_out_loss,
    load_base,
    train,
    train_with_trainer,
)
from peft import LoraConfig, get_peft_model

CUT = 50  # the row whose answer is missing: it comes in the fifth batch


# --8<-- [start:broken-never-stops]
def pad_broken(tokenizer):
    """Choose the padding, and who makes the labels."""
    tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)
    # --8<-- [end:broken-never-stops]


# --8<-- [start:cure-never-stops]
def pad_cured(tokenizer):
    """Choose the padding, and who makes the labels."""
    tokenizer.pad_token = "<pad>"
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)
    # --8<-- [end:cure-never-stops]


# --8<-- [start:test-never-stops]
def ends_learnt(batch, tokenizer) -> int:
    """Count the ends of answers that are learnt in a batch."""
    return (batch["labels"] == tokenizer.eos_token_id).sum().item()
    # --8<-- [end:test-never-stops]


def never_stops(choose_padding) -> Seen:
    """Train on questions and answers that end with EOS, then ask."""
    tokenizer, model = load_base()
    learnt, _ = chats()
    collate = choose_padding(tokenizer)
    rows = [
        {"input_ids": tokenizer.apply_chat_template(chat, return_dict=False)} for chat in learnt
    ]
    batches = list(draw_batches(rows, collate))
    log = train(model, batches)
    answers = [go_on(model, tokenizer, ask(chat, tokenizer)) for chat in learnt[:3]]
    stopped = sum(answer.endswith("</s>") for answer in answers)
    facts_ = {"stopped": stopped, "asked": len(answers)}
    return Seen(ends_learnt(batches[0], tokenizer), log, answers, facts=facts_)


# --8<-- [start:broken-loss-zero]
def label_broken(ids, tokenizer):
    """Learn what follows the mark of an answer."""
    mark = tokenizer("### Answer\n", add_special_tokens=False).input_ids
    start = end_of(mark, ids)
    return [-100] * start + ids[start:]
    # --8<-- [end:broken-loss-zero]


# --8<-- [start:cure-loss-zero]
def label_cured(ids, tokenizer):
    """Learn what follows the mark of an answer."""
    mark = tokenizer("<|assistant|>", add_special_tokens=False).input_ids
    start = end_of(mark, ids)
    return [-100] * start + ids[start:]
    # --8<-- [end:cure-loss-zero]


# --8<-- [start:test-loss-zero]
def labels_learnt(rows) -> int:
    """Count the labels that are learnt."""
    return sum(label != -100 for row in rows for label in row["labels"])
    # --8<-- [end:test-loss-zero]


def end_of(mark: list[int], ids: list[int]) -> int:
    """Find where a mark ends; one that is not there ends with the row, as in many collators."""
    for start in range(len(ids) - len(mark)):
        if ids[start : start + len(mark)] == mark:
            return start + len(mark)
    return len(ids)


def loss_zero(label) -> Seen:
    """Train with Trainer on rows whose prompts are masked."""
    tokenizer, model = load_base()
    rows = []
    for chat in chats()[0]:
        ids = tokenizer.apply_chat_template(chat, return_dict=False)
        rows.append({"input_ids": ids, "labels": label(ids, tokenizer)})
    log = train_with_trainer(model, rows, tokenizer, steps=8)
    return Seen(labels_learnt(rows), log)


# --8<-- [start:broken-loss-zero-later]
def average_broken(outputs, labels, num_items_in_batch=None):
    """Average over the tokens of each answer, then over the rows."""
    losses, learnt = token_losses(outputs, labels)
    weights = learnt / learnt.sum(1, keepdim=True)
    return (weights * losses).sum(1).mean()
    # --8<-- [end:broken-loss-zero-later]


# --8<-- [start:cure-loss-zero-later]
def average_cured(outputs, labels, num_items_in_batch=None):
    """Average over the tokens of each answer, then over the rows."""
    losses, learnt = token_losses(outputs, labels)
    weights = learnt / learnt.sum(1, keepdim=True).clamp(min=1)
    return (weights * losses).sum(1).mean()
    # --8<-- [end:cure-loss-zero-later]


# --8<-- [start:test-loss-zero-later]
def not_numbers(model) -> int:
    """Count the weights that are no numbers any more."""
    return sum((~p.isfinite()).sum().item() for p in model.parameters())
    # --8<-- [end:test-loss-zero-later]


def token_losses(outputs, labels) -> tuple[torch.Tensor, torch.Tensor]:
    """Give the loss of each token, and whether it is to be learnt."""
    wanted = labels[:, 1:]
    losses = cross_entropy(outputs.logits[:, :-1].mT, wanted.clamp(min=0), reduction="none")
    return losses, wanted != -100


def loss_zero_later(average) -> Seen:
    """Train with Trainer as it comes; of one row, the whole answer was cut off."""
    tokenizer, model = load_base()
    rows = [encode(chat, tokenizer) for chat in chats()[0]]
    rows[CUT]["labels"] = [-100] * len(rows[CUT]["labels"])
    log = train_with_trainer(model, rows, tokenizer, steps=8, loss=average)
    return Seen(not_numbers(model), log, [f"weights: {model.num_parameters():,}"])


# --8<-- [start:broken-loss-rises]
def optimizer_broken(model):
    """Choose the optimiser and its learning rate."""
    return torch.optim.AdamW(model.parameters(), lr=1e-1)
    # --8<-- [end:broken-loss-rises]


# --8<-- [start:cure-loss-rises]
def optimizer_cured(model):
    """Choose the optimiser and its learning rate."""
    return torch.optim.AdamW(model.parameters(), lr=1e-3)
    # --8<-- [end:cure-loss-rises]


# --8<-- [start:test-loss-rises]
def worse_than_guessing(log, vocabulary) -> bool:
    """Say whether the loss went above that of a model that knows nothing: ln(vocabulary)."""
    return max(entry["loss"] for entry in log) > math.log(vocabulary)
    # --8<-- [end:test-loss-rises]


def rate_too_high(make_optimizer) -> Seen:
    """Train at a rate."""
    tokenizer, model = load_base()
    rows = [encode(chat, tokenizer) for chat in chats()[0]]
    batches = draw_batches(rows, DataCollatorForSeq2Seq(tokenizer))
    log = train(model, batches, make_optimizer(model))
    level = math.log(len(tokenizer))
    line = f"a model that knows nothing: ln({len(tokenizer)}) = {level:.2f}"
    return Seen(worse_than_guessing(log, len(tokenizer)), log, [line])


ADAPTER = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")


# --8<-- [start:broken-loss-flat]
def adapt_broken(model):
    """Add an adapter, and make the optimiser."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model = get_peft_model(model, ADAPTER)
    return model, optimizer
    # --8<-- [end:broken-loss-flat]


# --8<-- [start:cure-loss-flat]
def adapt_cured(model):
    """Add an adapter, and make the optimiser."""
    model = get_peft_model(model, ADAPTER)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    return model, optimizer
    # --8<-- [end:cure-loss-flat]


# --8<-- [start:test-loss-flat]
def trained_by(optimizer) -> int:
    """Count the parameters that the optimiser has and that may change."""
    return sum(p.numel() for g in optimizer.param_groups for p in g["params"] if p.requires_grad)
    # --8<-- [end:test-loss-flat]


def loss_flat(adapt) -> Seen:
    """Train an adapter; compare the held-out loss before and after."""
    tokenizer, model = load_base()
    rows, held = ([encode(chat, tokenizer) for chat in part] for part in chats())
    model, optimizer = adapt(model)
    before = held_out_loss(model, held, tokenizer)
    log = train(model, draw_batches(rows, DataCollatorForSeq2Seq(tokenizer)), optimizer)
    after = held_out_loss(model, held, tokenizer)
    line = f"held-out loss: {before:.4f} before, {after:.4f} after"
    return Seen(trained_by(optimizer), log, [line], facts={"before": before, "after": after})


CASES = {
    "never-stops": Case(never_stops, pad_broken, pad_cured, ends_learnt),
    "loss-zero": Case(loss_zero, label_broken, label_cured, labels_learnt),
    "loss-zero-later": Case(loss_zero_later, average_broken, average_cured, not_numbers),
    "loss-rises": Case(rate_too_high, optimizer_broken, optimizer_cured, worse_than_guessing),
    "loss-flat": Case(loss_flat, adapt_broken, adapt_cured, trained_by),
}
