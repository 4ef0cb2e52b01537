"""Terms are found in every shape that a writer gives them, and not in other words."""

import pytest

from dabt.glossary.matching import finder, normalise

ARABIC = [
    # vowel signs, the lengthening stroke
    ("تقرأ مَعْلَمة واحدة", "مَعْلَمة", "parameter"),
    ("تقرأ معلمة واحدة", "معلمة", "parameter"),
    ("الخســـارة", "الخســـارة", "loss"),
    ("الخَسارَةُ تهبط", "الخَسارَةُ", "loss"),
    ("قصّ التدرّج", "قصّ التدرّج", "gradient-clipping"),
    # the article, and what swallows it
    ("وزن واحد", "وزن", "weight"),
    ("الوزن", "الوزن", "weight"),
    ("للوزن", "للوزن", "weight"),
    ("للوجيتات ذاكرة", "للوجيتات", "logits"),
    ("تُحسب اللوجيتات", "اللوجيتات", "logits"),
    # prefixes, alone and together
    ("والخسارة", "والخسارة", "loss"),
    ("فالخسارة", "فالخسارة", "loss"),
    ("بالخسارة", "بالخسارة", "loss"),
    ("كالخسارة", "كالخسارة", "loss"),
    ("وبالخسارة", "وبالخسارة", "loss"),
    ("فللخسارة", "فللخسارة", "loss"),
    ("وللخسارة", "وللخسارة", "loss"),
    ("بدفعة", "بدفعة", "batch"),
    ("لدفعة", "لدفعة", "batch"),
    # Arabic plurals
    ("أوزان", "أوزان", "weight"),
    ("ووسومها وسوم", "وسوم", "label"),
    ("ثلاث حِقَب", "حِقَب", "epoch"),
    ("نقاط الحفظ", "نقاط الحفظ", "checkpoint"),
    ("المُكيِّفات", "المُكيِّفات", "adapter"),
    # phrases: indefinite, accusative, definite in one word only
    ("ضبطًا دقيقًا كاملًا", "ضبطًا دقيقًا كاملًا", "full-fine-tuning"),
    ("للضبط الدقيق الكامل", "للضبط الدقيق الكامل", "full-fine-tuning"),
    ("ضبط دقيق", "ضبط دقيق", "fine-tuning"),
    ("بمعدل تعلّم", "بمعدل تعلّم", "learning-rate"),
    ("تدرّجًا", "تدرّجًا", "gradient"),
    ("معدل\nالتعلّم", "معدل\nالتعلّم", "learning-rate"),
    ("حالة المُحسِّن", "حالة المُحسِّن", "optimizer-state"),
    # Latin letters in Arabic
    ("والـLoRA", "والـLoRA", "lora"),
    ("وLoRA", "وLoRA", "lora"),
    ("لـLoRA", "لـLoRA", "lora"),
    ("(LoRA)", "LoRA", "lora"),
    ("مع ZeRO-2 وحده", "ZeRO-2", "zero"),
]
NOT_ARABIC = [
    "نسخًا معلَّمة",
    "فرق من رتبة 5e-07",
    "سلّمها دفعة واحدة",
    "خسارتها",
    "الموزون",
    "وزنها",
    "مرموز",
    "دفعتان",
    "رمزية",
    "FLoRA",
    "LoRA-XS",
    "كامل",
]

FRENCH = [
    ("une perte", "perte", "loss"),
    ("les pertes", "pertes", "loss"),
    ("La Perte", "Perte", "loss"),
    ("l’optimiseur", "optimiseur", "optimizer"),
    ("l'optimiseur", "optimiseur", "optimizer"),
    ("d’optimiseurs", "optimiseurs", "optimizer"),
    ("taux d’apprentissage", "taux d’apprentissage", "learning-rate"),
    ("taux d'apprentissage", "taux d'apprentissage", "learning-rate"),
    ("taux\u00a0d’apprentissage", "taux\u00a0d’apprentissage", "learning-rate"),
    ("taux\nd’apprentissage", "taux\nd’apprentissage", "learning-rate"),
    ("les états de l’optimiseur", "états de l’optimiseur", "optimizer-state"),
    ("états d’optimiseur", "états d’optimiseur", "optimizer-state"),
    ("le pre\u0301entraînement", "pre\u0301entraînement", "pretrained-model"),
    ("Modèles préentraînés", "Modèles préentraînés", "pretrained-model"),
    ("époques", "époques", "epoch"),
    ("ajustement fin complet", "ajustement fin complet", "full-fine-tuning"),
    ("l’ajustement fin", "ajustement fin", "fine-tuning"),
    ("passes avant", "passes avant", "forward-pass"),
    ("moment d’ordre 2", "moment d’ordre 2", "adam-moments"),
    ("normes du gradient", "normes du gradient", "gradient-norm"),
    ("jeux de données", "jeux de données", "dataset"),
    ("tokens spéciaux", "tokens spéciaux", "special-token"),
    ("LoRA", "LoRA", "lora"),
    ("d’un QLoRA", "QLoRA", "qlora"),
]
NOT_FRENCH = ["ne… pas", "apertement", "complot", "sous-lot", "poidsage", "LoRA-XS", "perte-là"]


def found(glossary, language: str, text: str) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.term) for f in finder(glossary, language).find(text)]


@pytest.mark.parametrize(("text", "words", "term"), ARABIC)
def test_arabic(course_glossary, text: str, words: str, term: str):
    assert (words, term) in found(course_glossary, "ar", text)


@pytest.mark.parametrize("text", NOT_ARABIC)
def test_other_arabic_words(course_glossary, text: str):
    assert found(course_glossary, "ar", text) == []


@pytest.mark.parametrize(("text", "words", "term"), FRENCH)
def test_french(course_glossary, text: str, words: str, term: str):
    assert (words, term) in found(course_glossary, "fr", text)


@pytest.mark.parametrize("text", NOT_FRENCH)
def test_other_french_words(course_glossary, text: str):
    assert found(course_glossary, "fr", text) == []


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_every_written_form_is_found_as_its_own_term(course_glossary, language: str):
    for term in course_glossary.terms:
        for form in term.written(language) if term.mark != "never" else ():
            assert (form, term.id) in found(course_glossary, language, f"({form})")


def test_the_longest_wins_and_none_is_inside_another(course_glossary):
    assert found(course_glossary, "fr", "la norme du gradient") == [
        ("norme du gradient", "gradient-norm")
    ]
    assert found(course_glossary, "ar", "خسارة التحقق") == [("خسارة التحقق", "validation-set")]


def test_an_article_on_the_first_word_only_makes_a_sentence(course_glossary):
    assert found(course_glossary, "ar", "الرمز حشو") == []
    assert found(course_glossary, "ar", "رمز الحشو") == [("رمز الحشو", "padding")]
    assert found(course_glossary, "ar", "الرموز الخاصة") == [("الرموز الخاصة", "special-token")]


def test_the_shadda_of_a_sun_letter_changes_nothing(course_glossary):
    assert found(course_glossary, "ar", "الرّموز") == [("الرّموز", "token")]


def test_places_are_those_of_the_text_as_it_was():
    plain = normalise("قُلْ: l’e\u0301té")
    assert plain.text == "قل: l'été"
    assert plain.place(0, 2) == (0, 4)
    assert plain.place(4, 9) == (6, 12)
