"""A small course with every type of question, written on disk."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "docs" / "_data"

QUIZ = """\
quiz: lora
title: {fr: LoRA, ar: LoRA}
bands:
  - {from: 80%, label: {fr: Bien, ar: جيد}}
  - {from: 0%, label: {fr: À revoir, ar: راجع}}
questions:
  - id: trained-weights
    ask: {fr: Que change LoRA ?, ar: ماذا يغيّر LoRA؟}
    options:
      - right: {fr: Deux matrices, ar: مصفوفتين}
      - wrong: {fr: Tout le modèle, ar: النموذج كله}
        why: {fr: Il reste gelé., ar: يبقى مجمّدًا.}
    explain: {fr: Le reste est gelé., ar: الباقي مجمّد.}
    review: peft/lora.md#idea
  - id: rank
    type: numeric
    ask: {fr: Combien ?, ar: كم؟}
    value: 16
    tolerance: 0.5
    unit: {fr: Go, ar: GB}
    explain: {fr: Un calcul., ar: حساب.}
  - id: frozen
    type: truefalse
    ask: {fr: Le modèle est gelé., ar: النموذج مجمّد.}
    answer: true
    explain: {fr: Oui., ar: نعم.}
  - id: steps
    type: order
    ask: {fr: Remettez en ordre., ar: رتّب.}
    items:
      - {fr: Passe avant, ar: التمرير الأمامي}
      - {fr: Passe arrière, ar: التمرير الخلفي}
      - {fr: Mise à jour, ar: التحديث}
    explain: {fr: Toujours ainsi., ar: هكذا دائمًا.}
  - id: printed
    type: output
    ask: {fr: Qu'affiche ce programme ?, ar: ماذا يطبع؟}
    code: |
      print(2.0 - 0.1)
    options:
      - right: "1.9"
      - wrong: "2.1"
        why: {fr: On soustrait., ar: نطرح.}
    explain: {fr: Deux moins un dixième., ar: اثنان ناقص عُشر.}
  - id: saved
    type: multiple
    ask: {fr: Que garder ?, ar: ماذا نحفظ؟}
    options:
      - right: {fr: Les matrices, ar: المصفوفات}
      - right: {fr: La configuration, ar: الإعدادات}
      - wrong: {fr: Les activations, ar: التنشيطات}
        why: {fr: Elles changent., ar: تتغير.}
    explain: {fr: C'est tout., ar: هذا كل شيء.}
"""
CHAPTER = "# LoRA {{ #lora }}\n\n## {title} {{ #idea }}\n\n::: quiz lora\n"


def write_course(root: Path) -> None:
    """Write a course without fault into an empty folder."""
    quizzes = root / "docs" / "_data" / "quizzes"
    quizzes.mkdir(parents=True)
    for name in ("languages.yml", "ui.quiz.yml"):
        (quizzes.parent / name).write_bytes((DATA / name).read_bytes())
    (quizzes / "lora.yml").write_text(QUIZ, encoding="utf-8")
    for language, title in (("fr", "L'idée de `LoRA`"), ("ar", "الفكرة")):
        folder = root / "docs" / language / "peft"
        folder.mkdir(parents=True)
        (folder / "lora.md").write_text(CHAPTER.format(title=title), encoding="utf-8")
