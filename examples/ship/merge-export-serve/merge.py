"""Merge an adapter into its base: into which base, in what type, and does it still say the same?

Chapter ship/merge-export-serve of the course:

    any computer, no network   python examples/ship/merge-export-serve/merge.py --tiny
    any computer               python examples/ship/merge-export-serve/merge.py \\
                                   --model Qwen/Qwen2.5-0.5B --adapter output/lora

--tiny trains two adapters first, one beside the base and one beside the base in 4 bits (QLoRA), and
compares six merges. With --adapter, yours is merged in fp32, saved in bf16 and checked: that needs
4 B/parameter of the computer's memory, or of the card's: 2 GB for 0.5 billion parameters, 28 GB
for 7 billion, 56 GB for 14 billion. A free T4 with 12 GB of RAM merges up to 2 billion.
"""

import argparse
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, programs, record
from common.options import make_parser

# isort: split
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedModel,
)

from common.peak import step_peak
from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from memory import Run, count_parameters, predict, read_config
from peft import PeftModel, prepare_model_for_kbit_training
from tiny import exact

lora = programs.load("peft/lora/train.py")
HERE = Path(__file__).resolve().parent
OUTPUT = Path("output/ship")
CARD = guard.Card("CPU", 0, "fp32")
# How far the logits of a merged model may be from those of the adapter beside its base.
SAME = {"fp32": 1e-3, "bf16": 1.0}
NF4 = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.float32,
)


def load_base(model: str, kind: str = "fp32") -> PreTrainedModel:
    """Load the base in fp32, in bf16, or with its linear layers in 4 bits."""
    if kind == "nf4":
        base = AutoModelForCausalLM.from_pretrained(
            model, dtype=torch.float32, quantization_config=NF4
        )
        # Where the processor has AVX512-BF16, bitsandbytes packs weights at the first forward pass
        # in eval mode: from then on they compute in bf16, and no gradient goes through them.
        for module in base.modules():
            if hasattr(module, "support_avx512bf16_for_cpu"):
                module.support_avx512bf16_for_cpu = False
        return base
    types = {"fp32": torch.float32, "bf16": torch.bfloat16}
    return AutoModelForCausalLM.from_pretrained(model, dtype=types[kind])


def train_adapter(base: PreTrainedModel, rows: list[dict], folder: Path, epochs: float) -> dict:
    """Train an adapter beside a base and save it; return losses and memory of a step."""
    settings = replace(lora.TINY, epochs=epochs)
    full.set_seed(settings.seed)
    if getattr(base, "is_loaded_in_4bit", False):
        base = prepare_model_for_kbit_training(base, use_gradient_checkpointing=False)
    model = lora.attach(base, settings)
    before, started = held_out_loss(model, rows[1]), time.perf_counter()
    training = loop.fit(model, rows[0], settings, pad=0)
    next(training)
    peak = step_peak(model, lambda: next(training))
    for _ in training:
        pass
    model.save_pretrained(folder)
    return {
        "seconds": time.perf_counter() - started,
        "loss_before": before,
        "loss_after": held_out_loss(model, rows[1]),
        "peak_memory_bytes": peak,
    }


@torch.no_grad()
def held_out_loss(model: PreTrainedModel, rows: list[dict]) -> float:
    """Mean loss a token of held-out rows."""
    model.eval()
    return model(**loop.collate(rows, 0)).loss.item()


@torch.no_grad()
def logits(model: PreTrainedModel, rows: list[dict]) -> torch.Tensor:
    """What the model says at each place of some rows that is not padding."""
    model.eval()
    batch = loop.collate(rows, 0)
    said = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return said[batch["attention_mask"] == 1].float()


# --8<-- [start:merge]
def beside(model: str, kind: str, adapter: Path) -> PeftModel:
    """Load a base in a type, with the adapter beside it: this is what was trained."""
    return PeftModel.from_pretrained(load_base(model, kind), adapter)


def merge(model: str, kind: str, adapter: Path) -> PreTrainedModel:
    """Add the adapter into the weights of a base of that type, and take its layers away."""
    return beside(model, kind, adapter).merge_and_unload(safe_merge=True)  # (1)!


def merge_dequantized(model: str, adapter: Path) -> PreTrainedModel:
    """Merge into the weights that the 4-bit base stands for: those that the adapter learnt with."""
    base = load_base(model, "nf4").dequantize()  # (2)!
    return PeftModel.from_pretrained(base, adapter).merge_and_unload(safe_merge=True)
    # --8<-- [end:merge]


