"""Each rule of writing: what it finds and what it leaves alone, in the words of a course like ours.

`~` stands for U+00A0 and `_` for U+202F in the French examples, since nobody sees them.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dabt.languages import load_languages
from dabt.pages import Page
from dabt.text.check import RULES, find, fix_file, lint_texts, lint_traps, mended, writing
from dabt.text.marks import check_marks
from tools.environment import ROOT

# rule → (wrong, mended)
WRONG = {
    "ar-comma": [("الأوزان, والتدرجات", "الأوزان، والتدرجات"), ("(حالات) , ثم", "(حالات)، ثم")],
    "ar-semicolon": [("ثابتة; أما", "ثابتة؛ أما")],
    "ar-question": [("هل يتسع?", "هل يتسع؟"), ("«نعم» ?", "«نعم»؟")],
    "ar-digits": [("بعد ١٢ خطوة", "بعد 12 خطوة"), ("۷ مليارات", "7 مليارات")],
    "ar-percent": [("نحو 3٪ منها", "نحو 3% منها"), ("نحو 3 % منها", "نحو 3% منها")],
    "ar-space-before": [("الخسارة ، ثم", "الخسارة، ثم"), ("انتهى .", "انتهى.")],
    "ar-space-after": [("الخسارة،ثم", "الخسارة، ثم"), ("لماذا؟«لأن»", "لماذا؟ «لأن»")],
    "ar-tatweel": [("نمـــوذج", "نموذج")],
    "ar-tanwin": [("مثلاً", "مثلًا")],
    "ar-quotes": [('قال "نعم" ثم', "قال «نعم» ثم")],
    "ar-spelling": [
        ("وصل الى الهدف", "وصل إلى الهدف"),
        ("والى", "وإلى"),
        ("فاذا", "فإذا"),
        ("هاذا شئ", "هذا شيء"),
    ],
    "ar-hamza": [("إستخدام الذاكرة", "استخدام الذاكرة"), ("الإختبار", "الاختبار")],
    "fr-apostrophe": [("l'ajustement", "l’ajustement")],
    "fr-quotes": [('dire "oui" ici', "dire «~oui~» ici"), ("“oui”", "«~oui~»")],
    "fr-guillemets": [("« oui »", "«~oui~»"), ("«oui»", "«~oui~»")],
    "fr-mark-space": [("Pourquoi ?", "Pourquoi_?"), ("gelé; le reste", "gelé_; le reste")],
    "fr-colon-space": [("Deux cas : le", "Deux cas~: le"), ("Deux cas: le", "Deux cas~: le")],
    "fr-percent": [("12 % des", "12~% des"), ("12% des", "12~% des")],
    "fr-unit": [("16 Go de", "16~Go de"), ("3 époques", "3~époques")],
    "fr-thousands": [("4 096 tokens", "4_096~tokens"), ("1 000 000", "1_000_000")],
    "fr-decimal": [("15.6~Go", "15,6~Go")],
    "fr-ligature": [("au coeur du", "au cœur du"), ("une oeuvre", "une œuvre")],
    "fr-capital": [("Etape 2", "Étape 2"), ("Ca dépend", "Ça dépend")],
    "fr-ordinal": [("la 2ème", "la 2e"), ("le 3ième", "le 3e")],
    "ellipsis": [("et ainsi de suite...", "et ainsi de suite…")],
    "double-space": [("deux  mots", "deux mots")],
}
RIGHT = {
    "ar-comma": ["النماذج 1,000 و2,000", "model, tokenizer"],
    "ar-semicolon": ["a; b"],
    "ar-question": ["`x?`"],
    "ar-digits": ["بعد 12 خطوة", "`٠`"],
    "ar-percent": ["3% منها"],
    "ar-space-before": ["اقرأ `.env` أولًا", "ملف .env"],
    "ar-space-after": ["نعم، ثم", "1،2"],
    "ar-tatweel": ["الـLoRA", "بـ`x`"],
    "ar-tanwin": ["مثلًا"],
    "ar-quotes": ['`"نعم"`', '<span title="نعم">x</span>'],
    "ar-spelling": ["إلى أو إذا", "الأولى", "سالى"],
    "ar-hamza": ["الإنتاجية والإنتروبيا والإنترنت", "إستراتيجية", "إنتاج"],
    "fr-apostrophe": ["l’ajustement", "`l'x`"],
    "fr-quotes": ['<span lang="en">“yes”</span>', '`"oui"`', '!!! tip "Un titre"', 'alt="oui"'],
    "fr-guillemets": ["«~oui~»", "«_oui_»"],
    "fr-mark-space": ["Pourquoi_?", "oui~!", "`a;b`", "https://x.example/?a=b"],
    "fr-colon-space": ["Deux cas~: le", "à 12:30", "https://x.example", "[^note]: Une source."],
    "fr-percent": ["12~% des", "`12 %`"],
    "fr-unit": ["16~Go", "un pas", "à 2 heures", "TRL 1.16 s’en passe"],
    "fr-thousands": ["4_096", "en 2026 100 lignes", "2 modèles"],
    "fr-decimal": ["15,6~Go", "la version 2.13 sort", "transformers 5.24"],
    "fr-ligature": ["cœur", "coexister", "poème", "coefficient"],
    "fr-capital": ["Étape", "Et voilà", "ETAT"],
    "fr-ordinal": ["la 2e", "le problème", "3 mèmes"],
    "ellipsis": ["…", "`...`", "../..", "`[1, ...]`"],
    "double-space": ["1.  Une liste", "| a  | b  |", "deux mots"],
}


def page(text: str, language: str) -> str:
    """An example with its unseen spaces."""
    if language == "fr" and "`_" not in text:
        text = text.replace("~", "\u00a0").replace("_", "\u202f")
    return text


def language_of(code: str) -> str:
    return code[:2] if code[:3] in ("ar-", "fr-") else "fr"


def broken(text: str, language: str) -> list[str]:
    return [one.rule.code for one in find(writing(text, Path("docs/x.md"), language))]


def fixed(text: str, language: str) -> str:
    for _ in range(5):
        text = mended(text, writing(text, Path("docs/x.md"), language))
    return text


def test_every_rule_has_examples_of_both_kinds():
    codes = {rule.code for rule in RULES}
    assert codes == set(WRONG) == set(RIGHT)


@pytest.mark.parametrize(("code", "wrong", "right"), [(c, *p) for c in WRONG for p in WRONG[c]])
def test_what_is_wrong_is_found_and_mended(code, wrong, right):
    language = language_of(code)
    wrong, right = page(wrong, language), page(right, language)
    assert code in broken(wrong, language)
    assert fixed(wrong, language) == right
    assert broken(right, language) == []


@pytest.mark.parametrize(("code", "text"), [(c, t) for c in RIGHT for t in RIGHT[c]])
def test_what_is_right_is_left_alone(code, text):
    language = language_of(code)
    assert code not in broken(page(text, language), language)


def test_places_are_those_of_the_file(tmp_path):
    docs = tmp_path / "docs" / "fr"
    docs.mkdir(parents=True)
    (tmp_path / "docs/_data").mkdir()
    (docs / "x.md").write_text("---\ntitle: L'idée\n---\n\n# X { #x }\n\nSoit `l'x` et l'y.\n")
    languages = load_languages(ROOT / "docs/_data/languages.yml")
    found = lint_texts(tmp_path, languages)
    assert [(one.code, one.line, one.column) for one in found] == [
        ("fr-apostrophe", 2, 9),
        ("fr-apostrophe", 7, 16),
    ]
    assert "make fix" in found[0].mend


def test_a_data_file_is_mended_in_each_language_and_stays_yaml(tmp_path):
    path = tmp_path / "x.yml"
    path.write_text("ask: {fr: \"Pourquoi l'x ?\", ar: 'لماذا?'}\n", encoding="utf-8")
    assert fix_file(path, ("ar", "fr"))
    mended_text = "ask: {fr: \"Pourquoi l’x\u202f?\", ar: 'لماذا؟'}\n"
    assert path.read_text(encoding="utf-8") == mended_text
    assert not fix_file(path, ("ar", "fr"))


WORDS = st.sampled_from(
    [*(t for pairs in WRONG.values() for pair in pairs for t in pair), "`l'x ?  ...`", "\n\n", " "]
)


@given(st.lists(WORDS, max_size=6), st.sampled_from(["ar", "fr"]))
def test_mending_ends_and_leaves_code_and_addresses_alone(parts, language):
    code = "`if x ?  'a' ... 3 %`"
    address = "[x](https://x.example/?a=b;c=%20)"
    text = " ".join([*parts, code, address, *parts])
    once = fixed(text, language)
    assert fixed(once, language) == once
    assert once.count(code) == 1 and once.count(address) == 1


def test_signs_that_an_arabic_line_moves_belong_in_code():
    text = "شغّل --tiny ثم اقرأ .env في ~28GB و`--tiny`"
    runs = [one.message.split("'")[1] for one in lint_traps(writing(text, Path("x.md"), "ar"))]
    assert sorted(runs) == ["--tiny", ".env", "~28GB"]
    assert not list(lint_traps(writing("lancez --tiny", Path("x.md"), "fr")))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("## Sans id", "heading-id"),
        ("## Été { #été }", "heading-id"),
        ("## Deux mots { #Deux_Mots }", "heading-id"),
        ("## Bien { #deux-mots }", ""),
        ("![](x.png)", "alt-text"),
        ("![x.png](x.png)", "alt-text"),
        ('<img src="x.png">', "alt-text"),
        ('<img src="x.png" alt="Deux courbes">', ""),
        ("![Deux courbes qui se croisent](x.png)", ""),
        ("    ## dans du code", ""),
        ("`![](x.png)`", ""),
    ],
)
def test_headings_have_ids_and_pictures_have_texts(line, code):
    found = [one.code for one in check_marks(Page("docs/fr/x.md", "fr", "x.md", f"{line}\n"))]
    assert found == ([code] if code else [])
