"""LoRA: the weights of the model stay as they are, and small matrices beside them learn.

Chapter peft/lora of the course. Machine, command, and the memory that the run then needs:

    any computer, no network   python examples/peft/lora/train.py --tiny
    16 GB, such as a free T4   python examples/peft/lora/train.py                           5.8 GB
    16 GB                      the same with --model Qwen/Qwen3-4B-Base                    13.5 GB
    24 GB                      the same with --model Qwen/Qwen2.5-7B                       20.9 GB
    80 GB                      the same with --model Qwen/Qwen3-14B-Base                   36.0 GB

The memory is predicted, by examples/memory, before any weight is loaded: 2 B/parameter of the base,
frozen and in 16 bits, 16 B/parameter of the adapter alone, 12 B x vocabulary of logits per token,
activations, and CUDA itself. Rows, task and the loop of training are those of
examples/full/traditional/train.py; the default data set is databricks-dolly-15k, CC BY-SA 3.0.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from importlib.metadata import version
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
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    set_seed,
)

from full.traditional import loop
from full.traditional import train as full
from memory import Run, count_lora, predict, read_config
from peft import LoraConfig, PeftModel, get_peft_model
from tiny import BASE, facts

HERE = Path(__file__).resolve().parent
EXACT = 1e-4  # how far logits may be after a merge in fp32: the rounding of one sum


# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings(full.Settings):
    """What differs from full fine-tuning."""

    output: Path = Path("output/lora")
    learning_rate: float = 2e-4  # (1)!
    weight_decay: float = 0.0
    rank: int = 16  # (2)!
    alpha: int = 32  # (3)!


TINY = Settings(
    model=str(BASE),
    data=full.TINY.data,
    output=Path("output/lora-tiny"),
    epochs=4,
    learning_rate=1e-2,  # (4)!
    batch_size=16,
    accumulation=1,
    max_tokens=128,
    evaluations=8,
    rank=8,
    alpha=16,
)
# --8<-- [end:settings]


# --8<-- [start:adapter]
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]  # (1)!


def adapter(settings: Settings) -> LoraConfig:
    """Describe the adapter: which matrices get one, of what rank, at what scale."""
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,  # (2)!
        target_modules=TARGETS,
        lora_dropout=0.0,
        task_type="CAUSAL_LM",  # (3)!
    )


def attach(base: PreTrainedModel, settings: Settings) -> PeftModel:
    """Freeze the base and add the adapter: B is zero, so nothing has changed yet."""
    return get_peft_model(base, adapter(settings))  # (4)!
    # --8<-- [end:adapter]


# --8<-- [start:load]
def load(settings: Settings, card: guard.Card) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the tokenizer and the base: in 16 bits on a GPU, since it is only read there."""
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    with guard.explain("model", settings.model):
        tokenizer = AutoTokenizer.from_pretrained(settings.model)
        model = AutoModelForCausalLM.from_pretrained(
            settings.model,
            dtype=kinds[card.precision],  # (1)!
        )
    tokenizer.chat_template = tokenizer.chat_template or full.PLAIN_TEMPLATE
    tokenizer.eos_token_id = full.answer_end(tokenizer)  # (2)!
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    return tokenizer, model
    # --8<-- [end:load]


# --8<-- [start:count]
def count(model: PeftModel) -> dict[str, int]:
    """Count parameters: all of them, and those that learn, matrix by matrix."""
    learnt = {n: p.numel() for n, p in model.named_parameters() if p.requires_grad}
    assert all("lora_A" in name or "lora_B" in name for name in learnt)  # (1)!
    return {
        "all": sum(p.numel() for p in model.parameters()),
        "trained": sum(learnt.values()),  # (2)!
        "matrices": len(learnt),
    }


def check_count(model: PeftModel, settings: Settings) -> str:
    """Compare the count with the formula: rank x (inputs + outputs), for each matrix."""
    counted = count(model)
    formula = count_lora(read_config(model.config.to_dict()), settings.rank)  # (3)!
    base = counted["all"] - counted["trained"]
    return "\n".join(
        [
            f"base, frozen       {base:12,}",
            f"adapter, trained   {counted['trained']:12,}   in {counted['matrices']} matrices",
            f"by the formula     {formula:12,}   rank x (inputs + outputs)",
            f"share of the base  {counted['trained'] / base:12.2%}",
        ]
    )
    # --8<-- [end:count]


