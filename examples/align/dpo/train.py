"""DPO: the model learns from pairs of answers, one of which is preferred.

Chapter align/dpo of the course. Machine, command, and the memory that the run then needs:

    any computer, no network   python examples/align/dpo/train.py --tiny
    16 GB, such as a free T4   python examples/align/dpo/train.py                           5.8 GB
    24 GB                      the same with --model Qwen/Qwen2.5-7B-Instruct              20.9 GB
    80 GB                      the same with --model Qwen/Qwen3-14B                        36.0 GB

The memory is predicted, by examples/memory, before any weight is loaded, as for LoRA on twice as
many rows: each pair is two. The reference costs nothing there, since it is the same base with the
adapter off; as a copy (--reference copy) it costs 2 B/parameter. TRL computes the log-probabilities
by pieces, so that the logits take less than predicted. Start from a model that answers already: an
instruct model, or yours after supervised fine-tuning, as --tiny does. The default data set,
trl-lib/ultrafeedback_binarized, was made from UltraFeedback (MIT licence).
"""

import argparse
import shutil
import sys
import warnings
import zlib
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_batch, make_training_parser

# isort: split
import datasets
import torch
from torch.nn.functional import logsigmoid
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PrinterCallback
from trl import DPOConfig, DPOTrainer
from trl.data_utils import maybe_extract_prompt

from common.peak import step_peak
from full.traditional import loop
from full.traditional import train as full
from memory import Run, count_parameters, predict, read_config
from peft import LoraConfig, get_peft_model
from tiny import BASE, batches

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
REFERENCES = ("adapter-off", "copy", "precomputed")
COLUMNS = ("prompt", "chosen", "rejected")


# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings(full.Settings):
    """What differs from full fine-tuning."""

    model: str = "Qwen/Qwen2.5-0.5B-Instruct"  # (1)!
    data: str = "trl-lib/ultrafeedback_binarized"
    output: Path = Path("output/dpo")
    epochs: float = 1
    learning_rate: float = 5e-6  # (2)!
    batch_size: int = 2  # (3)!
    accumulation: int = 8
    beta: float = 0.1  # (4)!
    reference: str = "adapter-off"  # (5)!
    rank: int = 16
    alpha: int = 32


TINY = Settings(
    model=str(BASE),
    data=str(DATA),
    output=Path("output/dpo-tiny"),
    epochs=2,
    learning_rate=5e-4,
    batch_size=8,
    accumulation=1,
    max_tokens=128,
    evaluations=6,
    rank=8,
    alpha=16,
)
# --8<-- [end:settings]


def read_pairs(settings: Settings, tokenizer) -> list[list[dict]]:
    """Read training and validation pairs as conversations; pairs that are too long are dropped."""
    path, names = Path(settings.data), ("train", "validation")
    if path.is_dir():
        parts = [guard.read_jsonl(path / f"{name}.jsonl", ()) for name in names]
        for name, part in zip(names, parts, strict=True):
            check_pairs(path / f"{name}.jsonl", part)
    else:
        parts = split(settings.data)
    kept = [[row for row in part if fits(row, tokenizer, settings.max_tokens)] for part in parts]
    for name, part, whole in zip(names, kept, parts, strict=True):
        print(f"{len(part)} {name} pairs, {len(whole) - len(part)} too long")
    if not all(kept):
        guard.stop("no pair is left", "raise --max-tokens, or look at the data (--data)")
    return kept


def check_pairs(path: Path, rows: list[dict]) -> None:
    """Make sure that each row has its conversations: lists of messages."""
    for number, row in enumerate(rows, 1):
        for column in COLUMNS:
            turns = row.get(column) if isinstance(row, dict) else None
            if not turns or not all(
                isinstance(t, dict) and {"role", "content"} <= {*t} for t in turns
            ):
                guard.stop(
                    f"{path}: row {number} has no conversation in column '{column}'",
                    'write [{"role": "user", "content": "..."}]; see examples/align/dpo/data',
                )


