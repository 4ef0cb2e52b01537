"""Advice on quizzes: each rule warns of its fault only, and budgets can only fall."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.course import lint_course, read_course
from dabt.problems import Problem, report

HEAD = """\
quiz: lora
title: {fr: LoRA, ar: LoRA}
bands: [{from: 0%, label: {fr: Bien, ar: جيد}}]
"""
Warn = Callable[[str], list[Problem]]


@pytest.fixture
def advise(course: Path) -> Warn:
    """The advice on a quiz given as text."""

    def advice(text: str) -> list[Problem]:
        path = course / "docs" / "_data" / "quizzes" / "lora.yml"
        path.write_text(text, encoding="utf-8")
        found, problems = read_course(course / "docs")
        assert not problems, report(problems)
        return list(lint_course(found))

    return advice


def single(name: str, right: str, *wrong: str, arabic: str = "نص", keep: bool = False) -> str:
    """A single question whose Arabic options are numbered words of one length."""
    lines = [
        f"  - id: {name}",
        f"    ask: {{fr: 'Quoi, {name} ?', ar: ماذا؟}}",
        f"    explain: {{fr: Voici pourquoi {name}., ar: السبب {name}.}}",
        *(["    keep-order: true"] if keep else []),
        "    options:",
        f"      - right: {{fr: '{right}', ar: '{arabic}'}}",
    ]
    for letter, text in zip("بتثج", wrong, strict=False):
        lines += [
            f"      - wrong: {{fr: '{text}', ar: 'ن{letter}'}}",
            "        why: {fr: Non., ar: لا.}",
        ]
    return "\n".join(lines) + "\n"


def quiz(*questions: str, head: str = HEAD) -> str:
    return f"{head}questions:\n" + "".join(questions)


def told(problems: list[Problem]) -> list[tuple[int, str]]:
    return [(problem.line, problem.code) for problem in problems if problem.code != "budget"]


def test_good_quiz_has_no_advice(course: Path) -> None:
    found, _ = read_course(course / "docs")
    assert report(lint_course(found)) == ""


def test_right_longest(advise: Warn) -> None:
    long = [single(f"l{n}", "une longue réponse", "court", "bref") for n in range(2)]
    short = [single(f"s{n}", "court", "une longue réponse", "bref") for n in range(4)]
    assert "right-longest" not in {code for _, code in told(advise(quiz(*long, *short)))}
    (first, *_) = [p for p in advise(quiz(*long, *short[:3])) if p.code == "right-longest"]
    assert (first.line, first.severity) == (1, "warning")
    assert first.message == (
        "the right option is the longest in 2 of 5 questions in 'fr' (1 at most): l0, l1"
    )


def test_right_longest_counts_each_language(advise: Warn) -> None:
    some = [single(f"q{n}", "court", "long texte", "bref", arabic="نص أطول") for n in range(4)]
    found = [p for p in advise(quiz(*some)) if p.code == "right-longest"]
    assert [("'ar'" in p.message, "'fr'" in p.message) for p in found] == [(True, False)]


def test_answer_position_run_and_share(advise: Warn) -> None:
    some = [single(f"q{n}", "aa", "bbb", "ccc", "dd", keep=True) for n in range(6)]
    found = [p for p in advise(quiz(*some)) if p.code == "answer-position"]
    assert [p.message for p in found] == [
        "the right option is A 6 times, 1.5 would be fair",
        "the right option has the same letter 6 times in a row",
    ]
    assert "add questions" in found[0].mend


def test_answer_position_proposes_a_shuffle_that_works(advise: Warn) -> None:
    some = [single(f"q{n}", "aa", "bbb", "ccc", "dd") for n in range(12)]
    for number in range(40):
        head = HEAD + f"shuffle: {number}\n"
        found = [p for p in advise(quiz(*some, head=head)) if p.code == "answer-position"]
        if found:
            break
    proposed = found[0].mend.split("'")[1]
    assert proposed.startswith("shuffle: ")
    mended = advise(quiz(*some, head=HEAD + proposed + "\n"))
    assert [p for p in mended if p.code == "answer-position"] == []


def test_all_true_false_alike(advise: Warn) -> None:
    def statement(number: int, answer: str) -> str:
        return (
            f"  - id: t{number}\n    type: truefalse\n    answer: {answer}\n"
            f"    ask: {{fr: Ceci {'x' * number}., ar: هذا.}}\n"
            f"    explain: {{fr: {'y' * (number + 1)}, ar: {'ن' * (number + 1)}}}\n"
        )

    alike = quiz(*(statement(n, "true") for n in range(3)))
    (problem, _budget) = advise(alike)
    assert problem.message == "all 3 true/false questions have the same answer"
    assert advise(quiz(statement(0, "true"), statement(1, "true"), statement(2, "false"))) == []


TEXTS = [
    ("code-differs", "Avec `fp16` ?", "مع `bf16`؟", "ask of 'one': not the same code"),
    ("code-differs", "Avec `fp16` ?", "مع النوع؟", "(fr: fp16; ar: none)"),
    ("numbers-differ", "Pour 7 Go ?", "لأجل 8 GB؟", "(fr: 7; ar: 8)"),
    ("bidi", "Environ 28 Go ?", "نحو ~28GB؟", "'~28GB' in 'ar' is a sign before a number"),
    ("bidi", "En C++ ?", "بلغة C++؟", "'C++' in 'ar'"),
    ("bidi", "Avec strict ?", "مع --strict؟", "'--strict' in 'ar' is an option of a command"),
    ("bidi", "Le fichier env ?", "الملف .env هنا؟", "'.env' in 'ar'"),
    ("bidi", "5 + 3 = 8 ?", "هل 5 + 3 = 8؟", "'5 + 3 = 8' in 'ar' is a calculation"),
    ("option-letter", "La réponse B ?", "ما هذا؟", "'réponse B'"),
    ("option-letter", "Laquelle ?", "هل هو الخيار ب؟", "'الخيار ب'"),
]
GOOD = [
    ("Avec `fp16` et `bf16` ?", "مع `bf16` و`fp16`؟"),
    ("Pour 1 234,5 Go ?", "لأجل 1,234.5 GB؟"),
    ("Pour 1,625 ?", "لأجل ١٫٦٢٥؟"),
    ("Deux octets, 2 ?", "بايتان؟"),
    ("Avec `--strict` ?", "مع `--strict`؟"),
    ("Avec $5 + 3 = 8$ ?", "مع $5 + 3 = 8$؟"),
    ("Un modèle pré-entraîné ?", "نموذج GPT-4 وAdamW؟".replace("GPT-4", "GPT")),
    ("La réponse bonne ?", "الجواب بسيط؟"),
]


@pytest.mark.parametrize(("rule", "french", "arabic", "said"), TEXTS)
def test_texts(rule: str, french: str, arabic: str, said: str, advise: Warn) -> None:
    text = quiz(single("one", "aaa", "bbb", "ccc").replace("Quoi, one ?", french))
    problems = advise(text.replace("ماذا؟", f'"{arabic}"'))
    assert told(problems) == [(5, rule)]
    assert said in problems[0].message


@pytest.mark.parametrize(("french", "arabic"), GOOD)
def test_good_texts(french: str, arabic: str, advise: Warn) -> None:
    text = quiz(single("one", "aaa", "bbb", "ccc").replace("Quoi, one ?", french))
    assert advise(text.replace("ماذا؟", f'"{arabic}"')) == []


def test_same_explanation(advise: Warn) -> None:
    two = quiz(single("one", "aaa", "bbb", "ccc"), single("two", "aaa", "bbb", "ccc"))
    assert advise(two) == []
    problems = advise(two.replace("Voici pourquoi two", "Voici  pourquoi one"))
    assert told(problems) == [(14, "same-explanation")]
    assert problems[0].message == "'two' has the explanation of 'one' in 'fr'"


def test_no_explanation(advise: Warn) -> None:
    text = quiz(single("one", "aaa", "bbb", "ccc"))
    lines = [line for line in text.splitlines() if "explain" not in line]
    del lines[lines.index("        why: {fr: Non., ar: لا.}")]
    assert told(advise("\n".join(lines))) == [(5, "no-explanation"), (9, "no-explanation")]


@pytest.mark.parametrize(
    ("allowed", "codes"),
    [(0, ["no-explanation", "budget"]), (1, []), (2, ["budget"])],
)
def test_budget_must_equal_what_there_is(allowed: int, codes: list[str], advise: Warn) -> None:
    text = quiz(
        single("one", "aaa", "bbb", "ccc"), head=HEAD + f"budget: {{no-explanation: {allowed}}}\n"
    )
    lines = [line for line in text.splitlines() if "explain:" not in line]
    problems = advise("\n".join(lines))
    assert [problem.code for problem in problems] == codes
    budget = [problem for problem in problems if problem.code == "budget"]
    assert all(problem.severity == "error" for problem in budget)
    if allowed == 2:
        assert budget[0].mend == "write 'no-explanation: 1' in 'budget'"
