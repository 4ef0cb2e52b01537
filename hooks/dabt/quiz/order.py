"""The order in which options are shown: mixed, yet the same in every language and build."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from dabt.quiz.model import Option, Question, Quiz

NUMBER = re.compile(r"[~≈]?[-+−]?\d[\d\s.,\u00a0\u202f]*(?:[eE][-+−]?\d+)?")


def ordered_options(quiz: Quiz, question: Question) -> tuple[Option, ...]:
    """The options of a question as they are shown."""
    if question.keep_order or question.type == "truefalse" or all_numbers(question.options):
        return question.options
    order = mixed(quiz, question, range(len(question.options)))
    return tuple(question.options[index] for index in order)


def ordered_items(quiz: Quiz, question: Question) -> tuple[int, ...]:
    """The places (from 1) of an ordering question's items as they are shown: never solved."""
    order = mixed(quiz, question, range(len(question.items)))
    if order and order == sorted(order):
        order = [*order[1:], order[0]]
    return tuple(index + 1 for index in order)


def mixed(quiz: Quiz, question: Question, indexes: Iterable[int]) -> list[int]:
    """Indexes sorted by a hash of the quiz, the question and the index."""

    def key(index: int) -> bytes:
        made_of = f"{quiz.slug}/{question.id}/{index}/{quiz.shuffle or ''}"
        return hashlib.sha256(made_of.encode()).digest()

    return sorted(indexes, key=key)


def all_numbers(options: Sequence[Option]) -> bool:
    """Whether every option is a number, with the same unit, in some language.

    In some and not in all: Arabic units are inflected (4 بايتات, 16 بايتًا).
    """
    languages = options[0].text if options else {}
    return any(_same_unit([option.text[code] for option in options]) for code in languages)


def _same_unit(texts: Sequence[str]) -> bool:
    matches = [(text, NUMBER.match(text.strip(" `$"))) for text in texts]
    if not all(match for _, match in matches):
        return False
    return len({text.strip(" `$")[match.end() :].strip() for text, match in matches}) == 1


LETTERS = {"ar": "أبجدهوزح"}
LATIN_LETTERS = "ABCDEFGH"


def letter(index: int, language: str) -> str:
    """The letter of the option at an index (from 0): A, B, C … or أ، ب، ج …"""
    return LETTERS.get(language, LATIN_LETTERS)[index]
