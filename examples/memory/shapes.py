"""The shape of a decoder: the numbers of its `config.json` on which memory depends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Shape:
    """A decoder of Llama's family: RMS norms, grouped-query attention, gated feed-forward.

    Units: `hidden`, `feed_forward` and `head_size` are features; `vocabulary` is tokens.
    """

    hidden: int
    feed_forward: int
    layers: int
    heads: int
    key_heads: int
    head_size: int
    vocabulary: int
    tied: bool = False
    query_bias: bool = False
    query_norm: bool = False

    def __post_init__(self) -> None:
        """Refuse a shape that no model can have.

        Raises:
            ValueError: naming the number, its value and what it must be.
        """
        sizes = ("hidden", "feed_forward", "layers", "heads", "key_heads", "head_size")
        for name in (*sizes, "vocabulary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it must be at least 1")
        if self.heads % self.key_heads:
            raise ValueError(
                f"key_heads is {self.key_heads}: it must divide heads, which is {self.heads}"
            )

    @property
    def query(self) -> int:
        """Features of all query heads together."""
        return self.heads * self.head_size

    @property
    def key(self) -> int:
        """Features of all key heads together; the values have as many."""
        return self.key_heads * self.head_size


def read_config(config: Mapping[str, Any]) -> Shape:
    """Return the shape that a Hugging Face `config.json` describes.

    Raises:
        ValueError: for a family that these formulas do not cover, or a number that is missing.
    """
    family = config.get("model_type")
    if family not in ("llama", "mistral", "qwen2", "qwen3"):
        raise ValueError(
            f"model_type is {family!r}: the formulas cover llama, mistral, qwen2, qwen3"
        )
    needed = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")
    missing = [name for name in (*needed, "vocab_size") if config.get(name) is None]
    if missing:
        raise ValueError(f"the configuration lacks {', '.join(missing)}")
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    return Shape(
        hidden=hidden,
        feed_forward=config["intermediate_size"],
        layers=config["num_hidden_layers"],
        heads=heads,
        key_heads=config.get("num_key_value_heads") or heads,
        head_size=config.get("head_dim") or hidden // heads,
        vocabulary=config["vocab_size"],
        tied=bool(config.get("tie_word_embeddings", False)),
        query_bias=family == "qwen2",
        query_norm=family == "qwen3",
    )


# From the models' public config.json files.
PRESETS: Mapping[str, Shape] = {
    "smollm2-135m": Shape(576, 1536, 30, 9, 3, 64, 49152, tied=True),
    "qwen2.5-0.5b": Shape(896, 4864, 24, 14, 2, 64, 151936, tied=True, query_bias=True),
    "qwen3-0.6b": Shape(1024, 3072, 28, 16, 8, 128, 151936, tied=True, query_norm=True),
    "tinyllama-1.1b": Shape(2048, 5632, 22, 32, 4, 64, 32000),
    "llama-3.2-1b": Shape(2048, 8192, 16, 32, 8, 64, 128256, tied=True),
    "llama-2-7b": Shape(4096, 11008, 32, 32, 32, 128, 32000),
    "mistral-7b": Shape(4096, 14336, 32, 32, 8, 128, 32000),
    "qwen2.5-7b": Shape(3584, 18944, 28, 28, 4, 128, 152064, query_bias=True),
    "llama-3.1-8b": Shape(4096, 14336, 32, 32, 8, 128, 128256),
    "qwen3-8b": Shape(4096, 12288, 36, 32, 8, 128, 151936, query_norm=True),
}