def split(name: str) -> list[list[dict]]:
    """Read pairs of the Hub; one request in a hundred is held out, by its text."""
    with guard.explain("data", name):
        rows = datasets.load_dataset(name, split="train")
    rows = rows.map(maybe_extract_prompt)
    guard.check_columns(name, rows.column_names, COLUMNS)
    parts = ([], [])
    for row in rows:
        parts[zlib.crc32(str(row["prompt"]).encode()) % 100 == 0].append(row)
    return parts


def fits(row: dict, tokenizer, most: int) -> bool:
    """Say whether both answers end within so many tokens."""
    whole = [row["prompt"] + row[name] for name in ("chosen", "rejected")]
    return all(len(tokenizer.apply_chat_template(c, return_dict=False)) <= most for c in whole)


# --8<-- [start:sft]
def demonstrate(settings: Settings, resume: bool = False) -> Path:
    """Make the model that DPO starts from: the base learns to answer, in two manners."""
    folder = settings.output / "sft"
    if resume and (folder / "tokenizer_config.json").exists():  # what is saved last
        return folder
    tokenizer, model = full.load(settings)
    lines = guard.read_jsonl(DATA / "demonstrations.jsonl", ("instruction", "context", "response"))
    rows = [full.encode(line, tokenizer) for line in lines]
    choices = replace(TINY, seed=settings.seed, epochs=6, batch_size=16)
    for _ in loop.fit(model, rows, choices, tokenizer.pad_token_id):  # (1)!
        pass
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
    # --8<-- [end:sft]


