"""The memory calculator as HTML: a table to read as it is, and the form that calculator.js drives.

Shapes, cards and limits come from `examples/memory/calculator.json`. The names of classes and data
are shared with `docs/assets/calculator.js` and `calculator.css`.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from dabt.directives import Directive, Place
from dabt.languages import localise_number
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.quiz.inline import typeset
from dabt.ui import Ui

NAMES = ("memory",)
DATA = Path("memory/calculator.json")
SHAPE = ("hidden", "feed_forward", "layers", "heads", "key_heads", "head_size", "vocabulary")


def read_calculator(examples: Path) -> Mapping[str, Any]:
    """What `python examples/memory --record` wrote; nothing where the examples are not there."""
    path = examples / DATA
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def check_calculator(directive: Directive, file: str, data: Mapping[str, Any]) -> Problem | None:
    """What is wrong with a directive `::: calculator …`, if anything."""
    place = (file, directive.line, directive.column)
    if directive.argument not in NAMES:
        message = f"unknown calculator '{directive.argument}'"
        mend = did_you_mean(directive.argument, NAMES)
        return Problem(*place, message, "unknown-calculator", mend)
    if not data:
        message = f"the calculator needs examples/{DATA.as_posix()}"
        return Problem(*place, message, "no-calculator", "run python examples/memory --record")
    return None


def render_calculator(argument: str, place: Place, data: Mapping[str, Any], ui: Ui) -> str:
    """The HTML of a calculator. Raises DabtError for an unknown one, or where data are missing."""
    directive = Directive("calculator", argument, place.line, 1)
    if problem := check_calculator(directive, place.file, data):
        raise DabtError([problem])
    language = place.language

    def words(key: str, **values: object) -> str:
        return typeset(ui.text(f"calculator.{key}", language, **values), language)

    strings = {
        key: typeset(text, language) for key, text in ui.below("calculator.js", language).items()
    }
    told = {"data": {key: data[key] for key in data if key != "table"}, "strings": strings}
    html = _template().render(
        t=words,
        data=data,
        shape=SHAPE,
        gib=lambda size: localise_number(f"{size / 2**30:.1f}", language),
        told=Markup(_script_safe(json.dumps(told, ensure_ascii=False))),
    )
    return "\n".join(line for line in html.splitlines() if line.strip())


def _script_safe(text: str) -> str:
    """JSON that can stand in HTML: no tag can begin in it."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c")


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("calculator.html.j2")
