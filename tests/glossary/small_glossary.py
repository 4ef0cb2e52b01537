"""A small glossary, as a text and read."""

from pathlib import Path

from dabt.glossary.load import read_glossary
from dabt.glossary.model import Glossary
from dabt.languages import load_languages
from dabt.problems import Problem

ROOT = Path(__file__).parents[2]
LANGUAGES = load_languages(ROOT / "docs/_data/languages.yml")
SMALL = """\
terms:
  - id: loss
    en: loss
    name: {ar: الخسارة, fr: perte}
    also: {ar: [لوس], fr: [fonction de coût]}
    define:
      ar: "عدد يقيس البُعد عن الوسوم. التدريب يخفضه."
      fr: "Nombre qui mesure l’écart aux étiquettes. L’entraînement le réduit."
    taught: [later/page, peft/lora#idea]
  - id: learning-rate
    en: learning rate
    name: {ar: معدل التعلّم, fr: taux d’apprentissage}
    define: {ar: حجم الخطوة., fr: Taille du pas.}
  - id: step
    en: step
    name: {ar: خطوة, fr: pas}
    mark: never
    define: {ar: تعديل واحد., fr: Une mise à jour.}
  - id: lora
    en: LoRA
    name: {ar: التكييف المنخفض الرتبة, fr: adaptation de rang faible}
    forms: {ar: [LoRA], fr: [LoRA]}
    mark: once
    define: {ar: "مصفوفتان: `B·A`.", fr: "Deux matrices : `B·A`."}
    avoid:
      - {language: ar, form: التخصيص الدقيق, write: الضبط الدقيق, why: another meaning}
      - {language: fr, pattern: 'recomput(?:e[rsz]?|ent)', write: recalculer, why: not French}
avoid:
  - {language: fr, pattern: GB, write: Go, why: French units}
"""


def read(folder: Path, text: str) -> tuple[Glossary, tuple[Problem, ...]]:
    path = folder / "glossary.yml"
    path.write_text(text, encoding="utf-8")
    return read_glossary(path, LANGUAGES)
