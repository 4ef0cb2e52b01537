"""QLoRA: the base sleeps in 4 bits, and an adapter beside it learns in full precision.

Chapter peft/qlora of the course. Machine, command, and the memory that the run then needs, beside
what LoRA would need for the same rows of the same model (examples/peft/lora/train.py):

    any computer, no network   python examples/peft/qlora/train.py --tiny         QLoRA       LoRA
    16 GB, such as a free T4   python examples/peft/qlora/train.py               13.6 GB   20.1 GB
    24 GB                      --model Qwen/Qwen3-14B-Base --batch-size 4        21.6 GB   36.0 GB
    80 GB                      --model Qwen/Qwen2.5-72B --batch-size 4           60.9 GB  156.1 GB

The memory is predicted, by examples/memory, before any weight is loaded: 0.516 B/parameter of the
linear layers (NF4, double quantization), 2 of the embeddings, the output layer and the norms, and 2
more once they are cast to fp32; 4 + 4 + 2.03 B/parameter of the adapter; logits, activations, CUDA.
Rows, task and loop are those of examples/full/traditional/train.py; the default data set is
databricks-dolly-15k, CC BY-SA 3.0. With --tiny bitsandbytes really quantizes, on the processor.
"""

import argparse
import gc
import sys
import warnings
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_batch, make_training_parser

# isort: split
import torch
from bitsandbytes.nn import Linear4bit
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    BitsAndBytesConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    TrainingArguments,
    set_seed,
)

from peft import PeftModel, prepare_model_for_kbit_training

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `peft` itself is the library
from lora import train as lora
from lora.sweep import validation_loss
from quantization import lab

from common.peak import step_peak
from common.rows import read
from full.traditional import loop
from full.traditional import train as full
from memory import Run, Shape, count_lora, count_parameters, predict, read_config, saved_bytes
from memory.recipes import nf4_bytes

HERE = Path(__file__).resolve().parent
KINDS = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
STATES = {"adamw_torch": "adamw", "paged_adamw_8bit": "adamw-8bit"}  # as examples/memory has them


# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings(lora.Settings):
    """What differs from LoRA."""

    model: str = "Qwen/Qwen3-8B-Base"  # (1)!
    output: Path = Path("output/qlora")
    epochs: float = 1
    batch_size: int = 2
    accumulation: int = 8
    optimizer: str = "paged_adamw_8bit"  # (2)!
    keep_16_bits: bool = False  # (3)!


TINY = Settings(
    **vars(lora.TINY) | {"output": Path("output/qlora-tiny"), "optimizer": "adamw_torch"}  # (4)!
)
# --8<-- [end:settings]


# --8<-- [start:quantization]
def quantization(card: guard.Card) -> BitsAndBytesConfig:
    """Ask for what the paper calls QLoRA: none of these four is the default."""
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",  # (1)!
        bnb_4bit_use_double_quant=True,  # (2)!
        bnb_4bit_compute_dtype=KINDS[card.precision],  # (3)!
    )


def place(card: guard.Card) -> dict[str, int | str]:
    """Name the device of the whole model: a GPU by its number, which Trainer compares."""
    return {"": "cpu" if card.device == "cpu" else 0}


def load(settings: Settings, card: guard.Card) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    """Load the tokenizer, and the base: each linear layer is quantized as it arrives."""
    tokenizer = full.load_tokenizer(settings)
    with guard.explain("model", settings.model), guard.explain_memory():
        model = AutoModelForCausalLM.from_pretrained(
            settings.model,
            dtype=torch.float16 if card.precision == "fp16" else torch.bfloat16,  # (4)!
            quantization_config=quantization(card),
            device_map=place(card),  # (5)!
        )
    keep_gradients(model)
    return tokenizer, model
    # --8<-- [end:quantization]


def keep_gradients(model: PreTrainedModel) -> None:
    """Keep the 4-bit layers in the layout that has a backward pass, also after an evaluation.

    On processors with AVX512-BF16, bitsandbytes 0.50.2 packs the weights anew at the first
    evaluation; from then on no gradient goes through these layers, in training either.
    """
    for module in model.modules():
        if isinstance(module, Linear4bit):
            module.support_avx512bf16_for_cpu = False


