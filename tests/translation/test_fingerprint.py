"""A fingerprint survives every cosmetic edit, and no change of a word."""

import re
import unicodedata
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dabt.translation.fingerprint import fingerprint, normalise
from dabt.translation.sections import read_sections
from tools.environment import ROOT

# Letters of both languages, Persian and Urdu ones, capitals, digits, names of code.
LETTERS = "abcdefgéèçœABCÉابتثجحخدرزسشعغفقكلمنهويىةآأؤإئءپچژگ\u06cc\u06a90123456789_"
WORDS = st.text(alphabet=LETTERS, min_size=1, max_size=8)
TEXTS = st.lists(WORDS, min_size=1, max_size=12)
SPACES = ["  ", "\n", "\n\n", "\t", "\u00a0", "\u202f", " \n ", "\u2003"]
TASHKEEL = [chr(code) for code in range(0x064B, 0x0653)] + ["\u0670", "\u0640"]
UNSEEN = ["\u200e", "\u200f", "\u2066", "\u2069", "\ufeff", "\u00ad", "\u200b"]
# Always the same examples: nobody is told of a failure that is not theirs.
quick = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@quick
@given(TEXTS, st.data())
def test_spaces_of_any_kind_and_number_do_not_count(words, data):
    joined = [data.draw(st.sampled_from(SPACES)) + word for word in words]
    assert fingerprint("".join(joined)) == fingerprint(" ".join(words))


@quick
@given(TEXTS, st.data())
def test_marks_put_anywhere_do_not_count(words, data):
    text = " ".join(words)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(text)))
        mark = data.draw(st.sampled_from([*TASHKEEL, *UNSEEN]))
        text = text[:place] + mark + text[place:]
    assert fingerprint(text) == fingerprint(" ".join(words))


@quick
@given(TEXTS, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_the_unicode_form_does_not_count(words, form):
    text = " ".join(words)
    assert fingerprint(unicodedata.normalize(form, text)) == fingerprint(text)


@quick
@given(TEXTS, st.sampled_from("!?;:.,%»)؟،؛"), st.sampled_from(["", " ", "\u00a0", "\u202f", "\n"]))
def test_the_space_beside_a_sign_does_not_count(words, sign, space):
    assert fingerprint(f"{' '.join(words)}{space}{sign}") == fingerprint(f"{' '.join(words)}{sign}")


@quick
@given(TEXTS, st.data())
def test_any_other_word_counts(words, data):
    place = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(WORDS.filter(lambda word: word != words[place]))
    changed = [*words[:place], other, *words[place + 1 :]]
    assert fingerprint(" ".join(changed)) != fingerprint(" ".join(words))


@quick
@given(TEXTS, WORDS, st.data())
def test_a_word_more_or_less_counts(words, word, data):
    place = data.draw(st.integers(0, len(words)))
    changed = [*words[:place], word, *words[place:]]
    assert fingerprint(" ".join(changed)) != fingerprint(" ".join(words))


@quick
@given(TEXTS.filter(lambda words: len(words) > 1), st.data())
def test_two_words_made_one_counts(words, data):
    place = data.draw(st.integers(0, len(words) - 2))
    joined = [*words[:place], words[place] + words[place + 1], *words[place + 2 :]]
    assert fingerprint(" ".join(joined)) != fingerprint(" ".join(words))


@quick
@given(st.text(max_size=60))
def test_what_is_normal_stays_as_it_is(text):
    assert normalise(normalise(text)) == normalise(text)


@quick
@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_of_other_letters_are_others(one, two):
    """Any two texts whose letters and digits differ, whatever else they hold."""

    def letters(text: str) -> str:
        return re.sub(r"[\W_]", "", normalise(text))

    if letters(one) != letters(two):
        assert fingerprint(one) != fingerprint(two)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("l'ajustement « fin »", "l’ajustement \u00a0“fin”"),
        ("GPU - 16 Go", "GPU – 16 Go"),
        ("- un\n- deux", "* un\n* deux"),
        ("Lisez. { .dabt-lead }", "Lisez."),
        ("مُدرَّب", "مدرب"),
        ("الـتدريب", "التدريب"),
        ("\ufefb", "لا"),
    ],
)
def test_dress(before, after):
    assert fingerprint(before) == fingerprint(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10² éléments", "102 éléments"),
        ("أداة", "اداة"),
        ("4,5 Go", "45 Go"),
        ("gelé", "gèle"),
        ("le pas", "Le pas"),
        ("م\u06cc\u200cشود", "م\u06ccشود"),
        ("lr = 1e-4", "lr = 1e-5"),
        ('--8<-- "a.py:load"', '--8<-- "a.py:save"'),
        ("Oui.", "Oui ?"),
    ],
)
def test_meaning(before, after):
    assert fingerprint(before) != fingerprint(after)


PAGES = sorted(ROOT.glob("docs/*/peft/*.md")) + sorted(ROOT.glob("docs/*/data/*.md"))
WORD_IN_PAGE = re.compile(r"(?<![\w#.{/&])[^\W\d_]{3,}(?![\w}])")


def prints(source: str) -> dict[str, str]:
    return {section.id: fingerprint(section.text) for section in read_sections(source)}


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(PAGES), st.data())
def test_a_word_anywhere_in_a_page_changes_its_section_and_no_other(path, data):
    """In prose, tables, boxes, code, captions, footnotes, titles."""
    source = path.read_text(encoding="utf-8")
    matter = source.index("\n---\n", 3) + 5
    found = [match for match in WORD_IN_PAGE.finditer(source, matter)]
    word = data.draw(st.sampled_from(found))
    before = prints(source)
    after = prints(f"{source[: word.start()]}zzz{source[word.end() :]}")
    assert len(before.items() - after.items()) == 1


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.sampled_from(PAGES), st.integers())
def test_a_page_dressed_otherwise_keeps_all_its_fingerprints(path, seed):
    """Spaces made no-break or doubled, vowel signs dropped, apostrophes straight, blank lines."""
    source, chance = path.read_text(encoding="utf-8"), Random(seed)
    matter = source.index("\n---\n", 3) + 5
    dressed = []
    for line in source[matter:].split("\n"):
        if chance.random() < 0.5 and not line.startswith(("#", "-", "[^", ":::", "`", " ")):
            line = line.replace("’", "'").replace(" ", chance.choice([" ", "  ", "\u00a0"]))
            line = re.sub("[\u064b-\u0652]", "", line)
        dressed.append(line + chance.choice(["", " ", "  "]))
    assert prints(source[:matter] + "\n".join(dressed)) == prints(source)