# --8<-- [start:compare]
def compare_merges(model: str, adapters: dict[str, Path], rows: list[dict]) -> list[dict]:
    """Merge in six ways; each is compared with the adapter beside the base it learnt with."""
    wanted = {
        "fp32": beside(model, "fp32", adapters["lora"]),
        "nf4": beside(model, "nf4", adapters["qlora"]),
    }
    ways = [  # adapter, base to compare with, name, how to merge
        ("lora", "fp32", "fp32", lambda: merge(model, "fp32", adapters["lora"])),
        (
            "lora",
            "fp32",
            "fp32, saved in bf16",
            lambda: round_weights(merge(model, "fp32", adapters["lora"])),
        ),  # (1)!
        ("lora", "fp32", "bf16", lambda: merge(model, "bf16", adapters["lora"])),
        ("qlora", "nf4", "dequantized 4-bit", lambda: merge_dequantized(model, adapters["qlora"])),
        (
            "qlora",
            "nf4",
            "fp32, not quantized",
            lambda: merge(model, "fp32", adapters["qlora"]),
        ),  # (2)!
        ("qlora", "nf4", "4-bit", lambda: merge(model, "nf4", adapters["qlora"])),  # (3)!
    ]
    found = [
        row_of(name, "", wanted[kind], wanted[kind], rows)
        for name, kind in (("lora", "fp32"), ("qlora", "nf4"))
    ]
    for adapter, kind, name, make in ways:
        found.append(row_of(adapter, name, make(), wanted[kind], rows))
    return sorted(found, key=lambda row: row["adapter"])
    # --8<-- [end:compare]


def row_of(adapter: str, name: str, model, wanted, rows: list[dict]) -> dict:
    """Compare two models: largest difference, equal first choices, requests answered exactly."""
    told, said = logits(wanted, rows[:32]), logits(model, rows[:32])
    return {
        "adapter": adapter,
        "merged_into": name,
        "largest": (said - told).abs().max().item(),
        "same_choice": (said.argmax(-1) == told.argmax(-1)).float().mean().item(),
        "exact": exact(rows, model),
    }


# --8<-- [start:save]
def save(merged: PreTrainedModel, tokenizer, folder: Path) -> None:
    """Save all that serving needs: weights in bf16, tokenizer, template, how generation ends."""
    ends = {tokenizer.eos_token_id, full.answer_end(tokenizer)}
    merged.generation_config.eos_token_id = sorted(ends)  # (1)!
    merged.generation_config.pad_token_id = tokenizer.pad_token_id
    round_weights(merged).save_pretrained(folder)  # (2)!
    tokenizer.save_pretrained(folder)  # (3)!


def round_weights(model: PreTrainedModel) -> PreTrainedModel:
    """Round the weights to bf16, but not the angles of the positions, as from_pretrained does."""
    for weight in model.parameters():
        weight.data = weight.data.to(torch.bfloat16)  # (4)!
    return model
    # --8<-- [end:save]


# --8<-- [start:check]
def check(merged: PreTrainedModel, tokenizer, folder: Path, rows: list[dict]) -> dict:
    """Load the folder as a stranger would, and compare it with what was to be saved."""
    again = AutoModelForCausalLM.from_pretrained(folder)  # (1)!
    words = AutoTokenizer.from_pretrained(folder)
    chat = [{"role": "user", "content": "?"}]
    asked = [
        t.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
        for t in (tokenizer, words)
    ]
    return {
        "type": str(again.dtype).removeprefix("torch."),
        "largest": (logits(again, rows) - logits(merged, rows)).abs().max().item(),  # (2)!
        "template": words.chat_template == tokenizer.chat_template and asked[0] == asked[1],
        "ends": again.generation_config.eos_token_id,
        "files": {path.name: path.stat().st_size for path in sorted(folder.iterdir())},
    }
    # --8<-- [end:check]


def merge_table(found: list[dict]) -> str:
    """Show each merge beside what was trained."""
    lines = ["adapter  merged into           largest difference   same choice   exact"]
    for row in found:
        name = row["merged_into"] or "(not merged)"
        lines.append(
            f"{row['adapter']:8} {name:22}{row['largest']:18.1e}{row['same_choice']:14.1%}"
            f"{row['exact']:8.1%}"
        )
    return "\n".join(lines)


