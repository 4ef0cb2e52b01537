"""Full fine-tuning, the traditional way: every weight of the model learns.

Chapter full/traditional of the course. Machine, command, and the memory that the run then needs:

    any computer, no network   python examples/full/traditional/train.py --tiny
    16 GB, such as a free T4   python examples/full/traditional/train.py                  13.6 GB
    24 GB                      the same with --model TinyLlama/TinyLlama_v1.1             21.7 GB
    80 GB                      the same with --model Qwen/Qwen3-4B-Base                   77.7 GB

The memory is predicted, by examples/memory, before any weight is loaded: 16 B/parameter of static
state (fp32 weights and gradients, two moments of AdamW), 2 B/parameter of 16-bit copies, 12 B x
vocabulary of logits per token, activations, and CUDA itself. The default data set is
databricks-dolly-15k, under CC BY-SA 3.0.
"""

import argparse
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_batch, make_training_parser
from common.rows import read

# isort: split
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    Trainer,
    TrainingArguments,
    set_seed,
)

from tiny import BASE, DATA, exact, recall

HERE = Path(__file__).resolve().parent


# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings:
    """All that a run depends on; the command line changes most of it."""

    model: str = "Qwen/Qwen2.5-0.5B"  # (1)!
    data: str = "databricks/databricks-dolly-15k"  # (2)!
    output: Path = Path("output/traditional")
    seed: int = 42
    epochs: float = 2
    learning_rate: float = 2e-5  # (3)!
    batch_size: int = 4  # (4)!
    accumulation: int = 4
    max_tokens: int = 512
    warmup: float = 0.03
    weight_decay: float = 0.01
    evaluations: int = 10  # (5)!


TINY = Settings(
    model=str(BASE),
    data=str(DATA),
    output=Path("output/traditional-tiny"),
    epochs=16,
    learning_rate=1e-3,  # (6)!
    batch_size=16,
    accumulation=1,
    max_tokens=128,
    evaluations=25,
)
# --8<-- [end:settings]


# --8<-- [start:load]
PLAIN_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message.role == 'user' %}### Request\n{{ message.content }}\n\n### Answer\n"
    "{% else %}{{ message.content + eos_token }}{% endif %}{% endfor %}"
)


def load(settings: Settings) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the tokenizer, and the model in fp32."""
    with guard.explain("model", settings.model):
        model = AutoModelForCausalLM.from_pretrained(settings.model, dtype=torch.float32)  # (1)!
    return load_tokenizer(settings), model


def load_tokenizer(settings: Settings) -> PreTrainedTokenizerBase:
    """Load the tokenizer with a chat template, the EOS of its answers, and padding."""
    with guard.explain("model", settings.model):
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
    tokenizer.chat_template = tokenizer.chat_template or PLAIN_TEMPLATE  # (2)!
    tokenizer.eos_token_id = answer_end(tokenizer)  # (3)!
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token  # (4)!
    return tokenizer


def answer_end(tokenizer: PreTrainedTokenizerBase) -> int:
    """Find the token that ends an answer in the chat template, such as Qwen's `<|im_end|>`."""
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]
    ids = tokenizer.apply_chat_template(chat, return_dict=False)
    return [token for token in ids if token in tokenizer.all_special_ids][-1]
    # --8<-- [end:load]


# --8<-- [start:encode]
def ask(row: dict) -> list[dict]:
    """Write a row's request as a conversation that waits for its answer."""
    request = f"{row['instruction']}\n{row['context']}".strip()  # (1)!
    return [{"role": "user", "content": request}]


def encode(row: dict, tokenizer: PreTrainedTokenizerBase) -> dict[str, list[int]]:
    """Turn a row into token ids and labels: only the answer and its EOS are learnt."""
    prompt = tokenizer.apply_chat_template(ask(row), add_generation_prompt=True, return_dict=False)
    answer = tokenizer(row["response"], add_special_tokens=False).input_ids  # (2)!
    answer = [*answer, tokenizer.eos_token_id]  # (3)!
    return {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer}  # (4)!


