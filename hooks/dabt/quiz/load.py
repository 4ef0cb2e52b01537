"""Quiz files read and checked: every problem of every file is found before anything is rendered."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound
from yaml import MappingNode, Node, ScalarNode

from dabt import yamlsource
from dabt.filling import fill
from dabt.languages import Language
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.quiz.answers import TYPE_KEYS, read_answer
from dabt.quiz.fields import PERCENT, Reading, read_choice, read_optional_text, read_slug
from dabt.quiz.lint import RULES
from dabt.quiz.model import TYPES, Band, Code, Question, Quiz, Review

QUIZ_KEYS = ("quiz", "title", "intro", "shuffle", "bands", "budget", "questions")
COMMON_KEYS = (
    "id", "type", "ask", "code", "language", "hint", "explain", "review", "tags", "difficulty",
)  # fmt: skip
ANSWER_KEYS = tuple(dict.fromkeys(key for keys in TYPE_KEYS.values() for key in keys))
REVIEW = re.compile(r"(?P<page>(?:[a-z0-9-]+/)*[a-z0-9-]+\.md)(?:#(?P<section>[a-z0-9-]+))?")


def load_quizzes(folder: Path, languages: Sequence[Language]) -> tuple[Quiz, ...]:
    """The quizzes of a folder. Raises DabtError with every problem of all files."""
    quizzes, problems = read_quizzes(folder, languages)
    if problems:
        raise DabtError(problems)
    return quizzes


def read_quizzes(
    folder: Path, languages: Sequence[Language]
) -> tuple[tuple[Quiz, ...], tuple[Problem, ...]]:
    """The quizzes of a folder that could be read, and all problems; nothing is raised."""
    quizzes: list[Quiz] = []
    paths, problems = yamlsource.files(folder)
    for path in paths:
        quiz, found = read_quiz(path, languages)
        quizzes.extend([quiz] if quiz else [])
        problems.extend(found)
    problems.extend(_repeated_ids(quizzes))
    return tuple(quizzes), tuple(problems)


def read_quiz(path: Path, languages: Sequence[Language]) -> tuple[Quiz | None, tuple[Problem, ...]]:
    """The quiz of a file and its problems. With problems, the quiz is only good for messages."""
    root, findings = yamlsource.read(path)
    if root is None:
        return None, tuple(findings.problems)
    fill(root, languages)
    reading = Reading(findings, tuple(language.code for language in languages))
    return _read_root(root, path.stem, reading), tuple(findings.problems)


def _repeated_ids(quizzes: Iterable[Quiz]) -> list[Problem]:
    first: dict[str, str] = {}
    problems = []
    for quiz in quizzes:
        for question in quiz.questions:
            at, known = question.at, first.setdefault(question.id, quiz.slug)
            if question.id and known != quiz.slug:
                message = f"the id '{question.id}' is already in the quiz '{known}'"
                mend = "choose another id: it names the saved answer in the whole course"
                place = (at.file, at.line, at.column)
                problems.append(Problem(*place, message, "duplicate-id", mend))
    return problems


def _read_root(root: Node, stem: str, reading: Reading) -> Quiz:
    required = ("quiz", "title", "bands", "questions")
    values = yamlsource.entries(root, reading.findings, QUIZ_KEYS, required)
    slug = read_slug(values["quiz"], "the name of a quiz", reading) if "quiz" in values else stem
    if slug != stem:
        message = f"the quiz is called '{slug}' and its file '{stem}.yml'"
        reading.findings.at(values["quiz"], message, "file-name", f"write 'quiz: {stem}'")
    return Quiz(
        slug=stem,
        title=read_optional_text(values, "title", reading) or {},
        intro=read_optional_text(values, "intro", reading),
        shuffle=_whole(values.get("shuffle"), reading),
        bands=_read_bands(values.get("bands"), reading),
        budget=_read_budget(values.get("budget"), reading),
        questions=_read_questions(values.get("questions"), reading),
        at=reading.place(root),
    )


def _whole(node: Node | None, reading: Reading) -> int:
    word = yamlsource.text_of(node, reading.findings)
    if isinstance(node, ScalarNode) and not re.fullmatch(r"\d{1,6}", word):
        reading.findings.at(node, f"'{word}' is not a whole number", "number", "write digits: 2")
        return 0
    return int(word or 0)


def _read_budget(node: Node | None, reading: Reading) -> dict[str, int]:
    if node is None:
        return {}
    values = yamlsource.entries(node, reading.findings, tuple(sorted(RULES)))
    return {rule: _whole(value, reading) for rule, value in values.items()}


def _read_bands(node: Node | None, reading: Reading) -> tuple[Band, ...]:
    before = len(reading.findings.problems)
    nodes = yamlsource.items(node, reading.findings)
    bands = tuple(_read_band(item, reading) for item in nodes)
    if node is not None and len(reading.findings.problems) == before:
        _check_bands(node, nodes, bands, reading)
    return bands


def _check_bands(
    node: Node, nodes: Sequence[Node], bands: Sequence[Band], reading: Reading
) -> None:
    for item, band, above in zip(nodes[1:], bands[1:], bands, strict=False):
        if band.percent >= above.percent:
            message = f"the band from {band.percent}% follows the one from {above.percent}%"
            reading.findings.at(item, message, "bands", "write the bands from the highest down")
    if not bands or bands[-1].percent != 0:
        message = "results below the last band have no label"
        mend = "end the list with a band '{from: 0%, label: …}'"
        reading.findings.at(nodes[-1] if nodes else node, message, "bands", mend)


def _read_band(node: Node, reading: Reading) -> Band:
    keys = ("from", "label")
    values = yamlsource.entries(node, reading.findings, keys, keys)
    label = read_optional_text(values, "label", reading) or {}
    written = values.get("from")
    share = PERCENT.fullmatch(yamlsource.text_of(written, reading.findings))
    if isinstance(written, ScalarNode) and (not share or Decimal(share[1]) > 100):
        message = f"'{written.value}' is not a percentage from 0% to 100%"
        reading.findings.at(written, message, "bands", "write 'from: 80%'")
    return Band(Decimal(share[1]) if share else Decimal(0), label)


def _read_questions(node: Node | None, reading: Reading) -> tuple[Question, ...]:
    nodes = yamlsource.items(node, reading.findings)
    if node is not None and not nodes and not reading.findings.problems:
        reading.findings.at(node, "the quiz has no question", "empty", "write one")
    questions = tuple(_read_question(item, reading) for item in nodes)
    lines: dict[str, int] = {}
    for question in questions:
        if question.id and question.id in lines:
            place = (question.at.file, question.at.line, question.at.column)
            message = f"the id '{question.id}' is already on line {lines[question.id]}"
            mend = "choose another id for the newer question"
            reading.findings.problems.append(Problem(*place, message, "duplicate-id", mend))
        lines.setdefault(question.id, question.at.line)
    return questions


def _read_question(node: Node, reading: Reading) -> Question:
    every = (*COMMON_KEYS, *ANSWER_KEYS)
    values = yamlsource.entries(node, reading.findings, every, ("id", "ask"))
    kinds = {name: name for name in TYPES}
    kind = read_choice(
        values.get("type"), "type", kinds, "" if "type" in values else "single", reading
    )
    _check_type_keys(node, kind, reading)
    name = read_slug(values["id"], "an id", reading) if "id" in values else ""
    return Question(
        id=name,
        type=kind,
        ask=read_optional_text(values, "ask", reading) or {},
        at=reading.place(node),
        code=_read_code(values, reading),
        hint=read_optional_text(values, "hint", reading),
        explain=read_optional_text(values, "explain", reading),
        review=_read_review(values.get("review"), reading),
        tags=_read_tags(values.get("tags"), reading),
        difficulty=read_choice(
            values.get("difficulty"), "difficulty", {"1": 1, "2": 2, "3": 3}, None, reading
        ),
        **read_answer(node, kind, values, name, reading),
    )


def _check_type_keys(node: Node, kind: str, reading: Reading) -> None:
    known = (*COMMON_KEYS, *TYPE_KEYS.get(kind, ANSWER_KEYS))
    for key, _ in node.value if isinstance(node, MappingNode) else ():
        others = [name for name, keys in TYPE_KEYS.items() if key.value in keys]
        if others and key.value not in known:
            message = f"the key '{key.value}' does not belong to a question of type '{kind}'"
            mend = f"remove it, or write 'type: {others[0]}'"
            reading.findings.at(key, message, "unknown-key", mend)


def _read_code(values: dict[str, Node], reading: Reading) -> Code | None:
    if "code" not in values:
        if "language" in values:
            message = "'language' is the language of a 'code' that is not here"
            reading.findings.at(values["language"], message, "missing-key", "add 'code: |'")
        return None
    text = yamlsource.text_of(values["code"], reading.findings)
    if isinstance(values["code"], ScalarNode) and not text.strip():
        reading.findings.at(
            values["code"], "the code is empty", "empty", "write it after 'code: |'"
        )
    language = "python"
    if "language" in values:
        language = yamlsource.text_of(values["language"], reading.findings)
        _check_code_language(values["language"], language, reading)
    return Code(text, language)


def _check_code_language(node: Node, language: str, reading: Reading) -> None:
    try:
        get_lexer_by_name(language)
    except ClassNotFound:
        mend = did_you_mean(language, ["python", "bash", "yaml", "json", "text", "console"])
        message = f"Pygments knows no language '{language}'"
        reading.findings.at(node, message, "code-language", mend)


def _read_review(node: Node | None, reading: Reading) -> Review | None:
    if node is None:
        return None
    written = yamlsource.text_of(node, reading.findings)
    match = REVIEW.fullmatch(written)
    if isinstance(node, ScalarNode) and not match:
        mend = "a page of the language's folder and the id of a section: full/traditional.md#warmup"
        reading.findings.at(node, f"'{written}' is not a place in a page", "review", mend)
    if not match:
        return None
    return Review(match["page"], match["section"] or "", reading.place(node))


def _read_tags(node: Node | None, reading: Reading) -> tuple[str, ...]:
    if node is None:
        return ()
    nodes = yamlsource.items(node, reading.findings)
    return tuple(read_slug(item, "a tag", reading) for item in nodes)
