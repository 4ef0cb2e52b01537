"""Serve the merged model on this computer, ask it over HTTP, and stop the server.

Chapter ship/merge-export-serve of the course. Any computer, no network, after merge.py --tiny:

    python examples/ship/merge-export-serve/serve.py --model output/ship/merged

It runs the server of transformers, which is good for trying out and for one user. The same answers,
through the same ask.py, from servers made for many users or for small machines:

    transformers serve output/ship/merged --port 8000
    llama-server -m output/ship/gguf/q8_0.gguf -c 512 --port 8000
    vllm serve output/ship/merged --max-model-len 512 --port 8000
    vllm serve BASE --enable-lora --lora-modules travel=output/lora --max-lora-rank 16 --port 8000

The last one keeps the adapter beside its base, and serves others with it; its name is the model's
name in a request. Memory: 2 B/parameter in bf16, and the key-value cache (kv_bytes below).
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from common import guard, programs, record
from common.options import make_parser
from common.rows import read
from memory import PRESETS, Shape
from tiny import DATA

asking = programs.load("ship/merge-export-serve/ask.py")
HERE = Path(__file__).resolve().parent


# --8<-- [start:serve]
@contextmanager
def serving(model: str, log: Path) -> Iterator[str]:
    """Run a server while the block runs; gives the address to ask."""
    program = shutil.which("transformers", path=Path(sys.executable).parent) or "transformers"
    port = free_port()
    command = [program, "serve", model, "--device", "cpu", "--port", str(port)]  # (1)!
    with log.open("w") as file:
        server = subprocess.Popen(command, stdout=file, stderr=file, env=environment())
    try:
        wait_until_ready(server, f"http://localhost:{port}/health", log)  # (2)!
        yield f"http://localhost:{port}/v1"
    finally:
        server.terminate()  # (3)!
        server.wait(timeout=30)


def wait_until_ready(server: subprocess.Popen, address: str, log: Path) -> None:
    """Wait until the weights are loaded and the server answers; two minutes at most."""
    for _ in range(240):
        if server.poll() is not None:
            guard.stop(f"the server ended: see {log}", "is transformers[serving] installed?")
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.5)
    guard.stop(f"the server does not answer: see {log}", "a larger model takes longer: try again")
    # --8<-- [end:serve]


def environment() -> dict[str, str]:
    """What the server is started with: no network, and none of our folders among its modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"HF_HUB_OFFLINE": "1"}


def free_port() -> int:
    """Ask the system for a port that nobody uses."""
    with socket.socket() as door:
        door.bind(("localhost", 0))
        return door.getsockname()[1]


# --8<-- [start:cache]
def kv_bytes(shape: Shape, tokens: int, size: int = 2) -> int:
    """Bytes of keys and values that a conversation keeps: two for each layer, key head, token."""
    return 2 * shape.layers * shape.key * tokens * size  # (1)!
    # --8<-- [end:cache]


def cache_table() -> str:
    """Show what conversations of two lengths keep, for models of the course."""
    lines = ["model              a token   4,096 tokens   32 users of 4,096"]
    for name in ("qwen2.5-0.5b", "qwen2.5-7b", "llama-2-7b", "llama-3.1-8b"):
        one = kv_bytes(PRESETS[name], 1)
        long = 4096 * one
        lines.append(f"{name:16}{one / 1e3:7.1f} kB{long / 1e9:12.2f} GB{32 * long / 1e9:17.1f} GB")
    return "\n".join(lines)


def converse(url: str, model: str, rows: list[dict]) -> list[dict]:
    """Ask each request, and gather the pieces of its answer."""
    found = []
    for row in rows:
        question = f"{row['instruction']}\n{row['context']}".strip()
        pieces = list(asking.ask(url, model, question))
        text = "".join(piece.get("text", "") for piece in pieces)
        facts = {key: value for piece in pieces for key, value in piece.items() if key != "text"}
        found.append({"asked": row["context"], "text": text, "pieces": len(pieces)} | facts)
    return found


def answer_table(found: list[dict]) -> str:
    """Show each answer, and why it ended."""
    lines = []
    for row in found:
        lines += ["", row["asked"], f"  {row['text']}"]
        lines.append(f"  ended: {row['ended']}, {row['tokens']} tokens, {row['pieces']} pieces")
    return "\n".join(lines[1:])


def main(argv: list[str] | None = None) -> None:
    """Start the server, ask three requests of the validation file, stop it."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="output/ship/merged", help="folder of a merged model")
    parser.add_argument("--record", action="store_true", help="refresh serve.json and outputs/")
    options = parser.parse_args(argv)
    folder = HERE if options.record else None
    if not (Path(options.model) / "config.json").exists():
        guard.stop(f"{options.model} holds no model", "run merge.py --tiny first, or name --model")
    log = Path(options.model).parent / "serve.log"
    with serving(options.model, log) as url:
        found = converse(url, options.model, read(str(DATA))[1][:3])
    record.show(answer_table(found), folder, "serve.txt")
    record.show(cache_table(), folder, "cache.txt")
    if folder:
        record.write(folder, {"answers": found}, name="serve.json")


if __name__ == "__main__":
    main()
