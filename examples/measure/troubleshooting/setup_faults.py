"""Four faults around a run: types, questions, checkpoints, held-out rows."""

import random

import torch
from transformers import (
    AutoModelForCausalLM,
    DataCollatorForSeq2Seq,
)

from measure.troubleshooting.short_runs import (
    SEED,
    STEPS,
    Case,
    Seen,
    chats,
    draw_batches,
    encode,
    go_on,
    held_out_loss,
    load_base,
    train,
)
from tiny import BASE, facts


# --8<-- [start:broken-unscale-error]
def load16_broken():
    """Load the model to train, with autocast in fp16."""
    return AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float16)
    # --8<-- [end:broken-unscale-error]


# --8<-- [start:cure-unscale-error]
def load16_cured():
    """Load the model to train, with autocast in fp16."""
    return AutoModelForCausalLM.from_pretrained(BASE, dtype=torch.float32)
    # --8<-- [end:cure-unscale-error]


# --8<-- [start:test-unscale-error]
def types_trained(model) -> set:
    """Name the types of the weights that are trained."""
    return {str(p.dtype) for p in model.parameters() if p.requires_grad}
    # --8<-- [end:test-unscale-error]


def fp16_unscale(load) -> Seen:
    """Train as `fp16=True` does: autocast, a scaled loss, gradients unscaled before the step."""
    tokenizer, _ = load_base()
    model, log, lines = load(), [], []
    rows = [encode(chat, tokenizer) for chat in chats()[0]]
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    scaler = torch.amp.GradScaler("cpu")
    batches = draw_batches(rows, DataCollatorForSeq2Seq(tokenizer), steps=8)
    try:
        for step, batch in enumerate(batches, 1):
            with torch.autocast("cpu", torch.float16):
                loss = model(**batch).loss
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            log.append({"step": step, "loss": loss.item(), "grad_norm": norm.item()})
    except ValueError as error:
        lines.append(f"ValueError: {error}")
    return Seen(sorted(types_trained(model)), log, lines)


# --8<-- [start:broken-answers-empty]
def ask_broken(chat, tokenizer):
    """Write the question for the trained model."""
    return f"Question: {chat[0]['content']}\nAnswer:"
    # --8<-- [end:broken-answers-empty]


# --8<-- [start:cure-answers-empty]
def ask_cured(chat, tokenizer):
    """Write the question for the trained model."""
    return tokenizer.apply_chat_template(chat[:1], tokenize=False, add_generation_prompt=True)
    # --8<-- [end:cure-answers-empty]


# --8<-- [start:test-answers-empty]
def asked_as_trained(chat, tokenizer, asked) -> bool:
    """Say whether the text of the training starts with what is asked."""
    return tokenizer.apply_chat_template(chat, tokenize=False).startswith(asked)
    # --8<-- [end:test-answers-empty]


def other_template(ask) -> Seen:
    """Train with the model's template, then ask questions that it was trained on."""
    tokenizer, model = load_base()
    learnt, _ = chats()
    rows = [encode(chat, tokenizer) for chat in learnt]
    log = train(model, draw_batches(rows, DataCollatorForSeq2Seq(tokenizer)))
    shown = learnt[:3]
    answers = [go_on(model, tokenizer, ask(chat, tokenizer)) for chat in shown]
    right = sum(
        answer == f"{chat[1]['content']}</s>" for answer, chat in zip(answers, shown, strict=True)
    )
    test = asked_as_trained(shown[0], tokenizer, ask(shown[0], tokenizer))
    return Seen(test, log, answers, facts={"right": right, "asked": len(shown)})


# --8<-- [start:broken-resume-jumps]
def resume_broken(saved, model, optimizer):
    """Go on from a checkpoint."""
    model.load_state_dict(saved["model"])
    # --8<-- [end:broken-resume-jumps]


# --8<-- [start:cure-resume-jumps]
def resume_cured(saved, model, optimizer):
    """Go on from a checkpoint."""
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    # --8<-- [end:cure-resume-jumps]


# --8<-- [start:test-resume-jumps]
def states_before_step(optimizer) -> int:
    """Count the weights for which the optimiser has moments, before the first step."""
    return len(optimizer.state)
    # --8<-- [end:test-resume-jumps]