def settings_table() -> str:
    """Show what the library does when it is not told, and what is asked for here, by card."""
    cards = {"T4": "fp16", "L4, A100, H100": "bf16", "processor": "fp32"}
    asked = {name: quantization(guard.Card(name, 0, kind)) for name, kind in cards.items()}
    columns = {"default": BitsAndBytesConfig(load_in_4bit=True)} | asked
    lines = [f"{'':20}" + "".join(f"{name:>16}" for name in columns)]
    names = {
        "bnb_4bit_quant_type": "4-bit type",
        "bnb_4bit_compute_dtype": "computes in",
        "bnb_4bit_use_double_quant": "double quantization",
    }
    for key, name in names.items():
        values = [getattr(config, key) for config in columns.values()]
        cells = [{True: "yes", False: "no"}.get(value, str(value)) for value in values]
        lines.append(f"{name:20}" + "".join(f"{c.removeprefix('torch.'):>16}" for c in cells))
    return "\n".join(lines)


# --8<-- [start:prepare]
def prepare(model: PreTrainedModel, settings: Settings) -> PreTrainedModel:
    """Freeze the base and recompute its activations; as PEFT does it, or without its cast."""
    if not settings.keep_16_bits:
        return prepare_model_for_kbit_training(  # (1)!
            model, gradient_checkpointing_kwargs={"use_reentrant": False}
        )
    model.requires_grad_(False)
    model.enable_input_require_grads()  # (2)!
    model.activation_checkpointing_enable()  # (3)!
    return model


def attach(model: PreTrainedModel, settings: Settings) -> PeftModel:
    """Put LoRA on every linear layer but the output; its matrices are fp32."""
    return lora.attach(model, settings)  # (4)!
    # --8<-- [end:prepare]


# --8<-- [start:arguments]
def arguments(settings: Settings, card: guard.Card) -> TrainingArguments:
    """State what differs from the full run: the optimiser."""
    return replace(
        full.arguments(settings, card),
        optim=settings.optimizer,  # (1)!
        activation_checkpointing=True,  # (2)!
    )
    # --8<-- [end:arguments]


# --8<-- [start:layers]
def held(model: PreTrainedModel) -> list[dict]:
    """List what the base holds, by kind of layer: parameters, type, bytes."""
    for module in model.modules():
        if isinstance(module, Linear4bit):
            assert module.weight.dtype == torch.uint8  # (1)!
            assert module.weight.quant_state.quant_type == "nf4"
    assert not isinstance(model.get_output_embeddings(), Linear4bit)  # (2)!
    return lab.inventory(model)  # (3)!
    # --8<-- [end:layers]


def layer_table(before: list[dict], after: list[dict]) -> str:
    """Show each kind of layer as loaded and as prepared for training."""
    lines = [f"{'':14}{'parameters':>14}  {'loaded':>10}{'bits':>8}   {'prepared':>10}{'bits':>8}"]
    for old, new in zip(before, after, strict=True):
        bits = [8 * row["bytes"] / row["parameters"] for row in (old, new)]
        cells = f"{old['type']:>10}{bits[0]:8.3f}   {new['type']:>10}{bits[1]:8.3f}"
        lines.append(f"{old['id']:14}{old['parameters']:14,}  {cells}")
    sizes = [total(before), total(after)]
    lines.append(f"{'bytes':14}{'':14}  {sizes[0]:18,}   {sizes[1]:18,}")
    lines.append(f"the cast to fp32 adds {sizes[1] - sizes[0]:,} bytes")
    return "\n".join(lines)


def total(rows: list[dict]) -> int:
    """Add up the bytes of an inventory."""
    return sum(row["bytes"] for row in rows)


# --8<-- [start:memory]
def rest(shape: Shape) -> int:
    """Count the parameters that stay out of 4 bits: embeddings, output layer, norms, biases."""
    counts = count_parameters(shape)
    return counts.total - counts.linear


def cast_bytes(shape: Shape) -> int:
    """Return what the cast to fp32 adds: 2 bytes for all that is not in 4 bits."""
    return 2 * rest(shape)