@torch.no_grad()
def logits(model: PreTrainedModel, row: dict) -> torch.Tensor:
    """What the model says at each place of an encoded row."""
    model.eval()
    return model(torch.tensor([row["input_ids"]], device=model.device)).logits.float()


# --8<-- [start:off]
def compare_off(model: PeftModel, before: torch.Tensor, row: dict) -> dict[str, float]:
    """How far the logits are from the base's, with the adapter on and off."""
    on = logits(model, row)
    with model.disable_adapter():  # (1)!
        off = logits(model, row)
    return {
        "on": (on - before).abs().max().item(),
        "off": (off - before).abs().max().item(),  # (2)!
    }
    # --8<-- [end:off]


# --8<-- [start:merge]
def compare_merged(model: PeftModel, row: dict) -> dict[str, float]:
    """Add the adapter into the weights, take it out again, and see what each changed."""
    weight = model.get_base_model().model.layers[0].self_attn.q_proj.base_layer.weight
    original, beside = weight.detach().clone(), logits(model, row)
    model.merge_adapter()  # (1)!
    merged, moved = logits(model, row), (weight - original).abs().max().item()
    model.unmerge_adapter()  # (2)!
    return {
        "moved": moved,
        "merged": (merged - beside).abs().max().item(),  # (3)!
        "unmerged": (logits(model, row) - beside).abs().max().item(),
        "left": (weight - original).abs().max().item(),  # (4)!
    }
    # --8<-- [end:merge]


# --8<-- [start:reload]
def reload(settings: Settings, model: PeftModel, row: dict) -> dict[str, float]:
    """Load the base afresh, put the saved adapter on it, and compare with the model in memory.

    They are equal bit by bit, unless the model was merged since: undoing it rounds once more.
    """
    kind = next(p.dtype for p in model.parameters() if not p.requires_grad)
    base = AutoModelForCausalLM.from_pretrained(settings.model, dtype=kind)  # (1)!
    base_bytes = 2 * base.num_parameters()
    saved = PeftModel.from_pretrained(base.to(model.device), settings.output)  # (2)!
    return {
        "bytes": (settings.output / "adapter_model.safetensors").stat().st_size,  # (3)!
        "base_bytes": base_bytes,
        "reloaded": (logits(saved, row) - logits(model, row)).abs().max().item(),
    }
    # --8<-- [end:reload]


# --8<-- [start:two]
def add_second(model: PeftModel, tokenizer: PreTrainedTokenizerBase, settings: Settings) -> None:
    """Give the same base a second adapter, which learns to end its answers about capitals."""
    rows = [
        full.encode(
            {"instruction": f["question"], "context": "", "response": f["answer"]}, tokenizer
        )
        for f in facts()
    ]
    model.add_adapter("capitals", adapter(settings))  # (1)!
    model.set_adapter("capitals")  # (2)!
    for _ in loop.fit(model, rows, replace(settings, epochs=3), tokenizer.pad_token_id):
        pass


def ask_both(model: PeftModel, tokenizer: PreTrainedTokenizerBase, rows: list[dict]) -> str:
    """Put the same questions to the base and to each adapter."""
    lines = []
    for row in rows:
        lines += ["", row["context"] or row["instruction"]]
        with model.disable_adapter():
            lines.append(f"  base:      {full.generate(model, tokenizer, row)[:60]!r}")
        for name in ("default", "capitals"):
            model.set_adapter(name)  # (3)!
            lines.append(f"  {name + ':':10} {full.generate(model, tokenizer, row)}")
    return "\n".join(lines[1:])
    # --8<-- [end:two]


def check_memory(card: guard.Card, config: PretrainedConfig, settings: Settings) -> None:
    """Predict the peak on a GPU before any weight is loaded; refuse what cannot fit."""
    if card.device == "cpu":
        return
    shape = guard.find_shape(config.to_dict())
    if not shape:
        return
    run = Run(
        shape,
        method="lora",
        rank=settings.rank,
        rows=settings.batch_size,
        length=settings.max_tokens,
    )
    needed = predict(run).total
    print(f"memory predicted: {needed / 1e9:.1f} GB")
    guard.check_fits(
        card, needed, "lower --batch-size or --max-tokens, or choose a smaller --model"
    )


