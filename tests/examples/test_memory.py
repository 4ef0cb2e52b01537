"""The memory formulas against real models: meta-device counts, saved tensors, optimiser states."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    PretrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

from common.peak import step_peak
from memory import PRESETS, RECIPES, Run, Shape, count_lora, count_parameters, predict, read_config
from memory.activations import logit_bytes, saved_bytes
from memory.calculator import describe
from memory.cards import CARDS
from memory.duration import seconds, seconds_at, training_operations
from memory.recipes import nf4_bytes, state_bytes

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Published on the models' cards.
PUBLISHED = {
    "smollm2-135m": 134_515_008,
    "qwen2.5-0.5b": 494_032_768,
    "qwen3-0.6b": 596_049_920,
    "tinyllama-1.1b": 1_100_048_384,
    "llama-3.2-1b": 1_235_814_400,
    "llama-2-7b": 6_738_415_616,
    "mistral-7b": 7_241_732_096,
    "qwen2.5-7b": 7_615_616_512,
    "llama-3.1-8b": 8_030_261_248,
    "qwen3-8b": 8_190_735_360,
}
TINY = Shape(128, 320, 4, 4, 2, 32, 2048, tied=True)
SHAPES = {
    "tiny": TINY,
    "wide vocabulary": replace(TINY, vocabulary=16_000, tied=False),
    "query norms": Shape(192, 512, 3, 6, 2, 48, 1000, query_norm=True),
    "query biases": Shape(192, 512, 3, 6, 3, 32, 1000, tied=True, query_bias=True),
}


def configure(shape: Shape) -> PretrainedConfig:
    """Return the transformers configuration of a shape."""
    family = LlamaConfig
    if shape.query_bias:
        family = Qwen2Config
    if shape.query_norm:
        family = Qwen3Config
    return family(
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        head_dim=shape.head_size,
        vocab_size=shape.vocabulary,
        tie_word_embeddings=shape.tied,
        use_cache=False,
    )


def make(shape: Shape, attention: str = "sdpa", dtype: torch.dtype = torch.float32):
    """Return a model with random weights, ready to train."""
    torch.manual_seed(0)
    config = configure(shape)
    return AutoModelForCausalLM.from_config(
        config, attn_implementation=attention, dtype=dtype
    ).train()


def measure_saved(model, shape: Shape, rows: int, length: int, autocast: bool = False) -> int:
    """Return the bytes of the storages that autograd keeps, the model's own apart."""
    own = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers())}
    seen: dict[int, int] = {}
    held = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and storage.data_ptr() not in seen:
            seen[storage.data_ptr()] = storage.nbytes()
            held.append(tensor)
        return tensor

    ids = torch.randint(0, shape.vocabulary, (rows, length))
    hooks = torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor)
    with hooks, torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        model(input_ids=ids, labels=ids)
    return sum(seen.values())


@pytest.mark.parametrize("name", PUBLISHED)
def test_counts_equal_the_model_and_its_card(name: str) -> None:
    shape = PRESETS[name]
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(configure(shape))
    assert count_parameters(shape).total == model.num_parameters() == PUBLISHED[name]


