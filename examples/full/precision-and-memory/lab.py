"""The laboratory of number types: what fp32, bf16 and fp16 can hold, and what training loses there.

Chapter full/precision-and-memory of the course. Its other program, levers.py, is about memory.

    python examples/full/precision-and-memory/lab.py --tiny      any computer, no network, a minute
    python examples/full/precision-and-memory/lab.py             a 24 GB card that computes in bf16
    python examples/full/precision-and-memory/lab.py --model Qwen/Qwen3-4B-Base    an 80 GB card

Memory: that of full fine-tuning, 16 B/parameter and 2 of 16-bit copies, then logits and activations
(Qwen2.5-0.5B 14 GB, Qwen3-4B 78 GB); examples/memory predicts it before any weight is loaded. A
free T4 computes no bf16: there, --tiny shows the same on its processor.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, record
from common.options import choose_settings, make_parser
from common.rows import read

# isort: split
import torch
from transformers import AutoConfig, set_seed
from transformers.utils import logging

from full.traditional import loop, train

HERE = Path(__file__).resolve().parent
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
RATE = 1e-5  # of the three trainings: usual for full fine-tuning, too small for bf16 weights


# --8<-- [start:types]
def describe(name: str) -> dict:
    """Return what a type can hold, from the bits of its exponent and of its fraction."""
    info = torch.finfo(TYPES[name])
    fraction = round(-math.log2(info.eps))  # (1)!
    return {
        "id": name,
        "bytes": info.bits // 8,
        "exponent_bits": info.bits - 1 - fraction,  # (2)!
        "fraction_bits": fraction,
        "max": info.max,
        "eps": info.eps,
        "smallest_normal": info.smallest_normal,
    }


Example = Callable[[torch.dtype], torch.Tensor]
EXAMPLES: dict[str, Example] = {
    "70000": lambda kind: torch.tensor(70_000.0, dtype=kind),  # (3)!
    "1e-8": lambda kind: torch.tensor(1e-8, dtype=kind),  # (4)!
    "1 + 0.001": lambda kind: torch.tensor(1.0, dtype=kind) + 0.001,  # (5)!
    "0.01 - 0.00002": lambda kind: torch.tensor(0.01, dtype=kind) - 2e-5,
    "1 added 1000 times": lambda kind: add_ones(1000, kind),  # (6)!
}
# --8<-- [end:types]


def add_ones(times: int, kind: torch.dtype) -> torch.Tensor:
    """Count up from zero, as a sum kept in this type does."""
    total, one = torch.zeros((), dtype=kind), torch.ones((), dtype=kind)
    for _ in range(times):
        total += one
    return total


def example_rows() -> list[dict]:
    """Compute every example in every type."""
    return [
        {"id": name} | {kind: example(dtype).item() for kind, dtype in TYPES.items()}
        for name, example in EXAMPLES.items()
    ]


def type_table(types: list[dict], examples: list[dict]) -> str:
    """Write the types, then the examples."""
    lines = ["type   bytes  exponent  fraction        max        eps  smallest normal"]
    for row in types:
        lines.append(
            f"{row['id']:6}{row['bytes']:6}{row['exponent_bits']:10}{row['fraction_bits']:10}"
            f"{row['max']:11.2e}{row['eps']:11.2e}{row['smallest_normal']:17.2e}"
        )
    lines += ["", f"{'':20}" + "".join(f"{name:>12}" for name in TYPES)]
    for row in examples:
        lines.append(f"{row['id']:20}" + "".join(f"{row[name]:12.6g}" for name in TYPES))
    return "\n".join(lines)


# --8<-- [start:updates]
WEIGHTS = 100_000  # drawn from N(0, 0.02), as a fresh model's
STEPS = 100
RATES = (1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3)
CHANCE_RATES = (1e-6, 1e-5, 1e-4)


def move(dtype: torch.dtype, rate: float, seed: int) -> dict[str, float]:
    """Make 100 equal steps of AdamW; return the share of weights that moved, and how far."""
    draw = torch.Generator().manual_seed(seed)
    start = (0.02 * torch.randn(WEIGHTS, generator=draw)).to(dtype)
    gradient = 0.01 * torch.randn(WEIGHTS, generator=draw).sign()  # (1)!
    weights = torch.nn.Parameter(start.clone())
    optimizer = torch.optim.AdamW([weights], lr=rate, weight_decay=0.0)
    for _ in range(STEPS):
        weights.grad = gradient.to(dtype)
        optimizer.step()
    moved = (weights.detach() - start).float().abs()
    return {"share": (moved > 0).float().mean().item(), "path": moved.mean().item() / rate / STEPS}


def predict_share(rate: float) -> float:
    """Return the share of N(0, 0.02) weights for which a step is over half a step of bf16.

    A weight between 2**k and 2**(k + 1) has neighbours at 2**(k - 7): a step below 2**(k - 8) is
    rounded away. So all weights below a power of two move, and none above.
    """
    power = math.ceil(math.log2(rate) + 8)  # (2)!
    return math.erf(2**power / 0.02 / math.sqrt(2))
    # --8<-- [end:updates]


def update_rows(seed: int) -> dict[str, list[dict]]:
    """Measure and predict for every learning rate: the points of a figure."""
    lines: dict[str, list[dict]] = {"fp32": [], "bf16": [], "predicted": []}
    for rate in RATES:
        for name in ("fp32", "bf16"):
            found = move(TYPES[name], rate, seed)
            lines[name].append({"x": rate, "y": found["share"], "path": found["path"]})
        lines["predicted"].append({"x": rate, "y": predict_share(rate)})
    return lines


def update_table(lines: dict[str, list[dict]]) -> str:
    """Write the shares for reading."""
    text = [
        f"{WEIGHTS:,} weights from N(0, 0.02), {STEPS} AdamW steps with a constant gradient",
        "learning rate   moved: fp32     bf16   predicted",
    ]
    for fp32, bf16, predicted in zip(*lines.values(), strict=True):
        text.append(f"{fp32['x']:13.0e}{fp32['y']:14.1%}{bf16['y']:9.1%}{predicted['y']:12.1%}")
    return "\n".join(text)


# --8<-- [start:moment]
def second_moment(dtype: torch.dtype, small: int = 5000) -> Iterator[tuple[int, float]]:
    """Follow AdamW's second moment through one large gradient, then small ones."""
    weight = torch.nn.Parameter(torch.zeros(1, dtype=dtype))
    optimizer = torch.optim.AdamW([weight], lr=1e-5)
    for step in range(small + 1):
        weight.grad = torch.full_like(weight, 14.0 if step == 0 else 0.01)  # (1)!
        optimizer.step()
        yield step, optimizer.state[weight]["exp_avg_sq"].item()  # (2)!
        # --8<-- [end:moment]