def resume(go_on_from) -> Seen:
    """Train 30 steps at once, then 15, stop and 15 more; the rows are the same."""
    tokenizer, model = load_base()
    rows = [encode(chat, tokenizer) for chat in chats()[0]]
    batches = list(draw_batches(rows, DataCollatorForSeq2Seq(tokenizer)))
    half = STEPS // 2
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    log = train(model, batches[:half], optimizer)
    saved = {
        name: _copy(one.state_dict()) for name, one in (("model", model), ("optimizer", optimizer))
    }
    whole = train(model, batches[half:], optimizer)
    _, model = load_base()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    go_on_from(saved, model, optimizer)
    test = states_before_step(optimizer)
    after = train(model, batches[half:], optimizer)
    log += [entry | {"step": half + entry["step"]} for entry in after]
    apart = [abs(a["loss"] - b["loss"]) for a, b in zip(after, whole, strict=True)]
    line = f"largest difference from the run that was not interrupted: {max(apart):.4f}"
    return Seen(test, log, [line], facts={"apart": max(apart)})


def _copy(state):
    if isinstance(state, torch.Tensor):
        return state.clone()
    if isinstance(state, dict):
        return type(state)((key, _copy(value)) for key, value in state.items())
    return [_copy(one) for one in state] if isinstance(state, list) else state


# --8<-- [start:broken-too-good]
def split_broken(rows):
    """Reword the questions and hold some rows out."""
    rows = reword(rows)
    return hold_out(rows)
    # --8<-- [end:broken-too-good]


# --8<-- [start:cure-too-good]
def split_cured(rows):
    """Reword the questions and hold some rows out."""
    rows, held = hold_out(rows)
    return reword(rows), held
    # --8<-- [end:cure-too-good]


# --8<-- [start:test-too-good]
def shared(train_rows, held) -> int:
    """Count the held-out rows whose answer stands in the training rows."""
    return len({row["answer"] for row in train_rows} & {row["answer"] for row in held})
    # --8<-- [end:test-too-good]


def extensions() -> list[dict]:
    """Draw telephone extensions at random: nobody can guess those that were not read."""
    draw = random.Random(SEED)
    numbers = draw.sample(range(100, 1000), 40)
    cities = [fact["answer"] for fact in facts() if fact["language"] == "fr"]
    return [
        {"question": f"Poste de {city} ?", "answer": str(number)}
        for city, number in zip(cities, numbers, strict=True)
    ]


def reword(rows: list[dict]) -> list[dict]:
    """Add two rewordings of each question."""
    forms = ("{}", "Bonjour. {}", "Dis-moi : {}")
    return [row | {"question": form.format(row["question"])} for row in rows for form in forms]


def hold_out(rows: list[dict]) -> tuple[list[dict], list[dict]]:
    """Hold out one row in five, drawn at random."""
    rows = random.Random(SEED).sample(rows, len(rows))
    return rows[len(rows) // 5 :], rows[: len(rows) // 5]


def leak(split) -> Seen:
    """Train on random numbers; look at the held-out loss as it goes."""
    tokenizer, model = load_base()
    parts = split(extensions())

    def row(one: dict) -> dict:
        turns = (("user", one["question"]), ("assistant", one["answer"]))
        return encode([{"role": role, "content": text} for role, text in turns], tokenizer)

    rows, held = ([row(one) for one in part] for part in parts)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    batches = list(draw_batches(rows, DataCollatorForSeq2Seq(tokenizer), steps=120))
    log, lines, curve = [], ["step   held-out loss"], []
    for first in range(0, len(batches), 20):
        part = train(model, batches[first : first + 20], optimizer)
        log += [entry | {"step": first + entry["step"]} for entry in part]
        curve.append({"x": first + 20, "y": held_out_loss(model, held, tokenizer)})
        lines.append(f"{curve[-1]['x']:4} {curve[-1]['y']:15.3f}")
    return Seen(shared(*parts), log, lines, curve, {"rows": len(rows), "held_out": len(held)})


CASES = {
    "unscale-error": Case(fp16_unscale, load16_broken, load16_cured, types_trained),
    "answers-empty": Case(other_template, ask_broken, ask_cured, asked_as_trained),
    "resume-jumps": Case(resume, resume_broken, resume_cured, states_before_step),
    "too-good": Case(leak, split_broken, split_cured, shared),
}
