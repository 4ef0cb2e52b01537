"""The command line that programs share: their common options, and settings made from them."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

Settings = TypeVar("Settings")


def make_parser(description: str) -> argparse.ArgumentParser:
    """Make a parser whose help begins with a program's own text, as it stands."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def make_training_parser(
    description: str, model: str = "folder or name on the Hub", rows: str = "rows"
) -> argparse.ArgumentParser:
    """Make a parser with the options of a training; `rows` is what a batch is counted in."""
    parser = make_parser(description)
    parser.add_argument("--tiny", action="store_true", help="tiny model, on the processor, offline")
    parser.add_argument("--model", help=model)
    parser.add_argument(
        "--data", help="folder with train.jsonl and validation.jsonl, file, or name"
    )
    parser.add_argument("--output", type=Path, help="folder for checkpoints and what is learnt")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--epochs", type=float)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--batch-size", type=int, help=f"{rows} at once; accumulation makes up")
    parser.add_argument("--max-tokens", type=int, help=f"longer {rows} are dropped")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--record", action="store_true", help="refresh record.json and outputs/")
    return parser


def choose_settings(default: Settings, options: argparse.Namespace) -> Settings:
    """Combine default settings with the options of the same names that were given."""
    given = {k: v for k, v in vars(options).items() if v is not None and hasattr(default, k)}
    return replace(default, **given)


def choose_batch(default: Settings, options: argparse.Namespace) -> Settings:
    """Do the same, and let accumulation keep the effective batch whatever the batch size."""
    settings = choose_settings(default, options)
    whole = default.batch_size * default.accumulation
    return replace(settings, accumulation=max(1, whole // settings.batch_size))
