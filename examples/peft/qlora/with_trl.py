"""The training of train.py by TRL: its SFTTrainer quantizes the base and adds the adapter itself.

Chapter peft/qlora of the course. The same rows; machines and options are those of train.py:

    any computer, no network   python examples/peft/qlora/with_trl.py --tiny
    16 GB, such as a free T4   python examples/peft/qlora/with_trl.py                       9.5 GB
    24 GB                      --model Qwen/Qwen3-14B-Base --batch-size 4                  16.0 GB
    80 GB                      --model Qwen/Qwen2.5-72B --batch-size 4                     50.7 GB

Less memory than train.py, and less exact: TRL 1.16 casts nothing to fp32, and its adapter is bf16.
"""

import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record

# isort: split
import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `peft` itself is the library
from lora import train as lora
from lora.sweep import validation_loss
from qlora import train as qlora

from common.rows import read
from full.traditional import train as full

HERE = Path(__file__).resolve().parent


# --8<-- [start:trl]
def twin(settings: qlora.Settings, card: guard.Card, rows: list[dict]) -> SFTTrainer:
    """Describe the same training to TRL: base, 4 bits, adapter, rows."""
    trainer = SFTTrainer(
        model=settings.model,
        args=arguments(settings, card),
        train_dataset=Dataset.from_list([split(row) for row in rows]),  # (1)!
        processing_class=full.load_tokenizer(settings),
        quantization_config=qlora.quantization(card),  # (2)!
        peft_config=lora.adapter(settings),
        callbacks=[guard.StopOnNan()],
    )
    if card.precision == "fp16":
        for parameter in trainer.model.parameters():
            if parameter.requires_grad:
                parameter.data = parameter.data.float()  # (3)!
    return trainer
    # --8<-- [end:trl]


def split(row: dict) -> dict[str, list[dict]]:
    """Cut a row into prompt and completion: TRL then learns the completion only."""
    answer = [{"role": "assistant", "content": row["response"]}]
    return {"prompt": full.ask(row), "completion": answer}


def keep(rows: list[dict], tokenizer, most: int) -> list[dict]:
    """Drop rows that are too long, as train.py does: TRL would cut off the end of their answers."""
    kept = [row for row in rows if len(full.encode(row, tokenizer)["input_ids"]) <= most]
    if not kept:
        guard.stop("no row is left", "raise --max-tokens, or look at the data (--data)")
    print(f"{len(kept)} rows, {len(rows) - len(kept)} dropped (more than {most} tokens)")
    return kept


def arguments(settings: qlora.Settings, card: guard.Card) -> SFTConfig:
    """State what train.py states, in TRL's words."""
    return SFTConfig(
        str(settings.output),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,
        optim=settings.optimizer,
        max_length=settings.max_tokens,
        bf16=card.precision == "bf16",
        fp16=card.precision == "fp16",
        use_cpu=card.precision == "fp32",
        logging_steps=5,
        logging_nan_inf_filter=False,
        save_strategy="no",
        seed=settings.seed,
        model_init_kwargs={
            "dtype": torch.float16 if card.precision == "fp16" else torch.bfloat16,
            "device_map": qlora.place(card),
        },
    )


def main(argv: list[str] | None = None) -> None:
    """Check, train, save the adapter, and show what differs from train.py."""
    options = qlora.read_options(argv)
    output = options.output or Path("output/qlora-trl")
    settings = replace(qlora.choose(options), output=output, keep_16_bits=True)
    folder = HERE if options.record else None
    guard.hush()
    if options.resume:
        guard.stop("this program keeps no checkpoints", "leave --resume out, or use train.py")
    card = guard.find_card(options.tiny)
    guard.check_output(settings.output)
    qlora.check_memory(card, settings)
    parts = read(settings.data)
    parts = [keep(part, full.load_tokenizer(settings), settings.max_tokens) for part in parts]
    trainer = twin(settings, card, parts[0])
    model, tokenizer = trainer.model, trainer.processing_class
    qlora.keep_gradients(model)
    learnt = [p for p in model.parameters() if p.requires_grad]
    with guard.explain_memory(settings.output):
        trainer.train()
        trainer.save_model()
    lines = [
        f"the adapter has {sum(p.numel() for p in learnt):,} parameters in {learnt[0].dtype},",
        f"the embeddings are in {model.get_input_embeddings().weight.dtype}",
    ]
    if options.tiny:
        rows = [full.encode(row, tokenizer) for row in parts[1]]
        loss = validation_loss(model, rows, tokenizer.pad_token_id)
        found = full.measure(model, tokenizer, rows)
        lines.append(f"loss of the validation rows: {loss:.3f} after")
        lines.append(f"answered exactly: {found['exact']:.1%}")
    record.show("\n".join(lines), folder, "trl.txt")
    if folder:
        facts = {"trl": version("trl"), "loss_after": loss} | found
        record.write(folder, facts | record.settings(settings), "trl.json")


if __name__ == "__main__":
    main()
