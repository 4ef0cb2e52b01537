"""A quiz as HTML in one language: readable and self-marking as it is, driven by quiz.js if it can.

The names of classes and data attributes are shared with `docs/assets/quiz.js` and `quiz.css`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from dabt.languages import direction
from dabt.links import relative_link
from dabt.quiz.inline import to_html, to_plain, typeset
from dabt.quiz.model import TRUE, Band, Code, Number, Option, Question, Quiz, Review, Text
from dabt.quiz.order import letter, ordered_items, ordered_options
from dabt.ui import Ui

TEMPLATE = "quiz.html.j2"
View = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """Where a quiz is shown: its language, the page in that language's tree, what is known there.

    `titles` gives the heading of a section by (language, page, section id).
    """

    language: str
    page: str
    ui: Ui
    titles: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    def words(self, key: str, **values: object) -> str:
        """An interface string of the quizzes, typeset for the language."""
        return typeset(self.ui.text(f"quiz.{key}", self.language, **values), self.language)

    def html(self, text: Text | None) -> Markup | None:
        """A text of the quiz as HTML in this language."""
        return to_html(text[self.language], self.language) if text else None


def render_quiz(quiz: Quiz, setting: Setting, chosen: Sequence[Question] = ()) -> str:
    """The HTML of a whole quiz, or of some chosen questions of it (a quick check)."""
    questions = [
        _question(quiz, question, place, setting)
        for place, question in enumerate(chosen or quiz.questions, 1)
    ]
    how = setting.ui.counted("quiz.intro", setting.language, len(questions))
    html = _template().render(
        t=setting.words,
        slug=quiz.slug,
        id=f"quiz-{quiz.slug}" + (f"-{chosen[0].id}" if chosen else ""),
        part=bool(chosen),
        language=setting.language,
        direction=direction(setting.language),
        title=setting.html(quiz.title),
        how=typeset(how, setting.language),
        intro=None if chosen else setting.html(quiz.intro),
        questions=questions,
        bands=_bands(quiz, setting),
        strings=_strings(setting.ui, setting.language),
    )
    return html.strip()


@cache
def _template() -> Template:
    """The template, compiled once; it holds no state of a quiz."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(TEMPLATE)


def _strings(ui: Ui, language: str) -> Markup:
    """The strings of quiz.js as JSON inside HTML, where quotes need no escape."""
    text = json.dumps(ui.below("quiz.js", language), ensure_ascii=False, separators=(",", ":"))
    return Markup(typeset(text, language).replace("&", "&amp;").replace("<", "&lt;"))


def _question(quiz: Quiz, question: Question, place: int, setting: Setting) -> View:
    options = [
        _option(option, index, question, setting)
        for index, option in enumerate(ordered_options(quiz, question))
    ]
    items = [_item(item, index, setting) for index, item in enumerate(question.items, 1)]
    view = {
        "id": question.id,
        "type": question.type,
        "revision": question.revision,
        "place": place,
        "ask": setting.html(question.ask),
        "code": _code(question.code) if question.code else None,
        "task": _task(question, setting),
        "options": options,
        "right": [option for option in options if option["right"]],
        "whys": [option for option in options if option["why"]],
        "number": _number(question.number, setting) if question.number else None,
        "sequence": items,
        "shown_items": [items[number - 1] for number in ordered_items(quiz, question)],
        "places": range(1, len(items) + 1),
        "hint": setting.html(question.hint),
        "explain": setting.html(question.explain),
        "review": _review(question.review, setting) if question.review else None,
    }
    return {**view, "key": _key(view)}


def _option(option: Option, index: int, question: Question, setting: Setting) -> View:
    return {
        "number": option.number,
        "right": option.right,
        "letter": letter(index, setting.language),
        "text": _option_text(option, question.type, setting),
        "why": setting.html(option.why),
    }


def _option_text(option: Option, kind: str, setting: Setting) -> Markup | str | None:
    if kind == "truefalse":
        return setting.words("true" if option.number == TRUE else "false")
    if kind == "output":
        printed = Markup('<code class="dabt-q__printed" dir="ltr">{}</code>')
        return printed.format(option.text[setting.language])
    return setting.html(option.text)


def _item(item: Text, place: int, setting: Setting) -> View:
    plain = to_plain(item[setting.language])
    return {"place": place, "text": setting.html(item), "plain": plain}


def _task(question: Question, setting: Setting) -> str | None:
    keys = {"multiple": "choose_several", "order": "put_in_order"}
    return setting.words(keys[question.type]) if question.type in keys else None


@cache
def _highlighter(language: str) -> partial[str]:
    return partial(
        highlight, lexer=get_lexer_by_name(language), formatter=HtmlFormatter(nowrap=True)
    )


def _code(code: Code) -> View:
    html = _highlighter(code.language)(code.text)
    return {"language": code.language, "html": Markup(html.rstrip("\n"))}


def _number(number: Number, setting: Setting) -> View:
    tolerance = write_number(number.tolerance, setting.language)
    return {
        "value": plain_number(number.value),
        "tolerance": plain_number(number.tolerance),
        "shown": write_number(number.value, setting.language),
        "within": setting.words("within", tolerance=tolerance) if number.tolerance else None,
        "unit": setting.html(number.unit),
        "unit_plain": to_plain(number.unit[setting.language]) if number.unit else "",
    }


def plain_number(number: Decimal) -> str:
    """A number for scripts: a point, no grouping, no exponent, no needless zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_number(number: Decimal, language: str) -> str:
    """A number for readers: `3 750` and `16,5` in French, `3,750` and `16.5` in Arabic."""
    whole, _, rest = plain_number(number).partition(".")
    grouped = f"{int(whole):,}" if len(whole.lstrip("-")) > 3 else whole
    if language == "fr":
        return grouped.replace(",", "\u202f") + (f",{rest}" if rest else "")
    return grouped + (f".{rest}" if rest else "")


def _review(review: Review, setting: Setting) -> View:
    found = setting.titles.get((setting.language, review.page, review.section))
    title = found or (review.section or review.page).replace("-", " ")
    return {
        "href": relative_link(setting.page, review.page, review.section),
        "title_html": to_html(title, setting.language),
    }


def _key(view: View) -> object:
    """The shortest answer of a question, for the printed key."""
    if view["number"]:
        return view["number"]["shown"]
    if view["options"]:
        return " ".join(option["letter"] for option in view["right"])
    return Markup(" · ").join(item["text"] for item in view["sequence"])


def _bands(quiz: Quiz, setting: Setting) -> list[View]:
    count = len(quiz.questions)
    rows, above = [], count + 1
    for band in quiz.bands:
        least = _least(band, count)
        many = setting.words("range", first=least, last=above - 1)
        percent = plain_number(band.percent)
        row = {
            "percent": percent,
            "shown": setting.words("percent", percent=percent),
            "right": many if least < above - 1 else str(least) if least < above else "–",
            "label": setting.html(band.label),
        }
        rows.append(row)
        above = least
    return rows


def _least(band: Band, count: int) -> int:
    """How many right answers a band needs at least."""
    exact = band.percent * count / 100
    return int(exact.to_integral_value(rounding=ROUND_CEILING))