@pytest.mark.parametrize("compute", ["fp32", "bf16"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", SHAPES)
def test_activations_equal_the_saved_tensors(name: str, attention: str, compute: str) -> None:
    shape = SHAPES[name]
    dtype = torch.float32 if compute == "fp32" else torch.bfloat16
    measured = measure_saved(make(shape, attention, dtype), shape, 3, 40)
    assert saved_bytes(shape, 3, 40, compute, attention) == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize("name", SHAPES)
def test_autocast_adds_16_bit_copies_of_the_weights(name: str) -> None:
    shape = SHAPES[name]
    measured = measure_saved(make(shape), shape, 3, 40, autocast=True)
    counts = count_parameters(shape)
    copies = 2 * (counts.linear + counts.embedding)
    assert saved_bytes(shape, 3, 40, "autocast") + copies == pytest.approx(measured, rel=0.01)


@pytest.mark.parametrize("name", ["tiny", "query norms"])
def test_recomputing_keeps_one_input_a_layer(name: str) -> None:
    shape = SHAPES[name]
    model = make(shape)
    model.gradient_checkpointing_enable({"use_reentrant": False})
    measured = measure_saved(model, shape, 3, 40)
    assert saved_bytes(shape, 3, 40, "fp32", recompute=True) == pytest.approx(measured, rel=0.02)


@pytest.mark.parametrize(("recipe", "dtype"), [("mixed", torch.float32), ("bf16", torch.bfloat16)])
def test_static_bytes_are_those_of_a_real_step(recipe: str, dtype: torch.dtype) -> None:
    model = make(TINY, dtype=dtype)
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(0, TINY.vocabulary, (2, 16))
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    states = [one for state in optimizer.state.values() for one in state.values()]
    size = sum(one.numel() * one.element_size() for one in model.parameters())
    gradients = sum(one.grad.numel() * one.grad.element_size() for one in model.parameters())
    moments = sum(one.numel() * one.element_size() for one in states if one.ndim)
    expected = next(one for one in RECIPES if one.id == recipe)
    counted = model.num_parameters()
    found = (size / counted, gradients / counted, moments / counted)
    assert found == (expected.weights, expected.gradients, expected.states)
    run = Run(TINY, precision=recipe)
    budget = predict(run)
    assert (budget.weights, budget.gradients, budget.optimizer) == (size, gradients, moments)


def measure_step(shape: Shape, rows: int, length: int, pieces: int, run: Run) -> int:
    """Return the peak of the second step of a training with AdamW, as Trainer makes it."""
    model = make(shape, dtype=torch.bfloat16 if run.precision == "bf16" else torch.float32)
    if run.recompute:
        model.activation_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    ids = torch.randint(0, shape.vocabulary, (rows, length))

    def step() -> None:
        for _ in range(pieces):
            with torch.autocast("cpu", torch.bfloat16, enabled=run.precision == "mixed"):
                loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
        del loss
        optimizer.step()
        optimizer.zero_grad()

    step()
    return step_peak(model, step)


@pytest.mark.parametrize(
    ("size", "moment"), [((8, 64, 1), "loss"), ((1, 16, 1), "step"), ((2, 64, 4), "loss")]
)
@pytest.mark.parametrize("recompute", [False, True], ids=["stored", "recomputed"])
@pytest.mark.parametrize("precision", ["fp32", "bf16", "mixed"])
def test_the_peak_of_a_step_is_the_higher_of_two_moments(
    precision: str, recompute: bool, size: tuple[int, int, int], moment: str
) -> None:
    rows, length, pieces = size
    shape = replace(TINY, vocabulary=4096, tied=False)
    settings = {"precision": precision, "recompute": recompute, "accumulate": pieces > 1}
    run = Run(shape, rows=rows, length=length, context=0, **settings)
    budget = predict(run)
    assert budget.total == getattr(budget, f"at_{moment}")
    # Recomputing lets go of autocast's copies before the loss's own peak: a little less is needed.
    copies = budget.copies if recompute else 0
    peak = measure_step(shape, rows, length, pieces, run)
    assert peak * 0.98 <= budget.total <= peak * 1.02 + copies


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_gradients_of_a_table_that_serves_twice(precision: str) -> None:
    shape = replace(TINY, vocabulary=16_000)
    run = Run(shape, precision=precision, rows=1, length=16, accumulate=False, context=0)
    assert predict(run).total == pytest.approx(measure_step(shape, 1, 16, 1, run), rel=0.01)


@pytest.mark.parametrize(("precision", "dtype"), [("mixed", torch.bfloat16), ("fp32", None)])
def test_shared_weights_are_gathered_one_layer_at_a_time(
    precision: str, dtype: torch.dtype | None, tmp_path: Path
) -> None:
    shape = SHAPES["wide vocabulary"]
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    try:
        model, mesh = make(shape), init_device_mesh("cpu", (1,))
        policy, found = MixedPrecisionPolicy(dtype, reduce_dtype=torch.float32), []
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh, mp_policy=policy)
            layer.mlp.register_forward_hook(lambda *_: found.append(count_gathered(model)))
        fully_shard(model, mesh=mesh, mp_policy=policy)
        ids = torch.randint(0, shape.vocabulary, (1, 8))
        model(input_ids=ids, labels=ids).loss.backward()
    finally:
        dist.destroy_process_group()
    copies = predict(Run(shape, precision=precision, gpus=2, shards=3)).copies
    assert found == [copies] * shape.layers


def count_gathered(model: torch.nn.Module) -> int:
    """Return the bytes of the weights that are whole now."""
    whole = (one for one in model.parameters() if not isinstance(one, DTensor))
    return sum(one.numel() * one.element_size() for one in whole)


def test_what_sharing_weights_gathers_is_not_a_copy_of_the_model() -> None:
    shape = PRESETS["llama-3.1-8b"]
    whole = predict(Run(shape)).copies
    shared = {
        (method, precision): predict(
            Run(shape, method=method, precision=precision, gpus=8, shards=3)
        ).copies
        for method in ("full", "qlora")
        for precision in ("mixed", "master")
    }
    assert shared["full", "mixed"] == shared["full", "master"]
    assert [round(one / 2**30, 2) for one in (whole, *shared.values())] == [
        13.98, 2.36, 2.36, 2.06, 2.06,
    ]  # fmt: skip


def test_numbers_of_the_course() -> None:
    """Llama-3.1-8B: 16 bytes a parameter, its LoRA adapter, QLoRA's static state, ZeRO's shares."""
    shape = PRESETS["llama-3.1-8b"]
    assert predict(Run(shape)).static == 16 * 8_030_261_248
    assert count_lora(shape, 16) == 41_943_040
    assert predict(Run(shape, method="qlora")).static / 2**30 == pytest.approx(5.9, abs=0.05)
    shares = [
        predict(Run(shape, precision="master", gpus=8, shards=stage)).static / 2**30
        for stage in range(4)
    ]
    assert [round(share, 1) for share in shares] == [119.7, 41.1, 28.0, 15.0]


def test_nf4_takes_4_5_bits_and_4_127_with_double_quantization() -> None:
    weights = 4096 * 14336
    assert 8 * nf4_bytes(weights, double_quantization=False) / weights == 4.5
    assert 8 * nf4_bytes(weights) / weights == pytest.approx(4.127, abs=0.0005)


def test_8_bit_states_leave_embeddings_in_32_bits() -> None:
    counts = count_parameters(PRESETS["llama-3.1-8b"])
    whole = state_bytes(
        replace(counts, linear=counts.linear + counts.embedding, embedding=0), "adamw-8bit"
    )
    extra = state_bytes(counts, "adamw-8bit") - whole
    assert extra / 2**30 == pytest.approx(2.9, abs=0.05)


def test_logits_at_the_peak_of_the_loss() -> None:
    assert logit_bytes(PRESETS["llama-3.1-8b"], 1, 2048) / 2**30 == pytest.approx(2.94, abs=0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "adapter"}, "method is 'adapter': choose from full, lora, qlora"),
        ({"optimizer": "adamx"}, "optimizer is 'adamx': choose from"),
        ({"shards": 2}, "shards is 2 on one GPU"),
        ({"gpus": 0}, "gpus is 0"),
        ({"rows": 0}, "rows is 0"),
        ({"attention": "flash"}, "unknown attention 'flash'"),
        ({"method": "lora", "rank": 0}, "rank is 0"),
    ],
)
def test_impossible_settings_say_which_and_why(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        predict(Run(TINY, **settings))


@pytest.mark.parametrize(
    ("change", "message"),
    [({"heads": 3}, "key_heads is 2: it must divide heads"), ({"layers": 0}, "layers is 0")],
)
def test_impossible_shapes_say_which_and_why(change: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TINY, **change)


def test_a_configuration_of_another_family_is_refused() -> None:
    with pytest.raises(ValueError, match="model_type is 'gpt2'"):
        read_config({"model_type": "gpt2"})
    with pytest.raises(ValueError, match="lacks hidden_size"):
        read_config({"model_type": "llama", "vocab_size": 3})


def test_a_real_configuration_gives_its_shape() -> None:
    assert read_config(configure(SHAPES["query norms"]).to_dict()) == SHAPES["query norms"]


def run_command(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command as a reader does."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / "memory"), *arguments],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


def test_json_in_and_out() -> None:
    done = run_command("--json", text=json.dumps({"model": "qwen2.5-0.5b", "rows": 4}))
    expected = predict(Run(PRESETS["qwen2.5-0.5b"], rows=4))
    assert json.loads(done.stdout)["total"] == expected.total


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "gpt-9"), "error: unknown model 'gpt-9'"),
        (("--model", "none-of.json"), "error: unknown model"),
        (("--shards", "3"), "error: shards is 3 on one GPU"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: tuple[str, ...], message: str) -> None:
    done = run_command(*arguments)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith(message)


