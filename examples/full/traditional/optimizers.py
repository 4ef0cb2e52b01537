"""Measure what optimisers keep for each parameter, as Trainer configures them.

    python examples/full/traditional/optimizers.py --record

One decoder layer with matrices of up to 1024 x 4096 makes one step with each optimiser; then the
bytes of its state are counted. On the processor, without a network, in a few seconds.
"""

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record

# isort: split
import torch
from transformers import LlamaConfig, Trainer, TrainingArguments
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Choice:
    """An optimiser by Trainer's name for it, and the type of the weights that it is given."""

    id: str
    name: str
    optim: str
    optim_args: str = ""
    dtype: torch.dtype = torch.float32


CHOICES = (
    Choice("adamw", "AdamW", "adamw_torch_fused"),
    Choice("adamw-bf16", "AdamW, bf16 weights", "adamw_torch_fused", dtype=torch.bfloat16),
    Choice("adamw-8bit", "AdamW, 8-bit", "adamw_bnb_8bit"),
    Choice("adafactor", "Adafactor", "adafactor"),
    Choice("sgd-momentum", "SGD with momentum", "sgd", "momentum=0.9"),
    Choice("sgd", "SGD", "sgd"),
)


def build_layer(dtype: torch.dtype) -> LlamaDecoderLayer:
    """Build one decoder layer with matrices of realistic shapes."""
    config = LlamaConfig(
        hidden_size=1024,
        intermediate_size=4096,
        num_attention_heads=16,
        num_key_value_heads=4,
    )
    return LlamaDecoderLayer(config, layer_idx=0).to(dtype)


def build_optimizer(choice: Choice, layer: torch.nn.Module) -> torch.optim.Optimizer:
    """Build the optimiser that Trainer would."""
    with TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, optim=choice.optim, optim_args=choice.optim_args, use_cpu=True
        )
    kind, options = Trainer.get_optimizer_cls_and_kwargs(arguments)
    return kind(layer.parameters(), **options)


def state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Count the bytes of all tensors of the state, those that parameters share only once."""
    storages = {}
    for state in optimizer.state.values():
        for value in state.values():
            if torch.is_tensor(value):
                storage = value.untyped_storage()
                storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def measure(choice: Choice) -> dict:
    """Make one step, so that the state exists, and count its bytes per parameter."""
    layer = build_layer(choice.dtype)
    optimizer = build_optimizer(choice, layer)
    for parameter in layer.parameters():
        parameter.grad = torch.full_like(parameter, 1e-3)
    optimizer.step()
    parameters = sum(p.numel() for p in layer.parameters())
    size = state_bytes(optimizer)
    row = asdict(choice) | {"dtype": str(choice.dtype).removeprefix("torch.")}
    return row | {"parameters": parameters, "bytes": size, "bytes_per_parameter": size / parameters}


def write_table(rows: list[dict]) -> str:
    """Write the measures for reading."""
    lines = [f"{'optimiser':21} {'weights':9} {'optim=':18} {'bytes/parameter':>15}"]
    for row in rows:
        size = row["bytes_per_parameter"]
        lines.append(f"{row['name']:21} {row['dtype']:9} {row['optim']:18} {size:15.4f}")
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Measure all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--record", action="store_true", help="refresh optimizers.json and outputs/"
    )
    options = parser.parse_args(argv)
    guard.hush()
    folder = HERE if options.record else None
    rows = [measure(choice) for choice in CHOICES]
    record.show(write_table(rows), folder, "optimizers.txt")
    if folder:
        record.write(folder, {"optimizers": rows}, "optimizers.json")


if __name__ == "__main__":
    main()
