"""Command: what a run needs on one card.

python examples/memory --model llama-3.1-8b --method qlora --length 2048
python examples/memory --list
echo '{"model": "qwen2.5-0.5b", "rows": 4}' | python examples/memory --json
"""

import argparse
import json
import sys
from dataclasses import asdict, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from memory import PRESETS, RECIPES, Budget, Run, count_parameters, predict, read_config
from memory.calculator import describe

FOLDER = Path(__file__).resolve().parent
SETTINGS = tuple(field for field in fields(Run) if field.name != "shape")


def main(arguments: list[str] | None = None) -> int:
    """Print a prediction, the presets, or record the recipes; 1 when a setting is impossible."""
    options = read_arguments(arguments)
    try:
        if options.record:
            write_recipes(FOLDER / "recipes.json")
            write_calculator(FOLDER / "calculator.json")
        elif options.list:
            print(list_presets())
        elif options.json:
            print(json.dumps(answer(json.load(sys.stdin))))
        else:
            print(write_budget(predict(build_run(vars(options)))))
    except (TypeError, AttributeError):
        print("error: not an object of settings: names, and numbers or words", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return the command line; every setting of `Run` is a flag with its default."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="llama-3.1-8b", help="a preset or a config.json")
    for field in SETTINGS:
        if isinstance(field.default, bool):
            parser.add_argument(
                f"--{field.name}", action=argparse.BooleanOptionalAction, default=field.default
            )
        else:
            parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    parser.add_argument("--list", action="store_true", help="show the presets and stop")
    parser.add_argument("--json", action="store_true", help="read settings from the input as JSON")
    parser.add_argument("--record", action="store_true", help="write the course's *.json")
    return parser.parse_args(arguments)


def build_run(settings: dict[str, object]) -> Run:
    """Return a run from flags or JSON.

    Raises:
        ValueError: for an unknown model or setting, or an impossible value.
    """
    known = {field.name for field in SETTINGS}
    model = str(settings.get("model", "llama-3.1-8b"))
    if model not in PRESETS and not Path(model).is_file():
        raise ValueError(f"unknown model {model!r}: a config.json, or one of {', '.join(PRESETS)}")
    shape = PRESETS.get(model) or read_config(json.loads(Path(model).read_text("utf-8")))
    return Run(shape, **{key: value for key, value in settings.items() if key in known})


def answer(settings: dict[str, object]) -> dict[str, int]:
    """Return the bytes of each consumer for JSON settings.

    Raises:
        ValueError: for a key that is not a setting.
    """
    unknown = sorted(set(settings) - {field.name for field in SETTINGS} - {"model"})
    if unknown:
        raise ValueError(f"unknown settings {', '.join(unknown)}")
    return list_bytes(predict(build_run(settings)))


def list_bytes(budget: Budget) -> dict[str, int]:
    """Return the consumers by name, then sums: static state, the two moments, the peak."""
    parts = asdict(budget)
    del parts["accumulate"]
    sums = ("static", "at_loss", "at_step", "total")
    return parts | {name: getattr(budget, name) for name in sums}


def write_budget(budget: Budget) -> str:
    """Return the table that people read: each consumer in GB and in GiB."""
    rows = list_bytes(budget)
    lines = [f"{'':12}{'GB':>10}{'GiB':>10}"]
    lines += [f"{name:12}{size / 1e9:10.2f}{size / 2**30:10.2f}" for name, size in rows.items()]
    return "\n".join(lines)


def list_presets() -> str:
    """Return the presets with their numbers of parameters."""
    return "\n".join(
        f"{name:16}{count_parameters(shape).total:>15,}" for name, shape in PRESETS.items()
    )


def write_recipes(path: Path) -> None:
    """Write the bytes per parameter of each recipe, from which the course draws its figure."""
    rows = [asdict(recipe) | {"total": recipe.total} for recipe in RECIPES]
    path.write_text(json.dumps({"recipes": rows}, indent=1) + "\n", encoding="utf-8")


def write_calculator(path: Path) -> None:
    """Write what the calculator of the course's site needs, a key a line."""
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in describe().items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