def moment_rows() -> dict[str, list[dict]]:
    """Return the second moment every 100 steps, in both types."""
    return {
        name: [{"x": x, "y": y} for x, y in second_moment(TYPES[name]) if x % 100 == 0]
        for name in ("fp32", "bf16")
    }


def moment_table(lines: dict[str, list[dict]]) -> str:
    """Write what is left of the large gradient."""
    text = [
        "second moment after a gradient of 14, then gradients of 0.01",
        "steps      fp32      bf16   step of bf16 against that of fp32",
    ]
    for fp32, bf16 in list(zip(lines["fp32"], lines["bf16"], strict=True))[::10]:
        ratio = math.sqrt(fp32["y"] / bf16["y"])
        text.append(f"{fp32['x']:5}{fp32['y']:10.4f}{bf16['y']:10.4f}{ratio:14.2f}")
    return "\n".join(text)


# --8<-- [start:stochastic]
def round_by_chance(values: torch.Tensor, draw: torch.Generator) -> torch.Tensor:
    """Round fp32 to bf16 up or down, by a chance that makes it right on average."""
    bits = values.view(torch.int32)
    noise = torch.randint(0, 2**16, bits.shape, generator=draw, dtype=torch.int32)  # (1)!
    noise = noise.to(values.device)
    return ((bits + noise) & -(2**16)).view(torch.float32).bfloat16()  # (2)!


