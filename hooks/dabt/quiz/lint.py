"""Advice on quizzes: what a reader would notice though every rule of the format is kept.

Each rule gives warnings. A quiz may accept some of them in its `budget`, by rule; the budget must
equal what is found, so it can only fall.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from dabt.languages import DECIMAL_COMMA, direction
from dabt.problems import Problem
from dabt.quiz.inline import blanked, code_spans, to_plain
from dabt.quiz.model import TRUE, Location, Option, Question, Quiz, Text
from dabt.quiz.order import LATIN_LETTERS, ordered_options
from dabt.text.common import traps

LONGEST_SHARE = 3  # the right option may be the longest in a third of the questions
LONGEST_RUN = 3
MOST_SHUFFLES = 400
DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩", "0123456789")
NUMBER = re.compile(r"\d+(?:[.,٫]\d+)*")
# Where the decimal mark is a comma, a space stands between thousands.
COMMA_GROUPS = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
OTHER_GROUPS = re.compile(r"(?<=\d)[,٬](?=\d{3}(?!\d))")
# Arabic says one and two by the form of the noun (بايت، بايتان).
SAID_IN_WORDS = frozenset({"1", "2"})
OPTION_LETTER = re.compile(
    r"(?:\b(?:réponses?|options?|choix|propositions?)\s+[A-H]\b)"
    r"|(?:(?:الخيار|الخيارات|الإجابة|الجواب|الاختيار)\s+[\"«(]?(?:[أبجدهوزح]|[A-H])(?!\w))",
)
Warnings = Iterator[Problem]
Extract = Callable[[str, str], list[str]]


def lint_quiz(quiz: Quiz) -> tuple[Problem, ...]:
    """The warnings of the rules whose budget is passed, and an error for each wrong budget."""
    found: list[Problem] = []
    for rule, look in RULES.items():
        warnings = [replace(problem, code=rule) for problem in look(quiz)]
        allowed = (quiz.budget or {}).get(rule, 0)
        if len(warnings) > allowed:
            found.extend(warnings)
        if len(warnings) != allowed:
            found.append(_budget_problem(quiz.at, rule, len(warnings), allowed))
    return tuple(found)


def _budget_problem(at: Location, rule: str, count: int, allowed: int) -> Problem:
    message = f"'{rule}' warns {count} times, and the budget of this quiz is {allowed}"
    if count > allowed:
        mend = "mend what the warnings show"
    else:
        mend = f"write '{rule}: {count}' in 'budget'" if count else f"remove '{rule}' from 'budget'"
    return Problem(at.file, at.line, at.column, message, "budget", mend)


def _warning(at: Location, message: str, mend: str, code: str = "") -> Problem:
    return Problem(at.file, at.line, at.column, message, code, mend, "warning")


def _languages(quiz: Quiz) -> tuple[str, ...]:
    return tuple(quiz.title)


def _texts(quiz: Quiz) -> Iterator[tuple[str, Location, Text]]:
    """Every text that is written in each language, with its name and place."""
    yield "title", quiz.at, quiz.title
    if quiz.intro:
        yield "intro", quiz.at, quiz.intro
    for question in quiz.questions:
        for name, at, text in _question_texts(question):
            yield f"{name} of '{question.id}'", at, text


def _question_texts(question: Question) -> Iterator[tuple[str, Location, Text]]:
    yield "ask", question.at, question.ask
    for option in question.options:
        if question.type not in ("truefalse", "output"):
            yield f"option {option.number}", option.at, option.text
        if option.why:
            yield f"why {option.number}", option.at, option.why
    for number, item in enumerate(question.items, 1):
        yield f"item {number}", question.at, item
    unit = question.number.unit if question.number else None
    others = (("unit", unit), ("hint", question.hint), ("explain", question.explain))
    yield from ((name, question.at, text) for name, text in others if text)


def right_longest(quiz: Quiz) -> Warnings:
    """In a language, the right option is the longest in more than a third of the questions."""
    single = [question for question in quiz.questions if question.type == "single"]
    most = max(1, len(single) // LONGEST_SHARE)
    for language in _languages(quiz):
        longest = [question.id for question in single if _is_longest(question, language)]
        if len(longest) > most:
            message = (
                f"the right option is the longest in {len(longest)} of {len(single)} questions "
                f"in '{language}' ({most} at most): {', '.join(longest)}"
            )
            yield _warning(quiz.at, message, "shorten right options or lengthen wrong ones")


def _is_longest(question: Question, language: str) -> bool:
    lengths = {option.number: len(to_plain(option.text[language])) for option in question.options}
    right = max(lengths[option.number] for option in question.right)
    return all(right > lengths[option.number] for option in question.options if not option.right)


def answer_position(quiz: Quiz) -> Warnings:
    """The letters of the right options are spread unevenly, or one comes too often in a row."""
    faults = _position_faults(quiz)
    shuffle = _better_shuffle(quiz) if faults else None
    mend = (
        f"write 'shuffle: {shuffle}' at the top of the file"
        if shuffle
        else ("add questions, or reorder options that keep the author's order")
    )
    for message in faults:
        yield _warning(quiz.at, message, mend)
    answers = [q.right[0].number == TRUE for q in quiz.questions if q.type == "truefalse"]
    if len(answers) >= LONGEST_RUN and len(set(answers)) == 1:
        message = f"all {len(answers)} true/false questions have the same answer"
        yield _warning(quiz.at, message, "turn one of the statements round")


def _position_faults(quiz: Quiz) -> list[str]:
    places = [
        (_place_of_right(quiz, question), len(question.options))
        for question in quiz.questions
        if question.type in ("single", "output") and question.options
    ]
    counts = Counter(place for place, _ in places)
    faults = []
    for place in range(max((size for _, size in places), default=0)):
        fair = sum(1 / size for _, size in places if place < size)
        letter, count = LATIN_LETTERS[place], counts[place]
        if count > 2 * fair + 1 or count < fair / 2 - 1:
            faults.append(f"the right option is {letter} {count} times, {fair:.1f} would be fair")
    longest = _longest_run([place for place, _ in places])
    if longest > LONGEST_RUN:
        faults.append(f"the right option has the same letter {longest} times in a row")
    return faults


def _place_of_right(quiz: Quiz, question: Question) -> int:
    return next(i for i, option in enumerate(ordered_options(quiz, question)) if option.right)


def _longest_run(places: Iterable[int]) -> int:
    longest, run, before = 0, 0, None
    for place in places:
        run = run + 1 if place == before else 1
        longest, before = max(longest, run), place
    return longest


def _better_shuffle(quiz: Quiz) -> int | None:
    tries = (number for number in range(1, MOST_SHUFFLES) if number != quiz.shuffle)
    return next((n for n in tries if not _position_faults(replace(quiz, shuffle=n))), None)


def code_differs(quiz: Quiz) -> Warnings:
    """The languages of a text do not show the same code."""
    yield from _differences(quiz, "code", lambda text, _: sorted(set(code_spans(text))))


def numbers_differ(quiz: Quiz) -> Warnings:
    """The languages of a text do not give the same numbers."""
    yield from _differences(quiz, "numbers", _numbers)


def _numbers(text: str, language: str) -> list[str]:
    """The numbers of a text in one form: French `1 234,5` is Arabic `1,234.5` or `١٬٢٣٤٫٥`."""
    groups = COMMA_GROUPS if language in DECIMAL_COMMA else OTHER_GROUPS
    plain = groups.sub("", blanked(text, "code").translate(DIGITS))
    numbers = {match[0].replace(",", ".").replace("٫", ".") for match in NUMBER.finditer(plain)}
    return sorted(numbers - SAID_IN_WORDS)


def _differences(quiz: Quiz, what: str, extract: Extract) -> Warnings:
    for name, at, text in _texts(quiz):
        found = {language: extract(words, language) for language, words in text.items()}
        if len({tuple(values) for values in found.values()}) > 1:
            listed = "; ".join(f"{code}: {', '.join(v) or 'none'}" for code, v in found.items())
            message = f"{name}: not the same {what} in every language ({listed})"
            yield _warning(at, message, "write the same in every language, or put it in words")


def bidi(quiz: Quiz) -> Warnings:
    """Text of a right-to-left language holds a run of signs that belongs between backticks."""
    for name, at, text in _texts(quiz):
        for language, words in text.items():
            if direction(language) == "ltr":
                continue
            for _, run, why in traps(blanked(words, "code", "math")):
                message = f"{name}: '{run}' in '{language}' is {why}, and may be shown reordered"
                yield _warning(at, message, f"write `{run}` between backticks, or $…$")


def option_letter(quiz: Quiz) -> Warnings:
    """A text speaks of an option by its letter, but letters are given when rendering."""
    for name, at, text in _texts(quiz):
        for words in text.values():
            if match := OPTION_LETTER.search(words):
                message = f"{name}: '{match[0]}', but options are mixed before they get letters"
                yield _warning(at, message, "name the option by what it says")


def same_explanation(quiz: Quiz) -> Warnings:
    """Two questions have the same explanation in a language."""
    first: dict[tuple[str, str], Question] = {}
    for question in quiz.questions:
        for language, words in (question.explain or {}).items():
            known = first.setdefault((language, " ".join(words.split())), question)
            if known is not question:
                message = f"'{question.id}' has the explanation of '{known.id}' in '{language}'"
                yield _warning(question.at, message, "explain this question")


def no_explanation(quiz: Quiz) -> Warnings:
    """A question or a wrong option says nothing about why."""
    for question in quiz.questions:
        if not question.explain:
            yield _warning(question.at, f"'{question.id}' has no explanation", "add 'explain:'")
        for option in question.options:
            if _needs_why(question, option):
                message = f"a wrong option of '{question.id}' does not say why it is wrong"
                yield _warning(option.at, message, "add 'why:' to the option")


def _needs_why(question: Question, option: Option) -> bool:
    return question.type != "truefalse" and not option.right and not option.why


RULES: dict[str, Callable[[Quiz], Warnings]] = {
    "right-longest": right_longest,
    "answer-position": answer_position,
    "code-differs": code_differs,
    "numbers-differ": numbers_differ,
    "bidi": bidi,
    "option-letter": option_letter,
    "same-explanation": same_explanation,
    "no-explanation": no_explanation,
}