def test_the_recorded_recipes_are_the_formulas() -> None:
    recorded = json.loads((EXAMPLES / "memory" / "recipes.json").read_text("utf-8"))["recipes"]
    assert [(row["id"], row["total"]) for row in recorded] == [
        (recipe.id, recipe.total) for recipe in RECIPES
    ]


def test_the_recorded_calculator_is_what_the_formulas_say() -> None:
    """Fresh, or: python examples/memory --record."""
    text = (EXAMPLES / "memory" / "calculator.json").read_text("utf-8")
    assert json.loads(text) == json.loads(json.dumps(describe()))
    assert set(describe()["names"]) == set(PRESETS)


def test_a_card_holds_a_little_less_than_its_chips() -> None:
    for card in CARDS:
        assert 0.9 * card.sold * 2**30 < card.usable < card.sold * 2**30


def test_time_from_operations_and_from_a_throughput() -> None:
    """8B, 13.5 million tokens: 0.65 EFLOP; 10,000 examples, 3 epochs, 8 a second: 3,750 s."""
    parameters, tokens = 8_030_261_248, 13_500_000
    whole = training_operations(parameters, tokens)
    assert whole / 1e18 == pytest.approx(0.65, abs=0.005)
    assert training_operations(parameters, tokens, recompute=True) * 3 == whole * 4
    assert training_operations(parameters, tokens, adapters=True) * 3 == whole * 2
    assert seconds(whole, peak=1e15, utilization=0.5) == pytest.approx(1301, abs=1)
    assert seconds_at(10_000, 3, 8) == 3750
    for call in (lambda: seconds(1, 0, 0.5), lambda: seconds(1, 1, 2), lambda: seconds_at(1, 1, 0)):
        with pytest.raises(ValueError, match=r"above 0"):
            call()


@pytest.mark.parametrize("text", ["[]", '{"rows": "a"}', '{"rows": null}'])
def test_settings_of_another_form_are_refused(text: str) -> None:
    command = [sys.executable, str(EXAMPLES / "memory"), "--json"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: not an object of settings")