class ChanceAdamW:
    """AdamW for bf16 weights: its states and its arithmetic are fp32, and it rounds by chance."""

    def __init__(self, parameters: list[torch.nn.Parameter], rate: float, seed: int) -> None:
        """Keep an fp32 twin of one parameter at a time; between steps, only the moments stay."""
        self.parameters, self.draw = parameters, torch.Generator().manual_seed(seed)
        self.moments = [torch.zeros(2, *p.shape, device=p.device) for p in parameters]
        self.rate, self.steps = rate, 0

    @torch.no_grad()
    def step(self) -> None:
        """Make one step of AdamW without weight decay (Kingma and Ba, arXiv 1412.6980)."""
        self.steps += 1
        for parameter, (first, second) in zip(self.parameters, self.moments, strict=True):
            gradient = parameter.grad.float()
            first.lerp_(gradient, 1 - 0.9)
            second.lerp_(gradient.square(), 1 - 0.999)
            first_now = first / (1 - 0.9**self.steps)
            second_now = second / (1 - 0.999**self.steps)
            wanted = parameter.float() - self.rate * first_now / (second_now.sqrt() + 1e-8)
            parameter.copy_(round_by_chance(wanted, self.draw))  # (3)!
            # --8<-- [end:stochastic]

    def zero_grad(self) -> None:
        """Let go of the gradients."""
        for parameter in self.parameters:
            parameter.grad = None


def chance_row(rate: float, seed: int) -> dict[str, float]:
    """Repeat the experiment of the small updates with rounding by chance."""
    draw = torch.Generator().manual_seed(seed)
    start = (0.02 * torch.randn(WEIGHTS, generator=draw)).bfloat16()
    gradient = 0.01 * torch.randn(WEIGHTS, generator=draw).sign()
    weights = torch.nn.Parameter(start.clone())
    optimizer = ChanceAdamW([weights], rate, seed)
    for _ in range(STEPS):
        weights.grad = gradient.bfloat16()
        optimizer.step()
    path = ((start.float() - weights.detach().float()) * gradient.sign()).mean().item()
    return {"x": rate, "path": path / rate / STEPS}


def chance_table(rows: list[dict], lines: dict[str, list[dict]]) -> str:
    """Write how far the weights went on average, of the way that 100 steps should make."""
    text = ["way made, of the way wanted", "learning rate      fp32      bf16   bf16, by chance"]
    plain = {name: {p["x"]: p["path"] for p in lines[name]} for name in ("fp32", "bf16")}
    for row in rows:
        fp32, bf16 = (plain[name][row["x"]] for name in ("fp32", "bf16"))
        text.append(f"{row['x']:13.0e}{fp32:10.1%}{bf16:10.1%}{row['path']:18.1%}")
    return "\n".join(text)


# --8<-- [start:train]
@dataclass(frozen=True)
class Way:
    """A way to train: the type of the weights, whether autocast is on, how steps are rounded."""

    id: str
    name: str
    weights: torch.dtype
    autocast: bool = False
    by_chance: bool = False


WAYS = (
    Way("mixed", "fp32 weights, bf16 autocast", torch.float32, autocast=True),
    Way("bf16", "bf16 weights, gradients, states", torch.bfloat16),
    Way("by-chance", "bf16 weights, rounded by chance", torch.bfloat16, by_chance=True),
)


def fit(way: Way, model, rows: list[dict], settings: train.Settings, steps: int, pad: int):
    """Train a few steps at a constant rate; yields the loss of each step."""
    weights = list(model.to(way.weights).parameters())
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    if way.by_chance:
        optimizer = ChanceAdamW(weights, settings.learning_rate, settings.seed)
    model.train()
    for step in range(steps):
        first = step * settings.batch_size % len(rows)
        batch = loop.collate(rows[first : first + settings.batch_size], pad)
        batch = {name: tensor.to(model.device) for name, tensor in batch.items()}
        with torch.autocast(model.device.type, torch.bfloat16, enabled=way.autocast):  # (1)!
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        yield loss.item()
        # --8<-- [end:train]


def moved_share(model, start: list[torch.Tensor]) -> float:
    """Return the share of weights that are no longer what they were."""
    moved = [(p != s.to(p)).sum().item() for p, s in zip(model.parameters(), start, strict=True)]
    return sum(moved) / model.num_parameters()


