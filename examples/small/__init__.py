"""SmolLM2-135M-Instruct, a real small model for the processor: where it is on this computer.

    from small import path_or_none
    folder = path_or_none()          # for from_pretrained; None until fetch.py has brought it

`python examples/small/fetch.py` brings it once. Arabic costs it three to four times the tokens of
English: it was trained on English, which makes it a good lesson on tokenizers.
"""

import os
from pathlib import Path

NAME = "SmolLM2-135M-Instruct"
VARIABLE = "DABT_CACHE"


def cache() -> Path:
    """Give the folder of what is fetched once: that of DABT_CACHE, else the user's cache."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dabt"


def path_or_none() -> Path | None:
    """Give the folder of the model and its tokenizer, or None where it was not fetched."""
    folder = cache() / NAME
    return folder if folder.is_dir() else None
