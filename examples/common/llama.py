"""A Llama of any shape with random weights: memory and speed do not depend on their values."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from memory import Shape


def configure(shape: Shape, **options) -> LlamaConfig:
    """Write the configuration of this shape, with further options."""
    return LlamaConfig(
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_heads,
        head_dim=shape.head_size,
        vocab_size=shape.vocabulary,
        tie_word_embeddings=shape.tied,
        use_cache=False,
        **options,
    )


def make_llama(shape: Shape, device: str, dtype: torch.dtype, **options) -> LlamaForCausalLM:
    """Build a model of this shape on a device, drawn in fp32 and then cast to a type."""
    with torch.device(device):
        return LlamaForCausalLM(configure(shape, **options)).to(dtype).train()
