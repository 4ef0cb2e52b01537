"""Export the merged model to GGUF, the file that llama.cpp and what is built on it read.

Chapter ship/merge-export-serve of the course. Any computer, no network, after merge.py --tiny:

    python examples/ship/merge-export-serve/export.py --model output/ship/merged

Each file is loaded again, and compared with the model that it was made from. This program shows
what is in a GGUF file; it knows Llama's shapes and byte-level BPE tokenizers. For other models use
llama.cpp's own: python convert_hf_to_gguf.py FOLDER --outfile model-f16.gguf --outtype f16, and
llama-quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, programs, record
from common.options import make_parser
from common.rows import read
from full.traditional import train as full
from tiny import DATA, exact

merging = programs.load("ship/merge-export-serve/merge.py")
HERE = Path(__file__).resolve().parent
# Stored type, and how far its logits may be from those of the model in fp32.
KINDS = {"F32": 0.0, "F16": 0.05, "Q8_0": 1.0, "Q4_0": None}

# --8<-- [start:names]
LAYER = {  # (1)!
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
ENDS = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def rename(name: str) -> str:
    """Give a weight the name that it has in GGUF."""
    if name in ENDS:
        return ENDS[name]
    _, _, number, rest = name.split(".", 3)
    return f"blk.{number}.{LAYER[rest.removesuffix('.weight')]}.weight"


def reorder(weight: np.ndarray, heads: int) -> np.ndarray:
    """Put the rows of a query or key matrix in the order that llama.cpp rotates them in."""
    halves = weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1])
    return halves.swapaxes(1, 2).reshape(weight.shape)  # (2)!
    # --8<-- [end:names]


# --8<-- [start:metadata]
def describe(writer: gguf.GGUFWriter, config) -> None:
    """Write the numbers that the weights' shapes do not tell."""
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)


def add_tokenizer(writer: gguf.GGUFWriter, tokenizer) -> None:
    """Write the tokenizer, the chat template, and which token ends an answer."""
    inside = json.loads(tokenizer.backend_tokenizer.to_str())
    if inside["model"]["type"] != "BPE":
        guard.stop(f"the tokenizer is {inside['model']['type']}", "use convert_hf_to_gguf.py")
    words = {number: word for word, number in tokenizer.get_vocab().items()}
    special = {token["id"] for token in inside["added_tokens"]}
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    pairs = [" ".join(m) if isinstance(m, list) else m for m in inside["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")  # (1)!
    writer.add_tokenizer_pre("gpt-2")  # (2)!
    writer.add_token_list([words[number] for number in range(len(words))])
    writer.add_token_types([control if n in special else normal for n in range(len(words))])
    writer.add_token_merges(pairs)
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)  # (3)!
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(False)  # (4)!
    writer.add_chat_template(tokenizer.chat_template)
    # --8<-- [end:metadata]


# --8<-- [start:write]
def export(model: PreTrainedModel, tokenizer, path: Path, kind: str) -> None:
    """Write a model to one GGUF file, its matrices in the wanted type."""
    writer, config = gguf.GGUFWriter(path, "llama"), model.config
    describe(writer, config)
    add_tokenizer(writer, tokenizer)
    stored = gguf.GGMLQuantizationType[kind]
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue  # (1)!
        values = weight.float().numpy()
        for part, number in heads.items():
            if part in name:
                values = reorder(values, number)
        if values.ndim == 1:  # (2)!
            writer.add_tensor(rename(name), values)
        else:
            blocks = gguf.quants.quantize(np.ascontiguousarray(values), stored)  # (3)!
            writer.add_tensor(rename(name), blocks, raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    # --8<-- [end:write]


# --8<-- [start:again]
def compare(model: PreTrainedModel, tokenizer, folder: Path, kind: str, rows: list) -> dict:
    """Load a GGUF file with transformers, and compare it with the model that it was made from."""
    path = folder / f"{kind.lower()}.gguf"
    export(model, tokenizer, path, kind)
    again = AutoModelForCausalLM.from_pretrained(
        folder,
        gguf_file=path.name,
        dtype=torch.float32,  # (1)!
    )
    words = AutoTokenizer.from_pretrained(folder, gguf_file=path.name)
    wanted, said = merging.logits(model, rows[:32]), merging.logits(again, rows[:32])
    text = "ما عاصمة السنغال؟ Où est Dakar ?"
    same = (
        words(text, add_special_tokens=False).input_ids
        == tokenizer(text, add_special_tokens=False).input_ids
    )
    return {
        "kind": kind,
        "bytes": path.stat().st_size,
        "largest": (said - wanted).abs().max().item(),
        "same_choice": (said.argmax(-1) == wanted.argmax(-1)).float().mean().item(),
        "exact": exact(rows, again),
        "tokens": same and words.eos_token_id == tokenizer.eos_token_id,
        "template": words.chat_template == tokenizer.chat_template,
    }
    # --8<-- [end:again]


def export_table(found: list[dict], weights: int) -> str:
    """Show size and difference of each type; bits a weight count the whole file."""
    lines = ["stored as      bytes   bits a weight   largest difference   same choice   exact"]
    for row in found:
        lines.append(
            f"{row['kind']:9}{row['bytes']:11,}{8 * row['bytes'] / weights:16.1f}"
            f"{row['largest']:21.1e}{row['same_choice']:14.1%}{row['exact']:8.1%}"
        )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """Export in four types, load each again, compare."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="output/ship/merged", help="folder of a merged model")
    parser.add_argument("--output", type=Path, default=Path("output/ship/gguf"))
    parser.add_argument("--record", action="store_true", help="refresh export.json and outputs/")
    options = parser.parse_args(argv)
    folder = HERE if options.record else None
    guard.hush()
    if not (Path(options.model) / "config.json").exists():
        guard.stop(f"{options.model} holds no model", "run merge.py --tiny first, or name --model")
    options.output.mkdir(parents=True, exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
    if model.config.model_type != "llama":
        guard.stop(f"the model is a {model.config.model_type}", "use convert_hf_to_gguf.py")
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    rows = full.encode_all(read(str(DATA))[1], tokenizer, 128)
    found = [compare(model, tokenizer, options.output, kind, rows) for kind in KINDS]
    record.show(export_table(found, model.num_parameters()), folder, "export.txt")
    if folder:
        facts = {"gguf": version("gguf"), "parameters": model.num_parameters(), "files": found}
        record.write(folder, facts, name="export.json")


if __name__ == "__main__":
    main()