def costs(settings: Settings, card: guard.Card, model: PeftModel, tokenizer, rows: list) -> dict:
    """Measure the held-out loss before and after, and the peak of a step beside its prediction."""
    collate = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=8, return_tensors="pt")
    base = load(settings, card)[1].to(model.device)
    model.set_adapter("default")
    losses = {
        "loss_before": record.held_out_loss(base, rows[1], collate),
        "loss_after": record.held_out_loss(model, rows[1], collate),
    }
    fresh = attach(base, settings)
    return losses | record.memory(fresh, rows[0], collate, settings.batch_size, settings.rank)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_training_parser(__doc__)
    parser.add_argument("--rank", type=int, help="alpha follows: twice the rank")
    return guard.check_record(guard.check_options(parser.parse_args(argv)))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    settings = choose_batch(TINY if options.tiny else Settings(), options)
    if settings.rank < 1:
        guard.stop(f"--rank is {settings.rank}", "choose 1 or more; 8 and 16 are usual")
    return replace(settings, alpha=2 * settings.rank)


def difference_table(found: dict[str, float]) -> str:
    """Show the largest difference that each operation makes."""
    return "\n".join(
        [
            "largest difference of the logits",
            f"  base and model, adapter on    {found['on']:10.2e}",
            f"  base and model, adapter off   {found['off']:10.2e}",
            f"  adapter beside and merged     {found['merged']:10.2e}",
            f"  before merging, after undoing {found['unmerged']:10.2e}",
            f"  in memory and reloaded        {found['reloaded']:10.2e}",
            "largest difference of a weight of the first q_proj",
            f"  merged                        {found['moved']:10.2e}",
            f"  merged, then undone           {found['left']:10.2e}",
            "size on disk",
            f"  adapter (fp32)                {found['bytes']:10,} bytes",
            f"  base (16 bits)                {found['base_bytes']:10,} bytes",
        ]
    )


def main(argv: list[str] | None = None) -> None:
    """Check, load, attach, train, and show what an adapter is."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    guard.hush()
    card = guard.find_card(options.tiny)
    last = guard.last_checkpoint(settings.output, options.resume)
    with guard.explain("model", settings.model):
        check_memory(card, AutoConfig.from_pretrained(settings.model), settings)
    set_seed(settings.seed)
    tokenizer, base = load(settings, card)
    base.to(card.device)
    parts = read(settings.data)
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    before = logits(base, rows[1][0])
    measures = {"before": full.measure(base, tokenizer, rows[1])} if options.tiny else {}

    model = attach(base, settings)
    record.show(check_count(model, settings), folder, "parameters.txt")
    guard.check_disk(settings.output, count(model)["trained"])
    log = full.launch(model, tokenizer, rows, full.arguments(settings, card), last)
    sizes = record.sizes(model, rows, log) | {"trained": count(model)["trained"]}
    record.show(record.loss_table(log), folder, "train.txt")

    found = compare_off(model, before, rows[1][0]) | compare_merged(model, rows[1][0])
    found |= reload(settings, model, rows[1][0])
    record.show(difference_table(found), folder, "differences.txt")
    if not options.tiny:
        return
    measures["after"] = full.measure(model, tokenizer, rows[1])
    with model.disable_adapter():
        measures["adapter_off"] = full.measure(model, tokenizer, rows[1])
    shown = {k.removeprefix("adapter_"): values for k, values in measures.items()}
    record.show(record.measure_table(shown), folder, "measures.txt")
    add_second(model, tokenizer, settings)
    questions = [{"instruction": f["question"], "context": ""} for f in facts()[:3]]
    record.show(ask_both(model, tokenizer, parts[1][:2] + questions), folder, "two.txt")
    if folder:
        sizes |= costs(settings, card, model, tokenizer, rows)
        facts_of_run = {"peft": version("peft")} | record.settings(settings) | sizes
        record.write(folder, facts_of_run | measures | found | record.history(log))


if __name__ == "__main__":
    main()
