"""The training of train.py without Trainer: the same steps in plain PyTorch, and the same losses.

    python examples/full/traditional/loop.py

It trains the tiny model on the processor, in about a minute.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard
from common.rows import read
from full.traditional import train


# --8<-- [start:loop]
def fit(model, rows: list[dict], settings: train.Settings, pad: int) -> Iterator[float]:
    """Train a model on encoded rows; yields the loss of each step."""
    batches = math.ceil(len(rows) / settings.batch_size)
    steps = round(settings.epochs * batches)
    warmup = math.ceil(settings.warmup * steps)
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(  # (1)!
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
    )

    def share(step: int) -> float:  # (2)!
        """Give the part of the learning rate to use at a step."""
        if step < warmup:
            return step / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    model.train()
    for step in range(steps):
        epoch, place = divmod(step, batches)
        shuffle = torch.Generator().manual_seed(settings.seed + epoch)  # (3)!
        order = torch.randperm(len(rows), generator=shuffle).tolist()
        first = place * settings.batch_size
        chosen = [rows[i] for i in order[first : first + settings.batch_size]]
        loss = model(**collate(chosen, pad)).loss  # (4)!
        loss.backward()  # (5)!
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # (6)!
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()  # (7)!
        yield loss.item()


# --8<-- [end:loop]


def collate(rows: list[dict], pad: int) -> dict[str, torch.Tensor]:
    """Pad rows to one length, a multiple of 8; what is padded is neither read nor learnt."""
    width = 8 * math.ceil(max(len(row["input_ids"]) for row in rows) / 8)

    def tensor(name: str, filler: int) -> torch.Tensor:
        return torch.tensor([r[name] + [filler] * (width - len(r[name])) for r in rows])

    ids, labels = tensor("input_ids", pad), tensor("labels", -100)
    mask = torch.tensor([[int(i < len(r["input_ids"])) for i in range(width)] for r in rows])
    return {"input_ids": ids, "labels": labels, "attention_mask": mask}


def main() -> None:
    """Train, and print the mean loss of every 20 steps."""
    guard.hush()
    settings = train.TINY
    torch.manual_seed(settings.seed)
    tokenizer, model = train.load(settings)
    rows = train.encode_all(read(settings.data)[0], tokenizer, settings.max_tokens)
    losses = []
    for loss in fit(model, rows, settings, tokenizer.pad_token_id):
        losses.append(loss)
        if len(losses) % 20 == 0:
            print(f"step {len(losses):4}   loss {sum(losses[-20:]) / 20:.3f}", flush=True)


if __name__ == "__main__":
    main()
