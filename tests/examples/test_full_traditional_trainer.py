"""What chapter full/traditional says of Trainer itself: accumulation, and stopping early."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import DataCollatorForSeq2Seq, EarlyStoppingCallback, Trainer, set_seed

from common import guard
from common.rows import read
from full.traditional import train


def make(folder: Path, rows: list[list[dict]], callbacks: list | None = None, **changes) -> Trainer:
    """Make a Trainer for the tiny base, with the arguments of the chapter but for some."""
    settings = replace(train.TINY, output=folder)
    set_seed(settings.seed)
    tokenizer, model = train.load(settings)
    args = replace(
        train.arguments(settings, guard.find_card(tiny=True)), disable_tqdm=True, **changes
    )
    return Trainer(
        model=model,
        args=args,
        train_dataset=rows[0],
        eval_dataset=rows[1],
        data_collator=DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8),
        callbacks=callbacks,
    )


@pytest.fixture(scope="module")
def rows() -> list[list[dict]]:
    tokenizer = train.load(train.TINY)[0]
    return [train.encode_all(part, tokenizer, 128) for part in read(train.TINY.data)]


def test_accumulation_is_the_large_batch(rows, tmp_path: Path) -> None:
    """One step of plain SGD at rate 1: what the weights move is the gradient itself."""
    lengths = {sum(label != -100 for label in row["labels"]) for row in rows[0][:64]}
    assert len(lengths) > 1, "answers of one length would hide a mean of means"
    quiet = {"eval_strategy": "no", "save_strategy": "no", "load_best_model_at_end": False}
    moved = []
    for size, times in ((16, 1), (2, 8)):
        trainer = make(
            tmp_path / str(size),
            rows,
            **quiet,
            per_device_train_batch_size=size,
            gradient_accumulation_steps=times,
            max_steps=1,
            optim="sgd",
            learning_rate=1.0,
            lr_scheduler_type="constant",
            warmup_steps=0,
            max_grad_norm=0.0,
        )
        start = [p.detach().clone() for p in trainer.model.parameters()]
        trainer.train()
        pairs = zip(start, trainer.model.parameters(), strict=True)
        moved.append(torch.cat([(before - p.detach()).flatten() for before, p in pairs]))
    large, accumulated = moved
    assert large.norm() > 0.1
    assert (large - accumulated).norm() < 1e-4 * large.norm()


def test_early_stopping_ends_the_run_and_the_best_weights_come_back(rows, tmp_path: Path) -> None:
    few = [rows[0][:24], rows[1][:40]]
    trainer = make(
        tmp_path,
        few,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
        num_train_epochs=40,
        learning_rate=3e-3,
        eval_steps=4,
        save_steps=4,
        metric_for_best_model="eval_loss",
    )
    planned = 40 * 2  # batches of 16
    trainer.train()
    losses = [entry["eval_loss"] for entry in trainer.state.log_history if "eval_loss" in entry]
    assert trainer.state.global_step < planned
    assert losses[-1] > min(losses) == trainer.state.best_metric
    assert trainer.evaluate()["eval_loss"] == pytest.approx(min(losses), abs=1e-5)
