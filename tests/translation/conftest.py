"""A small course in two languages, in which everything is confirmed."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from dabt.languages import Language
from dabt.translation import Survey, confirm, survey

ARABIC, FRENCH = Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr")
SPANISH = Language("es", "Español", "ltr")
FRENCH_PAGE = """---
title: LoRA
description: Deux matrices.
---

# LoRA { #lora }

Un début.[^one]

## L'idée { #idea }

Le produit de deux matrices.

``` { .python title="train.py" }
--8<-- "peft/lora/train.py:load"
```

::: quiz lora#rank

## La suite { #next }

Fin.

[^one]: Une note.
"""
ARABIC_PAGE = """---
title: LoRA
description: مصفوفتان.
---

# LoRA { #lora }

بداية.[^one]

## الفكرة { #idea }

حاصل ضرب مصفوفتين.

``` { .python title="train.py" }
--8<-- "peft/lora/train.py:load"
```

::: quiz lora#rank

## بعد ذلك { #next }

النهاية.

[^one]: حاشية.
"""
QUIZ = """quiz: lora
title: {fr: LoRA, ar: LoRA}
bands:
  - {from: 0%, label: {fr: À revoir, ar: راجع}}
questions:
  - id: rank
    ask: {fr: Combien ?, ar: كم؟}
    value: 16
"""
UI = """site:
  home: {ar: البداية, fr: Accueil}
  count: {ar: {one: واحد, other: كثير}, fr: {one: un, other: plusieurs}}
"""
GLOSSARY = """terms:
  - id: rank
    en: rank
    name: {ar: الرتبة, fr: rang}
    forms: {ar: [رتبة], fr: [rangs]}
    define: {ar: عدد., fr: Un nombre.}
"""


@dataclass(frozen=True)
class Course:
    """A folder `docs` and what tests do with it."""

    docs: Path
    languages: tuple[Language, ...]

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.docs / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} does not hold {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def survey(self) -> Survey:
        return survey(self.docs, self.languages)

    def confirm(self, *names: str, languages=(), unchanged=False) -> int:
        return confirm(self.docs / "_data", self.survey(), names, languages, unchanged)

    def open(self) -> set[str]:
        """Return what is not in step, as `fr peft/lora#idea review`."""
        return {
            f"{one.language} {one.unit.slug}#{one.unit.key} {one.state}"
            for one in self.survey().entries
            if one.state != "in step"
        }

    def open_in(self, slug: str) -> set[str]:
        """Return what is not in step in one page, as `fr idea review`."""
        return {one.replace(f"{slug}#", "") for one in self.open() if f" {slug}#" in one}


def write(docs: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(content, encoding="utf-8")


FILES = {
    "ar/peft/lora.md": ARABIC_PAGE,
    "fr/peft/lora.md": FRENCH_PAGE,
    "_data/quizzes/lora.yml": QUIZ,
    "_data/ui.yml": UI,
    "_data/glossary.yml": GLOSSARY,
}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    write(tmp_path / "docs", FILES)
    made = Course(tmp_path / "docs", (ARABIC, FRENCH))
    made.confirm()
    return made


@pytest.fixture
def spanish(course: Course) -> Course:
    """The same with a page in Spanish, confirmed like the others."""
    page = FRENCH_PAGE.replace("Le produit de deux matrices.", "El producto de dos matrices.")
    write(course.docs, {"es/peft/lora.md": page})
    made = Course(course.docs, (ARABIC, FRENCH, SPANISH))
    made.confirm("peft/lora")
    return made
