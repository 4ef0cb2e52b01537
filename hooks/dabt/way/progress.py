"""The directive `::: progress`: all chapters and quizzes, for docs/assets/progress.js to fill in.

Without the script it is the contents of the course. The names of classes and data are shared with
`progress.js` and `site.css`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from dabt.directives import Place
from dabt.links import relative_link
from dabt.quiz.inline import to_html, typeset
from dabt.quiz.model import Quiz
from dabt.ui import Ui
from dabt.way.pages import Facts, Way

Quizzes = Mapping[str, Quiz]


def render_progress(way: Way, quizzes: Quizzes, place: Place, ui: Ui) -> str:
    """The HTML of a list of modules, with each quiz's questions and their revisions as data."""
    language = place.language

    def words(key: str) -> str:
        return typeset(ui.text(f"way.{key}", language), language)

    modules = [
        {
            "name": to_html(module.names.get(language, ""), language),
            "pages": list(_rows(module.pages, way, quizzes, place, ui)),
        }
        for module in way.menu.modules
    ]
    strings = {
        key: typeset(text, language)
        for key, text in ui.below("way.js", language).items()
        if isinstance(text, str)
    }
    return Markup(_template().render(modules=modules, t=words, strings=json.dumps(strings)))


def _rows(
    pages: Iterable[str], way: Way, quizzes: Quizzes, place: Place, ui: Ui
) -> Iterator[dict[str, Any]]:
    language = place.language
    for page in pages:
        facts = way.facts.get((language, page))
        if facts is None:
            continue
        asked = dict(_questions(facts, quizzes))
        kind = way.menu.kind(page)
        number, key = (len(asked), "questions") if kind == "quiz" else (facts.minutes, "minutes")
        yield {
            "kind": kind,
            "slug": page.removesuffix(".md"),
            "href": relative_link(place.page, page),
            "title": to_html(facts.title, language),
            "size": typeset(ui.counted(f"way.{key}", language, number), language),
            "questions": json.dumps(asked, separators=(",", ":")),
        }


def _questions(facts: Facts, quizzes: Quizzes) -> Iterator[tuple[str, str]]:
    """Yield the id and the revision of each question that a page shows."""
    for argument in facts.quizzes:
        slug, _, listed = argument.partition("#")
        chosen = {name.strip() for name in listed.split(",")} if listed else None
        for question in quizzes[slug].questions if slug in quizzes else ():
            if chosen is None or question.id in chosen:
                yield question.id, question.revision


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("progress.html.j2")