@torch.no_grad()
def loss_on(model, rows: list[dict], pad: int) -> float:
    """Return the mean loss in fp32 on rows that were not trained on."""
    model.eval().float()
    batch = {k: v.to(model.device) for k, v in loop.collate(rows, pad).items()}
    return model(**batch).loss.item()


def train_rows(settings: train.Settings, steps: int, device: str) -> list[dict]:
    """Train the same model on the same rows in each way."""
    tokenizer = train.load(settings)[0]
    learnt, held_out = (
        train.encode_all(part, tokenizer, settings.max_tokens) for part in read(settings.data)
    )
    results = []
    for way in WAYS:
        set_seed(settings.seed)
        model = train.load(settings)[1].to(device)
        start = [parameter.detach().clone() for parameter in model.parameters()]
        before = loss_on(model, held_out, tokenizer.pad_token_id)
        losses = list(fit(way, model, learnt, settings, steps, tokenizer.pad_token_id))
        row = {"id": way.id, "name": way.name, "moved": moved_share(model, start)}
        row |= {"before": before, "after": loss_on(model, held_out, tokenizer.pad_token_id)}
        results.append(row | {"losses": [{"x": x, "y": y} for x, y in enumerate(losses, 1)]})
    return results


def train_table(rows: list[dict], settings: train.Settings, steps: int) -> str:
    """Write what each way learnt."""
    lines = [
        f"{steps} steps of {settings.batch_size} rows at {settings.learning_rate:.0e}",
        f"{'':36}moved   validation loss before   after",
    ]
    for row in rows:
        lines.append(f"{row['name']:33}{row['moved']:8.1%}{row['before']:25.3f}{row['after']:8.3f}")
    return "\n".join(lines)


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--model", help="folder or name on the Hub")
    parser.add_argument("--data", help="folder, file, or name on the Hub, as train.py reads it")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--learning-rate", type=float, help="of the three trainings")
    parser.add_argument("--steps", type=int, default=40, help="of the three trainings")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser.parse_args(argv)


def choose(options: argparse.Namespace) -> train.Settings:
    """Combine the settings of the traditional training with what the command line asks for."""
    default = replace(train.TINY if options.tiny else train.Settings(), learning_rate=RATE)
    return choose_settings(default, options)


def prepare(options: argparse.Namespace, settings: train.Settings) -> guard.Card:
    """Check all that can be checked before anything is computed."""
    if options.steps < 1:
        guard.stop(f"--steps is {options.steps}", "give at least 1")
    card = guard.find_card(options.tiny)
    if card.precision == "fp16":
        guard.stop(f"{card.name} computes no bfloat16", "add --tiny: the processor does")
    with guard.explain("model", settings.model):
        config = AutoConfig.from_pretrained(settings.model)
    guard.check_memory(card, config, settings.batch_size, settings.max_tokens)
    return card


def main(argv: list[str] | None = None) -> None:
    """Show the types, then what is lost in a step, in a moment and in a training."""
    options = read_options(argv)
    settings, folder = choose(options), HERE if options.record else None
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # else each load reports the tied output layer as missing
    card = prepare(options, settings)
    types, examples = [describe(name) for name in TYPES], example_rows()
    record.show(type_table(types, examples), folder, "types.txt")
    updates = update_rows(settings.seed)
    record.show(update_table(updates), folder, "updates.txt")
    moments = moment_rows()
    record.show(moment_table(moments), folder, "moment.txt")
    chance = [chance_row(rate, settings.seed) for rate in CHANCE_RATES]
    record.show(chance_table(chance, updates), folder, "chance.txt")
    trained = train_rows(settings, options.steps, card.device)
    record.show(train_table(trained, settings, options.steps), folder, "train.txt")
    if folder:
        facts = record.settings(settings) | {"types": types, "examples": examples}
        facts |= {f"updates_{name}": points for name, points in updates.items()}
        facts |= {f"moment_{name}": points for name, points in moments.items()}
        facts |= {f"losses_{row['id']}": row.pop("losses") for row in trained}
        record.write(folder, facts | {"chance": chance, "trained": trained})


if __name__ == "__main__":
    main()
