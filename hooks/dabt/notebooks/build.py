"""The JSON of a notebook (nbformat 4.5): the same texts give the same bytes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dabt.languages import direction
from dabt.notebooks.choice import Choice
from dabt.notebooks.program import Block, Program, order, read_program
from dabt.notebooks.prose import Text, Told, Where, regions, tell
from dabt.notebooks.setup import first_cells, read_pins
from dabt.ui import Ui

# A page may explain a function before the class that its annotations name.
LATER = "from __future__ import annotations"
INLINE = re.compile(r"(`+)(?!`)(?:.+?)(?<!`)\1(?!`)")
Cell = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A notebook to write: of which chapter, in which language, for which address."""

    choice: Choice
    language: str
    examples: Path
    site: str = ""  # the address of the course, or ``
    tree: str = ""  # the address of the language's pages, or ``


def make_notebook(page: str, wanted: Wanted, ui: Ui) -> str:
    """The notebook of a page's Markdown."""
    choice = wanted.choice
    path = f"{choice.slug}/{choice.program}"
    program = read_program((wanted.examples / path).read_text(encoding="utf-8"))
    told = tell(page, Where(f"{choice.slug}.md", path, wanted.examples, wanted.tree))
    cells = [*_begin(told, wanted, ui), *_lesson(told, program, wanted, ui)]
    cells += _end(told, wanted, ui)
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return json.dumps(_whole(cells, wanted.language), ensure_ascii=False, indent=1) + "\n"


def _whole(cells: Sequence[Cell], language: str) -> Mapping[str, Any]:
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "dabt": {"language": language},
        # Colab lends a T4 to who opens the notebook.
        "accelerator": "GPU",
        "colab": {"gpuType": "T4"},
    }
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _begin(told: Told, wanted: Wanted, ui: Ui) -> Iterator[Cell]:
    """Yield the title and the cells that prepare a machine."""
    language, choice = wanted.language, wanted.choice
    address = f"{wanted.tree}{choice.slug}/"
    chapter = f"[{told.title}]({address})" if wanted.tree else told.title
    about = ui.text("notebook.about", language, chapter=chapter, program=choice.program)
    yield _text(f"# {told.title}\n\n{about}", language)
    pins = read_pins((wanted.examples / "requirements.txt").read_text(encoding="utf-8"))
    codes = first_cells(pins, f"{choice.slug}/{choice.program}", wanted.site)
    for name, code in zip(("card", "pins", "programs"), codes, strict=True):
        begin = f"## {ui.text('notebook.title.card', language)}\n\n" if name == "card" else ""
        yield _text(begin + ui.text(f"notebook.{name}", language), language)
        yield _code(code)


def _lesson(told: Told, program: Program, wanted: Wanted, ui: Ui) -> Iterator[Cell]:
    """Yield the sections of the chapter with the code they speak of, then the rest of it."""
    language = wanted.language
    placed = dict(order(program, regions(told)))
    yield _section("head", language, ui, program=wanted.choice.program)
    yield _code(f'__doc__ = """{program.text}\n"""')
    own = re.sub(rf"^{LATER}.*\n+", "", program.head, flags=re.MULTILINE)
    yield _code(f"{LATER}\n\n{own}")
    pieces: list[Text] = []
    for part in told.parts:
        if isinstance(part, Text):
            pieces.append(part)
        elif part.region in placed:
            yield from _texts(pieces, language)
            pieces = []
            yield _code(_joined(placed.pop(part.region)))
    yield from _texts(pieces, language)
    if rest := placed.get(""):
        yield _section("rest", language, ui)
        yield from (_code(_joined([block])) for block in rest)


def _end(told: Told, wanted: Wanted, ui: Ui) -> Iterator[Cell]:
    """Yield the run, and the sources that the text refers to."""
    language = wanted.language
    yield _section("run", language, ui)
    yield _code(wanted.choice.call())
    if told.notes:
        title = ui.text("notebook.title.sources", language)
        listed = "\n".join(f"{number}. {note}" for number, note in enumerate(told.notes, 1))
        yield _text(f"## {title}\n\n{listed}", language)


def _section(name: str, language: str, ui: Ui, **values: str) -> Cell:
    title = ui.text(f"notebook.title.{name}", language)
    return _text(f"## {title}\n\n{ui.text(f'notebook.{name}', language, **values)}", language)


def _joined(blocks: Sequence[Block]) -> str:
    return "\n\n\n".join(block.code for block in blocks)


def _texts(pieces: Sequence[Text], language: str) -> Iterator[Cell]:
    """Yield one cell for what stands between two programs."""
    if pieces:
        yield _cell("markdown", "\n\n".join(_directed(one, language) for one in pieces))


def _text(markdown: str, language: str) -> Cell:
    return _cell("markdown", _directed(Text(markdown), language))


def _directed(piece: Text, language: str) -> str:
    """Text in the direction of its language: no notebook reader asks for it of its own.

    Code within it is isolated, or `--tiny` would be shown as `tiny--`.
    """
    if piece.code or direction(language) == "ltr":
        return piece.markdown
    isolated = INLINE.sub(lambda match: f"<bdi>{match[0]}</bdi>", piece.markdown)
    return f'<div dir="rtl" lang="{language}">\n\n{isolated}\n\n</div>'


def _code(code: str) -> Cell:
    return _cell("code", code) | {"execution_count": None, "outputs": []}


def _cell(kind: str, source: str) -> Cell:
    return {"cell_type": kind, "id": "", "metadata": {}, "source": source.splitlines(keepends=True)}
