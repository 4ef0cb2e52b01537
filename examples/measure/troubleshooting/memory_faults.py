"""Three ways to fill the memory; every byte is counted, none is invented."""

from tempfile import TemporaryDirectory

import torch
from bitsandbytes.optim import AdamW8bit
from transformers import DataCollatorForSeq2Seq, PrinterCallback, Trainer, TrainingArguments

from common.peak import PeakMemory
from measure.troubleshooting.short_runs import Case, Seen, chats, draw_batches, encode, load_base


# --8<-- [start:broken-first-step]
def states_broken(model):
    """Choose the optimiser."""
    return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    # --8<-- [end:broken-first-step]


# --8<-- [start:cure-first-step]
def states_cured(model):
    """Choose the optimiser."""
    return AdamW8bit(model.parameters(), lr=1e-4)
    # --8<-- [end:cure-first-step]


# --8<-- [start:test-first-step]
def bytes_of_states(phases, parameters) -> float:
    """Count the bytes a parameter that are there after the first step and were not before it."""
    return round((phases["step"]["after"] - phases["backward"]["after"]) / parameters, 2)
    # --8<-- [end:test-first-step]


# --8<-- [start:phases]
def measure_phases(make_optimizer, ids: torch.Tensor) -> dict[str, dict[str, int]]:
    """Count the bytes alive after each phase of a first step, and the most during it."""
    phases = {}

    def mark(name: str) -> None:
        phases[name] = {"after": memory.now, "peak": memory.peak}
        memory.peak = memory.now

    with PeakMemory() as memory:
        model = load_base()[1].train()
        for weight in {id(p): p for p in model.parameters()}.values():
            memory.count(weight.untyped_storage())
        memory.peak = memory.now  # what loading takes besides is not of this question
        mark("load")
        optimizer = make_optimizer(model)
        loss = model(input_ids=ids, labels=ids).loss
        mark("forward")
        loss.backward()
        del loss
        mark("backward")
        optimizer.step()
        mark("step")
    return phases
    # --8<-- [end:phases]


def first_step(make_optimizer) -> Seen:
    """Follow the memory through the first step of one short row."""
    tokenizer, model = load_base()
    ids = torch.tensor([encode(chats()[0][0], tokenizer)["input_ids"]])
    phases = measure_phases(make_optimizer, ids)
    lines = ["phase      alive after   at most"]
    lines += [
        f"{name:9} {row['after'] / 1e6:9.2f} MB {row['peak'] / 1e6:6.2f} MB"
        for name, row in phases.items()
    ]
    curve = [{"id": name, **row} for name, row in phases.items()]
    return Seen(bytes_of_states(phases, model.num_parameters()), lines=lines, curve=curve)


# --8<-- [start:broken-memory-grows]
def add_broken(total, loss):
    """Add the loss of a batch to the sum over the validation rows."""
    return total + loss
    # --8<-- [end:broken-memory-grows]


# --8<-- [start:cure-memory-grows]
def add_cured(total, loss):
    """Add the loss of a batch to the sum over the validation rows."""
    return total + loss.item()
    # --8<-- [end:cure-memory-grows]


# --8<-- [start:test-memory-grows]
def keeps_graph(total) -> bool:
    """Say whether a sum holds on to the computations that made it."""
    return isinstance(total, torch.Tensor) and total.grad_fn is not None
    # --8<-- [end:test-memory-grows]


def memory_grows(add) -> Seen:
    """Sum the loss over batches, and count the bytes alive after each."""
    tokenizer, model = load_base()
    rows = [encode(chat, tokenizer) for chat in chats()[1]]
    batches = list(draw_batches(rows, DataCollatorForSeq2Seq(tokenizer), steps=8))
    total, curve = 0.0, []
    with PeakMemory() as memory:
        for number, batch in enumerate(batches, 1):
            total = add(total, model(**batch).loss)
            curve.append({"x": number, "y": memory.now})
    lines = ["batch   bytes alive"] + [f"{one['x']:5} {one['y']:13,}" for one in curve]
    lines.append(f"mean loss: {torch.as_tensor(total).item() / len(batches):.4f}")
    return Seen(keeps_graph(total), lines=lines, curve=curve)


def accuracy(predicted) -> dict[str, float]:
    """Give the share of learnt tokens that are the model's first choice."""
    choices = predicted.predictions
    choices = choices.argmax(-1) if choices.ndim == 3 else choices
    wanted = predicted.label_ids[:, 1:]
    learnt = wanted != -100
    return {"accuracy": float((choices[:, :-1] == wanted)[learnt].mean())}


# --8<-- [start:broken-evaluation-memory]
def evaluator_broken(model, args, collator):
    """Make the Trainer that evaluates."""
    return Trainer(
        model,
        args,
        data_collator=collator,
        compute_metrics=accuracy,
    )
    # --8<-- [end:broken-evaluation-memory]


# --8<-- [start:cure-evaluation-memory]
def evaluator_cured(model, args, collator):
    """Make the Trainer that evaluates."""
    return Trainer(
        model,
        args,
        data_collator=collator,
        compute_metrics=accuracy,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    # --8<-- [end:cure-evaluation-memory]


# --8<-- [start:test-evaluation-memory]
def bytes_kept(trainer, rows) -> int:
    """Count the bytes that an evaluation keeps of every token."""
    return (kept := trainer.predict(rows).predictions).nbytes // (kept.shape[0] * kept.shape[1])
    # --8<-- [end:test-evaluation-memory]


def evaluation_memory(make_evaluator) -> Seen:
    """Evaluate more and more rows, eight at a time, and count the most that is alive."""
    tokenizer, model = load_base()
    rows = [encode(chat, tokenizer) for part in chats() for chat in part]
    curve = []
    with TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder, per_device_eval_batch_size=8, use_cpu=True, disable_tqdm=True
        )
        trainer = make_evaluator(model, args, DataCollatorForSeq2Seq(tokenizer))
        trainer.remove_callback(PrinterCallback)
        for count in (15, 30, 60, 120):
            with PeakMemory() as memory:
                found = trainer.evaluate(rows[:count])
            curve.append({"x": count, "y": memory.peak})
        test = bytes_kept(trainer, rows[:15])
    lines = ["rows   peak of the evaluation"]
    lines += [f"{one['x']:4} {one['y'] / 1e6:20.1f} MB" for one in curve]
    lines.append(f"accuracy: {found['eval_accuracy']:.4f}")
    return Seen(test, lines=lines, curve=curve, facts={"accuracy": found["eval_accuracy"]})


CASES = {
    "first-step": Case(first_step, states_broken, states_cured, bytes_of_states),
    "memory-grows": Case(memory_grows, add_broken, add_cured, keeps_graph),
    "evaluation-memory": Case(evaluation_memory, evaluator_broken, evaluator_cured, bytes_kept),
}
