"""The tables of normalisation: what must be the same word to a reader, and what must not."""

import pytest

from dabt.search.words import load_rules

RULES = load_rules()

# What is typed, what is written: one stem.
SAME = {
    "hamza": "اخطاء أخطاء|الاساس الأساس|اعداد إعداد|اله آلة|قراءه قراءة|بيئه بيئة",
    "vowel signs": "معلمة مَعْلَمة|مكيف مُكيِّف|تدرج تدرُّج|محسن مُحسِّن|معدل معدّل",
    "lengthening": "نموذج نمـــوذج|الخسارة الخســـارة",
    "taa marbuta": "خساره خسارة|دفعه دفعة|مصفوفه مصفوفة|ذاكرة الذاكره",
    "alif maqsura": "مدي مدى|مستوي مستوى",
    "article": "نموذج النموذج|خسارة والخسارة|دفعات بالدفعات|رموز للرموز|لغة اللغة",
    "article after letters": "نموذج وللنموذج|خسارة وبالخسارة|ذاكرة فالذاكرة|تدريب كالتدريب",
    "sound plural": "دفعة دفعات|مصفوفة مصفوفات|مستوى مستويات|كمية كميات|لغة لغات",
    "dual": "مجموعة مجموعتي|بطاقة بطاقتا|بطاقة بطاقتان|مصفوفة مصفوفتين|بطاقة البطاقتين",
    "pronoun": "نموذج نموذجها|ذاكرة ذاكرتها|بيانات بياناتها|حجم حجمهما",
    "adjective": "لغوية لغوي|عشوائية عشوائي|رياضي الرياضية",
    "accusative": "كامل كاملًا|كاملا كاملًا|تدريب تدريبًا",
    "digits": "١٦ 16|٤ 4",
    "accents": "memoire mémoire|evaluation évaluation|gele gelé|precision précision",
    "ligature": "oeuvre œuvre|coeur cœur",
    "capitals": "LoRA lora|gpu GPU",
    "plural": "gradients gradient|réseaux réseau|locaux local|couches couche|pertes perte",
    "gender": "gelée gelé|gelées gelés|partielle partiel|additive additif|première premier",
    "verb": "évaluer évalué|affiner affine|entraîner entraînez",
    "English plural": "tokens token|losses losse|adapters adapter",
}
# A letter that joins a word is no part of it, which only the other words of the course can tell.
JOINED = "ونموذج نموذج|للغة لغة|بذاكرة ذاكرة|لتدريب تدريب|كخسارة خسارة|فدفعة دفعة|وبدفعات دفعات"
DIFFERENT = (
    "وحدة حدة|فصل صل|كتلة تلة|بتات تات|loss los|status statu|corpus corpu|lora qlora|قانون قان"
)
FAMILIES = {
    "broken plural": "نموذج نماذج|وزن أوزان|رمز رموز|قالب قوالب|مثال أمثلة|سؤال أسئلة|جدول جداول",
    "another seat of the hamza": "مسؤول مسئول|شؤون شئون",
    "verb and noun": "درّب تدريب|تجميد مجمّد|تكميم مكمّم|قارن مقارنة",
    "French": "évaluer évaluation|quantifier quantification|entraîner entraînement|généraliser "
    "généralisation|découper découpage|accumuler accumulation|fusionner fusion|adapter adaptateur",
    "English": "quantized quantize|training trained",
}
SOUNDS = {
    "fine-tuning": "فاين تيونينج|فاين تيوننغ",
    "LoRA": "لورا",
    "learning rate": "ليرنينج ريت|ليرنينغ رايت",
    "gradient": "جراديانت|غراديانت",
    "tokenizer": "توكنايزر",
    "embedding": "إمبيدنج|امبيدينغ",
    "optimizer": "أوبتيمايزر",
    "quantization": "كوانتايزيشن",
    "batch": "باتش",
    "checkpoint": "تشيك بوينت|شيكبوينت",
    "dropout": "دروب أوت",
    "hallucination": "هالوسينيشن",
}


def pairs(listed: str) -> list[list[str]]:
    return [pair.split() for pair in listed.split("|")]


def cases(tables: dict[str, str]) -> list:
    found = ((name, pair) for name, listed in tables.items() for pair in pairs(listed))
    return [pytest.param(*pair, id=f"{name}: {' '.join(pair)}") for name, pair in found]


def readings(text: str) -> tuple[str, ...]:
    (word,) = RULES.words(text)
    return RULES.readings(word.text)


@pytest.mark.parametrize(("typed", "written"), cases(SAME))
def test_what_is_typed_has_the_first_stem_of_what_is_written(typed, written):
    assert readings(typed)[0] == readings(written)[0]


@pytest.mark.parametrize(("typed", "written"), pairs(JOINED))
def test_a_letter_that_joins_a_word_may_be_left_out(typed, written):
    assert readings(written)[0] in readings(typed)


@pytest.mark.parametrize(("one", "other"), pairs(DIFFERENT))
def test_two_words_stay_two(one, other):
    assert readings(one)[0] != readings(other)[0]


@pytest.mark.parametrize(("one", "other"), cases(FAMILIES))
def test_a_family(one, other):
    assert RULES.family(readings(one)[0]) == RULES.family(readings(other)[0])


@pytest.mark.parametrize("english", SOUNDS)
def test_a_transliteration_sounds_like_the_english_words(english):
    def sound(text: str) -> str:
        return RULES.sound("".join(word.text for word in RULES.words(text)))

    assert {sound(heard) for heard in SOUNDS[english].split("|")} == {sound(english)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l’évaluation d'un modèle", ["evaluation", "modele"]),
        ("والـLoRA", ["lora"]),
        ("«الخسارة»، ثم 2e-4؟", ["الخساره", "2e", "4"]),
        ("gradient_accumulation_steps=8", ["gradient", "accumulation", "steps", "8"]),
        ("كيف أختار من البيانات؟", ["اختار", "البيانات"]),
    ],
)
def test_words_of_a_text(text, words):
    assert [word.text for word in RULES.words(text)] == words
