"""Quizzes in pages: which questions a directive shows, and what can be wrong with it."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from dabt.directives import Directive, Place
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.quiz.model import Question, Quiz

Quizzes = Mapping[str, Quiz]
Selection = tuple[Quiz, tuple[Question, ...]]


def select(argument: str, place: Place, quizzes: Quizzes) -> Selection:
    """The quiz of an argument `slug` or `slug#id-a,id-b`, and the questions that it chooses.

    No chosen question means the whole quiz. Raises DabtError with every problem of the argument.
    """
    slug, mark, listed = argument.partition("#")
    if slug not in quizzes:
        message = f"no quiz '{slug}'" if slug else "which quiz?"
        mend = did_you_mean(slug, sorted(quizzes))
        raise DabtError([_problem(place, message, "unknown-quiz", mend)])
    known = {question.id: question for question in quizzes[slug].questions}
    names = [name.strip() for name in listed.split(",")] if mark else []
    problems = [
        _problem(place, f"no question '{n}' in '{slug}'", "unknown-question", _mend(n, known))
        for n in names
        if n not in known
    ]
    if problems:
        raise DabtError(problems)
    return quizzes[slug], tuple(known[name] for name in names)


def _mend(name: str, known: Mapping[str, Question]) -> str:
    return did_you_mean(name, list(known)) if name else "write '::: quiz slug#id-a,id-b'"


def _problem(place: Place, message: str, code: str, mend: str) -> Problem:
    return Problem(place.file, place.line, 1, message, code, mend)


def check_directives(
    directives: Iterable[Directive], place: Place, quizzes: Quizzes, unread: Container[str] = ()
) -> tuple[tuple[Problem, ...], frozenset[str]]:
    """The problems of the quiz directives of one page, and the slugs of the quizzes it shows.

    Nothing is said of the quizzes in `unread`: their files are there, and have problems already.
    """
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    slugs = set()
    for directive in directives:
        slug = directive.argument.partition("#")[0]
        if directive.name != "quiz" or directive.nested or slug in unread:
            continue
        here = replace(place, line=directive.line)
        try:
            quiz, chosen = select(directive.argument, here, quizzes)
        except DabtError as error:
            problems.extend(error.problems)
            continue
        slugs.add(quiz.slug)
        names = [question.id for question in chosen]
        every = dict.fromkeys(question.id for question in quiz.questions)
        problems.extend(_shown_twice(names or every, here, lines))
    return tuple(problems), frozenset(slugs)


def _shown_twice(names: Iterable[str], place: Place, lines: dict[str, int]) -> Iterable[Problem]:
    for name in names:
        if name in lines:
            message = f"the question '{name}' is already shown from line {lines[name]}"
            mend = "show a question once in a page: its id is an anchor"
            yield _problem(place, message, "shown-twice", mend)
        lines.setdefault(name, place.line)