def autocast_bytes(run: Run) -> int:
    """Return what the cast costs besides, where the rest of the model computes in 16 bits.

    The output layer makes a 16-bit copy of itself, kept until backward; between the layers the
    hidden states are in fp32 too.
    """
    copy = 2 * run.shape.vocabulary * run.shape.hidden  # (1)!
    sizes = (run.shape, run.rows, run.length)
    wide, narrow = (saved_bytes(*sizes, kind, recompute=True) for kind in ("autocast", "bf16"))
    return copy + wide - narrow


def needed(shape: Shape, settings: Settings, card: guard.Card, **sizes: int) -> int:
    """Predict the peak, in bytes."""
    run = Run(
        shape,
        method="qlora",
        precision="fp32" if card.precision == "fp32" else "mixed",
        optimizer=STATES[settings.optimizer],  # (2)!
        rank=settings.rank,
        **{"rows": settings.batch_size, "length": settings.max_tokens} | sizes,
    )
    size = predict(run).total
    if settings.keep_16_bits:
        return size
    return size + cast_bytes(shape) + (autocast_bytes(run) if run.precision == "mixed" else 0)
    # --8<-- [end:memory]


def fitting(shape: Shape, settings: Settings, card: guard.Card) -> str:
    """Find the setting nearest to the wanted one that fits, or say which model would."""
    keep = " --keep-16-bits" if settings.keep_16_bits else ""
    while settings.batch_size > 1 or settings.max_tokens > 64:
        if settings.batch_size > 1:
            settings = replace(settings, batch_size=settings.batch_size // 2)
        else:
            settings = replace(settings, max_tokens=settings.max_tokens // 2)
        options = f"--batch-size {settings.batch_size} --max-tokens {settings.max_tokens}"
        if needed(shape, settings, card) <= card.memory:
            return f"this fits: {options}{keep}"
        if needed(shape, replace(settings, keep_16_bits=True), card) <= card.memory:
            return f"this fits: {options} --keep-16-bits"
    return "choose a smaller model with --model"


def check_memory(card: guard.Card, settings: Settings) -> None:
    """Predict the peak on a GPU before any weight is loaded; refuse what cannot fit."""
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model).to_dict()
    if card.device == "cpu":
        return
    shape = guard.find_shape(config)
    if not shape:
        return
    size = needed(shape, settings, card)
    other = Run(shape, method="lora", rank=settings.rank, rows=settings.batch_size)
    other = predict(replace(other, length=settings.max_tokens)).total
    print(f"memory predicted: {size / 1e9:.1f} GB; LoRA would need {other / 1e9:.1f} GB")
    if size > card.memory:
        guard.check_fits(card, size, fitting(shape, settings, card))


def measure_peak(model: PeftModel, rows: list[dict], pad: int) -> tuple[int, int]:
    """Train two steps on the same rows, and count the bytes of the second; return the length too.

    The steps are of the size of those before, at a rate that changes nothing.
    """
    batch = {key: value.to(model.device) for key, value in loop.collate(rows, pad).items()}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.0)

    def step() -> None:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    model.train()
    step()
    return step_peak(model, step), batch["input_ids"].shape[1]


def memory_table(found: dict[str, dict[str, int]]) -> str:
    """Show what was predicted beside what was measured."""
    lines = [f"bytes{'':33}{'predicted':>12}{'measured':>12}{'ratio':>8}"]
    for name, row in found.items():
        ratio = row["measured"] / row["predicted"]
        lines.append(f"{name:38}{row['predicted']:12,}{row['measured']:12,}{ratio:8.3f}")
    return "\n".join(lines)


# --8<-- [start:reload]
def reload(settings: Settings, card: guard.Card, expected: torch.Tensor, row: dict) -> float:
    """Quantize the base afresh, put the saved adapter on it, and compare its logits."""
    _, base = load(settings, card)
    saved = PeftModel.from_pretrained(prepare(base, settings), settings.output)  # (1)!
    return (lora.logits(saved, row) - expected).abs().max().item()  # (2)!
    # --8<-- [end:reload]


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_training_parser(__doc__)
    parser.add_argument("--rank", type=int, help="alpha follows: twice the rank")
    parser.add_argument(
        "--keep-16-bits",
        action="store_true",
        default=None,
        help="no fp32 cast of embeddings, output layer and norms: less memory, less exact",
    )
    return guard.check_record(guard.check_options(parser.parse_args(argv)))