def check_table(found: dict) -> str:
    """Show what was saved, and what came back."""
    files = [f"  {name:24}{size:12,} bytes" for name, size in found["files"].items()]
    return "\n".join(
        [
            *files,
            f"type                      {found['type']}",
            f"largest difference        {found['largest']:.1e}",
            f"template came along       {'yes' if found['template'] else 'NO'}",
            f"generation ends at        {found['ends']}",
        ]
    )


def check_room(model: str) -> None:
    """Refuse a model whose fp32 weights are more than what is free of the computer's memory."""
    with guard.explain("model", model):
        config = AutoConfig.from_pretrained(model).to_dict()
    shape = guard.find_shape(config)
    if not shape:
        return
    needed = 4 * count_parameters(shape).total
    free = psutil.virtual_memory().available
    if needed > free:
        guard.stop(
            f"{free / 1e9:.1f} GB of memory are free, merging {model} needs {needed / 1e9:.1f} GB",
            "merge on a computer with more, or choose a smaller model and train its adapter",
        )


def predicted_bytes(config: dict, rows: int, length: int) -> int:
    """Predict the peak of the fp32 training on the processor: the base takes 4 B/parameter."""
    shape = read_config(config)
    run = Run(shape, "lora", "fp32", rank=lora.TINY.rank, rows=rows, length=length,
              recompute=False, context=0)  # fmt: skip
    return predict(run).total + 2 * count_parameters(shape).total


def make_adapters(
    output: Path, model: str, rows: list, epochs: float, anew: bool = False
) -> tuple[dict, dict]:
    """Train both adapters, unless that was done; return their folders and what was measured."""
    folders = {"lora": output / "lora", "qlora": output / "qlora"}
    facts = {}
    for (name, folder), kind in zip(folders.items(), ("fp32", "nf4"), strict=True):
        if (folder / "adapter_config.json").exists() and not anew:
            print(f"{folder} was trained before; delete it to train again")
        else:
            print(f"training an adapter beside the base in {kind}", flush=True)
            facts[name] = train_adapter(load_base(model, kind), rows, folder, epochs)
    return folders, facts


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, offline")
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B", help="the adapter's base")
    parser.add_argument("--adapter", type=Path, help="folder of your adapter")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--epochs", type=float, default=4, help="of the tiny adapters")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return guard.check_options(parser.parse_args(argv))


def main(argv: list[str] | None = None) -> None:
    """Compare the merges on the tiny model, or merge an adapter of yours; save and check."""
    options = read_options(argv)
    folder = HERE if options.record else None
    guard.hush()
    warnings.filterwarnings(
        "ignore", "Merge lora module to 4-bit", UserWarning
    )  # it is shown below
    warnings.filterwarnings("ignore", ".*gradient_checkpointing", FutureWarning)
    if not options.tiny and not (
        options.adapter and (options.adapter / "adapter_config.json").exists()
    ):
        guard.stop("no adapter to merge", "name its folder with --adapter, or add --tiny")
    guard.check_output(options.output)
    settings = lora.TINY if options.tiny else replace(lora.TINY, model=options.model)
    check_room(settings.model)
    tokenizer = full.load_tokenizer(settings)
    parts = read(lora.TINY.data)
    rows = [full.encode_all(part, tokenizer, lora.TINY.max_tokens) for part in parts]
    facts, adapter = {}, options.adapter
    if options.tiny:
        with guard.explain_memory(options.output):
            adapters, trained = make_adapters(
                options.output, settings.model, rows, options.epochs, anew=options.record
            )
        facts["merges"] = compare_merges(settings.model, adapters, rows[1])
        record.show(merge_table(facts["merges"]), folder, "merges.txt")
        facts |= trained.get("lora", {}) | {"qlora": trained.get("qlora")}
        adapter = adapters["lora"]
    try:
        merged = merge(settings.model, "fp32", adapter)
    except (KeyError, RuntimeError, ValueError):
        guard.stop(
            f"the adapter of {adapter} does not fit {settings.model}",
            "name its base with --model; adapter_config.json says which it is",
        )
    with guard.explain_memory(options.output):
        save(merged, tokenizer, options.output / "merged")
    facts["saved"] = check(merged, tokenizer, options.output / "merged", rows[1][:8])
    record.show(check_table(facts["saved"]), folder, "saved.txt")
    if folder:
        length = 8 * -(-max(len(r["input_ids"]) for r in rows[0]) // 8)
        needed = predicted_bytes(merged.config.to_dict(), lora.TINY.batch_size, length)
        record.write(folder, record.settings(settings) | {"predicted_memory_bytes": needed} | facts)


if __name__ == "__main__":
    main()
