"""The check of words: what it stops, what it lets pass, and where it does not look."""

from pathlib import Path

import pytest

from dabt.glossary.lint import lint_prose
from dabt.text.prose import Prose, markdown_prose, yaml_prose

STOPPED = [
    ("ar", "في التخصيص الدقيق"), ("ar", "للتخصيص الدقيق"), ("ar", "وبالتخصيص الدقيق"),
    ("ar", "التَّخْصيص الدَّقيق"), ("ar", "عدد العصور"), ("ar", "بعدد العصور"),
    ("ar", "عصور التدريب"), ("ar", "تمرير التقديم"), ("ar", "تحت التدفق"),
    ("ar", "نوع البيانات المحسوبة"), ("ar", "مُحسِّن مصفّح"), ("ar", "المُحسِّنات المصفّحة"),
    ("ar", "للمحسنات المصفحة"), ("ar", "نقاط تفتيش التدرج"), ("ar", "التدقيق التدريجي"),
    ("ar", "والتحقق من التنشيط"), ("ar", "نفاذ الذاكرة"), ("ar", "عند نفاذ الذاكرة"),
    ("ar", "إنتقل إلى"), ("ar", "وإنتقل"), ("ar", "التحقق من التدرج (gradient checkpointing)"),
    ("ar", "التخصيص\n    الدقيق"),
    ("fr", "on recompute"), ("fr", "recomputer"), ("fr", "recomputent"), ("fr", "recomputé"),
    ("fr", "Recomputant"), ("fr", "il surapprend aux données"), ("fr", "surapprendre au jeu"),
    ("fr", "sous-dépassement"), ("fr", "un surajustement"), ("fr", "finetuner"),
    ("fr", "fine-tuner"), ("fr", "finetuné"), ("fr", "la quantisation"), ("fr", "infonuagique"),
    ("fr", "16 GB"), ("fr", "16\u00a0GiB"), ("fr", "pré-entraîné"), ("fr", "pré-entraînement"),
    ("fr", "PRÉ-ENTRAÎNER"),
]  # fmt: skip
WARNED = [
    ("ar", "التحقق من التدرج"), ("ar", "للتحقق من التدرجات"),
    ("fr", "sous-flux"), ("fr", "surentraînement"),
]  # fmt: skip
# The map of the course says «never ban»: all are ordinary words.
NEVER = [
    *(("ar", word) for word in (
        "العصور", "المحسوبة", "التسخين", "فائض", "تجاوز", "محول", "معيار", "التراجع", "الدقة",
        "التخصيص", "الدقيق", "التحقق", "نفاذ", "نفاد الذاكرة", "انتقل", "مصفّح", "التدفق",
        "الضبط الدقيق", "تخصيص دقيق للذاكرة", "المحسِّنات", "التقديم",
    )),
    *(("fr", word) for word in (
        "pondération", "coupe", "réglage", "précision", "jeton", "ajuster", "affiner",
        "dropout", "embedding", "KV cache", "RAG", "surapprend aux dépens des autres",
        "le modèle surapprend", "précompute_ref", "fine-tuning", "affinage", "réglage fin",
        "recalculer", "Gb/s", "16 Go", "préentraîné", "flux", "dépassement", "entraînement",
    )),
]  # fmt: skip


def told(glossary, language: str, text: str) -> list[tuple[str, int, int]]:
    prose = Prose("x.md", language, text)
    return [(p.severity, p.line, p.column) for p in lint_prose(glossary, prose)]


@pytest.mark.parametrize(("language", "text"), STOPPED)
def test_stopped(course_glossary, language: str, text: str):
    assert [severity for severity, *_ in told(course_glossary, language, text)] == ["error"]


@pytest.mark.parametrize(("language", "text"), WARNED)
def test_warned(course_glossary, language: str, text: str):
    assert [severity for severity, *_ in told(course_glossary, language, text)] == ["warning"]


@pytest.mark.parametrize(("language", "text"), NEVER)
def test_never_banned(course_glossary, language: str, text: str):
    assert told(course_glossary, language, text) == []


def test_place_word_reason_and_mend(course_glossary):
    text = "---\ntitle: x\n---\n\n# عنوان\n\nهذا هو\nفي التَّخصيص الدقيق هنا.\n"
    (problem,) = lint_prose(course_glossary, markdown_prose(text, "docs/ar/x.md", "ar"))
    assert str(problem) == (
        "docs/ar/x.md:8:4: error: 'التَّخصيص الدقيق': it means exact allocation [term]\n"
        "  mend: write 'الضبط الدقيق'; what is quoted stands between « »"
    )


NOT_PROSE = [
    "`recomputer`", "```\nrecomputer\n```", "    ``` { .text }\n    16 GB\n    ```",
    "<!-- recomputer -->", "« recomputer »", "“recomputer”", "[lien](recomputer.md)",
    "https://example.org/recomputer", '<a href="recomputer">x</a>', "$recomputer$",
    "::: figure recomputer", "recalcul (*recompute*)", "## Titre { #recomputer }",
    "[^recomputer]", "--8<-- \"recomputer.py\"", "[1]: recomputer",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_PROSE)
def test_what_is_no_prose(course_glossary, text: str):
    front = "---\ntitle: recomputer\n---\n"
    prose = markdown_prose(f"{front}{text}\n", "x.md", "fr")
    assert list(lint_prose(course_glossary, prose)) == []
    (problem,) = lint_prose(
        course_glossary, markdown_prose(f"{front}{text}\n\nrecomputer\n", "x.md", "fr")
    )
    assert problem.line == (front + text).count("\n") + 3


def test_data_files_are_read_by_language(course_glossary, tmp_path: Path):
    path = tmp_path / "x.yml"
    path.write_text(
        "title: {fr: 'il recompute', ar: recompute}\n"
        "code: recompute\n"
        "many:\n  fr:\n    one: >-\n      va sous-\n"
        "    other: le modèle\n      recompute `recompute`\n"
        "  ar: {one: عدد العصور}\n",
        encoding="utf-8",
    )
    found = [
        (p.line, p.column)
        for prose in yaml_prose(path, ("ar", "fr"))
        for p in lint_prose(course_glossary, prose)
    ]
    assert found == [(9, 13), (1, 17), (8, 7)]