def encode_all(rows: list[dict], tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> list[dict]:
    """Encode rows; those that are too long are dropped, since a cut answer has no end to learn."""
    encoded = [encode(row, tokenizer) for row in rows]
    kept = [row for row in encoded if len(row["input_ids"]) <= max_tokens]  # (5)!
    print(f"{len(kept)} rows, {len(encoded) - len(kept)} dropped (more than {max_tokens} tokens)")
    guard.check_labels(kept, tokenizer.eos_token_id)
    return kept
    # --8<-- [end:encode]


# --8<-- [start:arguments]
def arguments(settings: Settings, card: guard.Card) -> TrainingArguments:
    """State every choice of the training."""
    every = 1 / settings.evaluations
    return TrainingArguments(
        output_dir=str(settings.output),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,  # (1)!
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,  # (2)!
        weight_decay=settings.weight_decay,
        max_grad_norm=1.0,
        bf16=card.precision == "bf16",  # (3)!
        fp16=card.precision == "fp16",
        activation_checkpointing=card.precision != "fp32",  # (4)!
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=1,
        load_best_model_at_end=True,  # (5)!
        logging_steps=5,
        logging_nan_inf_filter=False,  # (6)!
        use_cpu=card.precision == "fp32",
        seed=settings.seed,
    )
    # --8<-- [end:arguments]


# --8<-- [start:launch]
def launch(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: list[list[dict]],
    args: TrainingArguments,
    last: str | None,
) -> list[dict]:
    """Train from the start or from a checkpoint, save the best model, and return the log."""
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=rows[0],
        eval_dataset=rows[1],
        data_collator=DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8),  # (1)!
        processing_class=tokenizer,  # (2)!
        callbacks=[guard.StopOnNan()],
    )
    with guard.explain_memory(args.output_dir):
        trainer.train(resume_from_checkpoint=last)  # (3)!
        trainer.save_model()  # (4)!
        trainer.save_state()
    for checkpoint in Path(args.output_dir).glob("checkpoint-*"):  # (5)!
        shutil.rmtree(checkpoint)
    return trainer.state.log_history
    # --8<-- [end:launch]


# --8<-- [start:generate]
def generate(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, row: dict, most: int = 64
) -> str:
    """Answer a request. EOS stays visible, so that one sees whether the answer ended."""
    chat = tokenizer.apply_chat_template(ask(row), add_generation_prompt=True, return_tensors="pt")
    chat = chat.to(model.device)
    output = model.generate(**chat, do_sample=False, max_new_tokens=most)  # (1)!
    return tokenizer.decode(output[0, chat.input_ids.shape[1] :])  # (2)!


@torch.no_grad()
def load_saved(model: PreTrainedModel, row: dict, output: Path) -> tuple[PreTrainedModel, float]:
    """Load what was saved, and compare it with the model in memory on one encoded row."""
    saved = AutoModelForCausalLM.from_pretrained(output, dtype=torch.float32).to(model.device)
    ids = torch.tensor([row["input_ids"]], device=model.device)
    difference = (saved.eval()(ids).logits - model.eval()(ids).logits).abs().max()  # (3)!
    return saved, difference.item()
    # --8<-- [end:generate]


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    return guard.check_options(make_training_parser(__doc__).parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    return choose_batch(TINY if options.tiny else Settings(), options)


def prepare(options: argparse.Namespace, settings: Settings) -> tuple[guard.Card, str | None]:
    """Check all that can be checked before weights are loaded."""
    card = guard.find_card(options.tiny)
    last = guard.last_checkpoint(settings.output, options.resume)
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model)
    guard.check_memory(card, config, settings.batch_size, settings.max_tokens)
    return card, last


def main(argv: list[str] | None = None) -> None:
    """Check, load, encode, train, and show what changed."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    guard.hush()
    card, last = prepare(options, settings)
    set_seed(settings.seed)
    tokenizer, model = load(settings)
    guard.check_disk(settings.output, model.num_parameters())
    model.to(card.device)
    record.show(record.parameter_line(model), folder, "parameters.txt")

    parts = read(settings.data)
    rows = [encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    shortest = min(rows[1], key=lambda row: len(row["input_ids"]))
    record.show(record.label_table(shortest, tokenizer), folder, "labels.txt")
    samples = parts[1][:3]
    before = [generate(model, tokenizer, row) for row in samples]
    measures = {"before": measure(model, tokenizer, rows[1])} if options.tiny else {}

    log = launch(model, tokenizer, rows, arguments(settings, card), last)
    record.show(record.loss_table(log), folder, "train.txt")

    model, difference = load_saved(model, rows[1][0], settings.output)
    after = [generate(model, tokenizer, row) for row in samples]
    lines = [f"the saved model's logits differ by at most {difference}"]
    for row, first, second in zip(samples, before, after, strict=True):
        request = row["context"] or row["instruction"]
        lines += ["", request, f"  before: {first}", f"  after:  {second}"]
    record.show("\n".join(lines), folder, "generate.txt")
    if options.tiny:
        measures["after"] = measure(model, tokenizer, rows[1])
        record.show(record.measure_table(measures), folder, "measures.txt")
    if folder:
        facts = record.settings(settings) | record.sizes(model, rows, log)
        facts |= costs(settings, model, tokenizer, rows)
        record.write(folder, facts | measures | record.history(log))


def costs(settings: Settings, model: PreTrainedModel, tokenizer, rows: list[list[dict]]) -> dict:
    """Measure the held-out loss before and after, and the peak of a step beside its prediction."""
    collate = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8, return_tensors="pt")
    base = load(settings)[1].to(model.device)
    return {
        "loss_before": record.held_out_loss(base, rows[1], collate),
        "loss_after": record.held_out_loss(model, rows[1], collate),
    } | record.memory(base, rows[0], collate, settings.batch_size)


def measure(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict]) -> dict:
    """Measure what the tiny model can do: the new task, and the capitals that it knew."""
    return {"exact": exact(rows, model), "recall": recall(model, tokenizer)}


if __name__ == "__main__":
    main()