# --8<-- [start:logps]
def encode(pair: dict, tokenizer) -> list[dict]:
    """Encode the request with each of its answers: the preferred first."""
    prompt = tokenizer.apply_chat_template(
        pair["prompt"], add_generation_prompt=True, return_dict=False
    )
    rows = []
    for name in ("chosen", "rejected"):
        answer = tokenizer(pair[name][0]["content"], add_special_tokens=False).input_ids
        answer = [*answer, tokenizer.eos_token_id]
        rows.append({"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer})
    return rows


def log_probabilities(model: PreTrainedModel, rows: list[dict], pad: int) -> torch.Tensor:
    """Log-probability of each row's answer: the sum over its tokens, EOS included."""
    batch = {name: value.to(model.device) for name, value in loop.collate(rows, pad).items()}
    labels = batch.pop("labels")[:, 1:]  # (1)!
    scores = model(**batch).logits[:, :-1].log_softmax(-1)
    of_tokens = scores.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return (of_tokens * (labels != -100)).sum(dim=1)  # (2)!
    # --8<-- [end:logps]


# --8<-- [start:loss]
def dpo_loss(policy: torch.Tensor, reference: torch.Tensor, beta: float) -> torch.Tensor:
    """Give the loss of each pair, from log-probabilities of shape (pairs, 2): preferred, rejected.

    Source: Rafailov et al. 2023, arXiv 2305.18290, equation 7.
    """
    gain = policy - reference  # (1)!
    margin = beta * (gain[:, 0] - gain[:, 1])  # (2)!
    return -logsigmoid(margin)  # (3)!
    # --8<-- [end:loss]


def score(model: PreTrainedModel, pairs: list[dict], tokenizer) -> torch.Tensor:
    """Log-probabilities of the two answers of each pair, of shape (pairs, 2)."""
    rows = [row for pair in pairs for row in encode(pair, tokenizer)]
    model.eval()
    with torch.no_grad():
        found = [log_probabilities(model, b, tokenizer.pad_token_id) for b in batches(rows, 32)]
    return torch.cat(found).view(-1, 2)


# --8<-- [start:arguments]
def arguments(settings: Settings, card: guard.Card) -> DPOConfig:
    """State every choice of the training."""
    return DPOConfig(
        output_dir=str(settings.output),
        beta=settings.beta,
        loss_type="sigmoid",  # (1)!
        precompute_ref_log_probs=settings.reference == "precomputed",  # (2)!
        max_length=settings.max_tokens,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,
        bf16=card.precision == "bf16",  # (3)!
        fp16=card.precision == "fp16",
        gradient_checkpointing=card.precision != "fp32",
        use_cpu=card.precision == "fp32",
        eval_strategy="steps",
        eval_steps=1 / settings.evaluations,
        save_strategy="steps",
        save_steps=1 / settings.evaluations,
        save_total_limit=1,
        logging_steps=5,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        seed=settings.seed,
    )
    # --8<-- [end:arguments]


# --8<-- [start:launch]
def adapter(settings: Settings) -> LoraConfig:
    """Describe the adapter: on every linear layer."""
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def make_trainer(start, settings: Settings, card: guard.Card, parts: list, tokenizer) -> DPOTrainer:
    """Load the model that pairs will change, and the one that it is compared with."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[card.precision]
    model, copy = AutoModelForCausalLM.from_pretrained(start, dtype=kind), None
    if settings.reference == "copy":
        copy = AutoModelForCausalLM.from_pretrained(start, dtype=kind)  # (1)!
    sets = [
        datasets.Dataset.from_list([{c: r[c] for c in COLUMNS} for r in part]) for part in parts
    ]
    trainer = DPOTrainer(
        model=model,
        ref_model=copy,  # (2)!
        args=arguments(settings, card),
        train_dataset=sets[0],
        eval_dataset=sets[1],
        processing_class=tokenizer,
        peft_config=adapter(settings) if settings.rank else None,  # (3)!
        callbacks=[guard.StopOnNan()],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer
    # --8<-- [end:launch]


# --8<-- [start:measure]
def measure(model, pairs: list[dict], before: torch.Tensor, tokenizer, beta: float) -> dict:
    """Measure on pairs that were held out: which answer is likelier, and what the model writes."""
    now = score(model, pairs, tokenizer)
    right = (now[:, 0] > now[:, 1]).float()  # (1)!
    gain = now - before
    requests = {pair["prompt"][-1]["content"]: pair["chosen"][0]["content"] for pair in pairs}
    rows = [{"instruction": request, "context": ""} for request in requests]
    written = [full.generate(model, tokenizer, row) for row in rows]
    lengths = [len(tokenizer(text, add_special_tokens=False).input_ids) for text in written]
    texts = list(zip(written, requests.values(), strict=True))
    same = [text.strip() == answer + tokenizer.eos_token for text, answer in texts]
    begun = [text.strip().startswith(answer) for text, answer in texts]
    return {
        "loss": dpo_loss(now, before, beta).mean().item(),
        "accuracy": right.mean().item(),
        **{k: right[[p.get("kind") == k for p in pairs]].mean().item() for k in kinds(pairs)},
        "margin": beta * (gain[:, 0] - gain[:, 1]).mean().item(),
        "chosen": now[:, 0].mean().item(),  # (2)!
        "rejected": now[:, 1].mean().item(),
        "length": sum(lengths) / len(lengths),  # (3)!
        "preferred": sum(same) / len(same),
        "right": sum(begun) / len(begun),
    }
    # --8<-- [end:measure]


def kinds(pairs: list[dict]) -> list[str]:
    """List what makes the rejected answers worse, where the data say it."""
    return sorted({pair["kind"] for pair in pairs if "kind" in pair})


def check_memory(card: guard.Card, model: str, settings: Settings) -> None:
    """Predict the peak on a GPU before any weight is loaded; refuse what cannot fit."""
    with guard.explain("model", model):
        config = AutoConfig.from_pretrained(model)
    try:
        needed = predicted_bytes(config.to_dict(), card, settings)
    except ValueError as error:
        print(f"memory not predicted: {error}")
        return
    print(f"memory predicted: {needed / 1e9:.3g} GB")
    guard.check_fits(
        card, needed, "lower --batch-size or --max-tokens, or choose a smaller --model"
    )


def predicted_bytes(config: dict, card: guard.Card, settings: Settings, length: int = 0) -> int:
    """Predict the peak: LoRA on two rows a pair; the processor keeps the base in fp32."""
    shape, tiny = read_config(config), card.device == "cpu"
    run = Run(
        shape,
        method="lora",
        precision="fp32" if tiny else "mixed",
        rank=settings.rank,
        rows=2 * settings.batch_size,
        length=length or settings.max_tokens,
        recompute=not tiny,
    )
    budget = predict(replace(run, context=0) if tiny else run)
    weights = count_parameters(shape).total * (4 if tiny else 2)
    copies = settings.reference == "copy"
    return budget.total + copies * weights + tiny * weights // 2


def history(log: list[dict]) -> list[dict]:
    """Keep of TRL's log what the chapter shows."""
    names = {
        "loss": "loss",
        "margin": "rewards/margins",
        "accuracy": "rewards/accuracies",
        "chosen": "logps/chosen",
        "rejected": "logps/rejected",
        "learning_rate": "learning_rate",
    }
    entries = [entry for entry in log if "loss" in entry]
    return [{"step": e["step"]} | {k: e[name] for k, name in names.items()} for e in entries]


def train_table(log: list[dict]) -> str:
    """Show loss, margin, accuracy and log-probabilities, each a mean over five steps."""
    lines = ["step    loss   margin   accuracy   log-prob. preferred   rejected"]
    for e in history(log):
        lines.append(
            f"{e['step']:4} {e['loss']:7.3f} {e['margin']:8.2f} {e['accuracy']:10.0%}"
            f" {e['chosen']:21.2f} {e['rejected']:10.2f}"
        )
    return "\n".join(lines)


def measure_table(measures: dict[str, dict]) -> str:
    """Show what was measured on held-out pairs, before and after."""
    names = {
        "loss": ("loss", ".4f"),
        "accuracy": ("preferred answer likelier", ".0%"),
        "long": ("  than the long-winded one", ".0%"),
        "wrong": ("  than the wrong one", ".0%"),
        "margin": ("margin", ".2f"),
        "chosen": ("log-probability, preferred", ".2f"),
        "rejected": ("log-probability, rejected", ".2f"),
        "length": ("tokens of an answer, mean", ".1f"),
        "right": ("answers that begin right", ".0%"),
        "preferred": ("answers exactly as preferred", ".0%"),
    }
    lines = [f"{'':28}" + "".join(f"{moment:>9}" for moment in measures)]
    for key, (label, form) in names.items():
        if all(key in values for values in measures.values()):
            cells = "".join(f"{values[key]:9{form}}" for values in measures.values())
            lines.append(f"{label:28}{cells}")
    return "\n".join(lines)


def pair_table(pairs: list[dict], tokenizer) -> str:
    """Show pairs, with the number of tokens of each answer."""
    lines = []
    for pair in pairs:
        lines += ["", pair["prompt"][-1]["content"]]
        for name in ("chosen", "rejected"):
            text = pair[name][0]["content"]
            tokens = len(tokenizer(text, add_special_tokens=False).input_ids)
            lines.append(f"  {name + ':':9} {tokens:3} tokens   {text}")
    return "\n".join(lines[1:])


def measure_peak(start, settings: Settings, pairs: list[dict], tokenizer, card) -> dict[str, int]:
    """Count the bytes of the tensors during real steps by hand, and compare with the prediction."""
    base = AutoModelForCausalLM.from_pretrained(start, dtype=torch.float32)
    model = get_peft_model(base, adapter(settings))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    rows = [row for pair in pairs[: settings.batch_size] for row in encode(pair, tokenizer)]
    pad = tokenizer.pad_token_id

    def step() -> None:
        with torch.no_grad(), model.disable_adapter():
            reference = log_probabilities(model, rows, pad).view(-1, 2)
        policy = log_probabilities(model, rows, pad).view(-1, 2)
        dpo_loss(policy, reference, settings.beta).mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    length = loop.collate(rows, pad)["input_ids"].shape[1]
    step()  # makes the optimiser's states
    return {
        "peak_memory_bytes": step_peak(model, step),
        "predicted_memory_bytes": predicted_bytes(base.config.to_dict(), card, settings, length),
        "peak_shape": {"rows": len(rows), "length": length},
    }


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    answering = "a model that answers already: folder or name on the Hub"
    parser = make_training_parser(__doc__, model=answering, rows="pairs")
    parser.add_argument("--beta", type=float, help="higher: stay nearer to the reference")
    parser.add_argument("--reference", choices=REFERENCES, help="where its numbers come from")
    return guard.check_options(parser.parse_args(argv))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    return choose_batch(TINY if options.tiny else Settings(), options)


def hush() -> None:
    """Silence what libraries say about things that are as they should be.

    TRL 1.16 reads the old name of activation checkpointing, of which transformers 5 warns.
    """
    guard.hush()
    warnings.filterwarnings("ignore", ".*gradient_checkpointing", FutureWarning)
    datasets.disable_progress_bars()


def main(argv: list[str] | None = None) -> None:
    """Check, make the model that answers, train on pairs, and measure what they changed."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    hush()
    card = guard.find_card(options.tiny)
    last = guard.last_checkpoint(settings.output, options.resume)
    check_memory(card, settings.model, settings)
    full.set_seed(settings.seed)
    with guard.explain_memory(settings.output):
        start = demonstrate(settings, options.resume) if options.tiny else settings.model
    tokenizer = full.load_tokenizer(replace(settings, model=str(start)))
    parts = read_pairs(settings, tokenizer)
    shown, held_out = parts[0][:4], parts[1][:100]
    record.show(pair_table(shown, tokenizer), folder, "pairs.txt")

    trainer = make_trainer(start, settings, card, parts, tokenizer)
    model = trainer.model
    with model.disable_adapter():  # a checkpoint may be loaded later: this is the reference
        reference = score(model, held_out, tokenizer)
        measures = {"before": measure(model, held_out, reference, tokenizer, settings.beta)}
        rows = [{"instruction": p["prompt"][-1]["content"], "context": ""} for p in held_out[::20]]
        before = [full.generate(model, tokenizer, row) for row in rows]
    guard.check_disk(settings.output, sum(p.numel() for p in model.parameters() if p.requires_grad))
    with guard.explain_memory(settings.output):
        trainer.train(resume_from_checkpoint=last)
        trainer.save_model()
    for checkpoint in settings.output.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    log = trainer.state.log_history
    record.show(train_table(log), folder, "train.txt")

    measures["after"] = measure(model, held_out, reference, tokenizer, settings.beta)
    record.show(measure_table(measures), folder, "measures.txt")
    lines = []
    for row, first in zip(rows, before, strict=True):
        second = full.generate(model, tokenizer, row)
        lines += ["", row["instruction"], f"  before: {first}", f"  after:  {second}"]
    record.show("\n".join(lines[1:]), folder, "answers.txt")
    if folder:
        peak = measure_peak(start, settings, parts[0], tokenizer, card)
        facts = {name: version(name) for name in ("trl", "peft")} | record.settings(settings)
        facts |= {
            "pairs": {"train": len(parts[0]), "validation": len(parts[1])},
            "steps": trainer.state.global_step,
            "seconds": log[-1]["train_runtime"],
            "loss_before": measures["before"]["loss"],
            "loss_after": measures["after"]["loss"],
        }
        record.write(
            folder,
            facts
            | peak
            | measures
            | {"history": history(log), "eval": record.history(log)["eval"]},
        )


if __name__ == "__main__":
    main()