def choose(options: argparse.Namespace) -> Settings:
    """Combine the defaults with what the command line asks for."""
    settings = choose_batch(TINY if options.tiny else Settings(), options)
    if settings.rank < 1:
        guard.stop(f"--rank is {settings.rank}", "choose 1 or more; 8 and 16 are usual")
    return replace(settings, alpha=2 * settings.rank)


def main(argv: list[str] | None = None) -> None:
    """Check, load in 4 bits, prepare, attach, train, and show what it took."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    guard.hush()
    warnings.filterwarnings("ignore", "`(is_)?gradient_checkpointing", FutureWarning)  # PEFT's
    card = guard.find_card(options.tiny)
    last = guard.last_checkpoint(settings.output, options.resume)
    check_memory(card, settings)
    set_seed(settings.seed)
    tokenizer, base = load(settings, card)
    record.show(settings_table(), folder, "settings.txt")
    parts = read(settings.data)
    rows = [full.encode_all(part, tokenizer, settings.max_tokens) for part in parts]
    pad = tokenizer.pad_token_id
    loaded = held(base)
    prepared = held(prepare(base, settings))
    record.show(layer_table(loaded, prepared), folder, "layers.txt")
    if options.tiny:
        measures = {"before": full.measure(base, tokenizer, rows[1])}
        losses = {"loss_before": validation_loss(base, rows[1], pad)}

    model = attach(base, settings)
    trained = lora.count(model)["trained"]
    guard.check_disk(settings.output, trained)
    log = full.launch(model, tokenizer, rows, arguments(settings, card), last)
    record.show(record.loss_table(log), folder, "train.txt")
    expected = lora.logits(model, rows[1][0])
    if not options.tiny:
        print(f"peak of the training: {record.peak_memory() / 1e9:.1f} GB, without CUDA itself")
        del base, model  # there may be no room for a second one
        gc.collect()
        torch.cuda.empty_cache()
    difference = reload(settings, card, expected, rows[1][0])
    print(f"reloaded: the logits differ by at most {difference}")
    if not options.tiny:
        return
    measures["after"] = full.measure(model, tokenizer, rows[1])
    losses["loss_after"] = validation_loss(model, rows[1], pad)
    lines = [record.measure_table(measures), ""]
    lines += [f"loss of the validation rows: {losses['loss_before']:.3f} before"]
    lines[-1] += f", {losses['loss_after']:.3f} after"
    record.show("\n".join(lines), folder, "measures.txt")

    shape = read_config(model.config.to_dict())
    peak, length = measure_peak(model, rows[0][: settings.batch_size], pad)
    counted = nf4_bytes(count_parameters(shape).linear) + 2 * rest(shape)
    cast = cast_bytes(shape)
    memory = {
        "base, loaded": {"predicted": counted, "measured": total(loaded)},
        "cast to fp32": {"predicted": cast, "measured": total(prepared) - total(loaded)},
        "adapter": {
            "predicted": 4 * count_lora(shape, settings.rank),
            "measured": sum(p.nbytes for p in model.parameters() if p.requires_grad),
        },
        f"a step of {settings.batch_size} rows of {length} tokens": {
            "predicted": needed(shape, settings, card, length=length, context=0),
            "measured": peak,
        },
    }
    record.show(memory_table(memory), folder, "memory.txt")
    if folder:
        sizes = record.sizes(model, rows, log) | {"trained": trained} | losses
        sizes |= {"peak_memory_bytes": peak, "predicted_memory_bytes": needed_of(memory)}
        versions = {"peft": version("peft"), "bitsandbytes": version("bitsandbytes")}
        found = {"loaded": loaded, "prepared": prepared, "memory": memory, "reloaded": difference}
        record.write(
            folder,
            versions | record.settings(settings) | sizes | measures | found | record.history(log),
        )


def needed_of(memory: dict[str, dict[str, int]]) -> int:
    """Return the prediction of the last row: the whole step."""
    return list(memory.values())[-1]["predicted"]


if __name__ == "__main__":
    main()
