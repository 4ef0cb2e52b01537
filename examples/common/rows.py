"""Rows of instruction, context and response: where they come from, and which are held out."""

import zlib
from pathlib import Path

from datasets import load_dataset

from common import guard

COLUMNS = ("instruction", "context", "response")


def read(data: str) -> tuple[list[dict], list[dict]]:
    """Read training and validation rows from a folder, a .jsonl file or a data set of the Hub.

    A folder holds `train.jsonl` and `validation.jsonl`. Otherwise 5 % of the rows are held out,
    chosen by the text of the request: the same request is never on both sides.
    """
    path = Path(data)
    if path.is_dir():
        names = ("train", "validation")
        return tuple(guard.read_jsonl(path / f"{name}.jsonl", COLUMNS) for name in names)
    if path.suffix == ".jsonl":
        rows = guard.read_jsonl(path, COLUMNS)
    else:
        with guard.explain("data", data):
            rows = load_dataset(data, split="train")
        guard.check_columns(data, rows.column_names, COLUMNS)
    parts = ([], [])
    for row in rows:
        request = row["instruction"] + row["context"]
        parts[zlib.crc32(request.encode()) % 20 == 0].append(row)
    if not all(parts):
        guard.stop(
            f"{data} has {len(rows)} rows: too few to train on some and hold out others",
            "give more rows, or a folder with train.jsonl and validation.jsonl",
        )
    return parts
