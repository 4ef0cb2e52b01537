"""Where a text holds given words, as a reader sees them: the signs that writing may add are passed.

Arabic: vowel signs and the lengthening stroke do not count; a word may begin with و ف ب ك ل ال لل
and what they make together, and end with the alif of the accusative. French: any apostrophe, any
space, capitals, and the regular plural of each word.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from dabt.glossary.model import Glossary

TATWEEL = "\u0640"
SHADDA = "\u0651"
# Hamza and madda above or below a letter are part of the letter; the other marks are vowels.
LETTER_MARKS = frozenset("\u0653\u0654\u0655")
SAME = {"’": "'", "ʼ": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2011": "-"}
ARTICLE = "ال"
# Before a word of which the article is not part: وللوسوم = و + ل + ل + وسوم.
PREFIX = f"[وف]?(?:[بك]?(?:{ARTICLE})?|ل?ل?)"
# Before a word that must be definite: the article, which ل swallows.
DEFINITE = f"[وف]?(?:[بك]?{ARTICLE}|لل)"
NO_ALIF = "ةىاء"
SMALL = frozenset({"aux", "des", "les", "par", "que", "sur", "une"})
BEGIN, END = r"(?<![\w-])", r"(?![\w-])"


@dataclass(frozen=True)
class Plain:
    """A text without what does not count; `starts[i]` is where its character i was before."""

    text: str
    starts: tuple[int, ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a piece of the plain text was before, with the vowels of its last letter."""
        return self.starts[start], self.starts[end]


def normalise(text: str) -> Plain:
    """A text without vowel signs and strokes, composed, with plain apostrophes and spaces."""
    kept, starts = [], []
    for start, cluster in _clusters(text):
        first = SAME.get(cluster[0], cluster[0])
        if len(cluster) > 1:
            vowel = unicodedata.category(first) == "Mn"
            marks = "".join(one for one in cluster[1:] if not _is_vowel(one))
            first = "" if vowel else unicodedata.normalize("NFC", first + marks)
        if first and first != TATWEEL and not _is_vowel(first[0]):
            kept.append(first)
            starts.extend([start] * len(first))
    return Plain("".join(kept), (*starts, len(text)))


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Each character with the combining marks that follow it, and where it is."""
    start = 0
    for index, character in enumerate(text):
        if index and not (character > "\u02ff" and unicodedata.combining(character)):
            yield start, text[start:index]
            start = index
    if text:
        yield start, text[start:]


def _is_vowel(mark: str) -> bool:
    arabic = "\u0610" <= mark <= "\u061a" or "\u064b" <= mark <= "\u065f" or mark == "\u0670"
    return arabic and mark not in LETTER_MARKS


@dataclass(frozen=True)
class Found:
    """A term in a text: where it begins and ends, with its prefixes."""

    start: int
    end: int
    term: str


@dataclass(frozen=True)
class Form:
    """One form of a term; without a term, words in which a form of one is something else."""

    words: str
    term: str = ""


@dataclass(frozen=True)
class Finder:
    """Finds the terms of a glossary in texts of one language; the longest of several wins."""

    pattern: re.Pattern[str]
    forms: tuple[Form, ...]

    def find(self, text: str) -> Iterator[Found]:
        """The terms of a text, none inside another, in their order."""
        plain = normalise(text)
        for match in self.pattern.finditer(plain.text):
            form = self.forms[int(match.lastgroup.removeprefix("t"))]
            start, end = plain.place(*match.span())
            if form.term and not _is_other_word(form.words, match[0], text[start:end]):
                yield Found(start, end, form.term)


def _is_other_word(form: str, plain: str, text: str) -> bool:
    """Whether Arabic words that have the letters of a form are another word, or a sentence.

    نسخًا معلَّمة (marked copies) is not مَعْلَمة; الرمز حشو (the token is padding), with an article
    on the first word only, is not رمز حشو.
    """
    sun = len(re.findall(f"{ARTICLE}.{SHADDA}", text))
    if text.count(SHADDA) - sun > form.count(SHADDA):
        return True
    first, *others = plain.split()
    if not others or form.startswith(ARTICLE) or others[0].startswith(ARTICLE):
        return False
    return re.match(DEFINITE, first) is not None


def finder(glossary: Glossary, language: str) -> Finder:
    """The finder of a glossary's terms that are to be marked."""
    forms = []
    for term in glossary.terms:
        if term.mark != "never":
            forms += [Form(words, term.id) for words in term.written(language)]
            forms += [Form(words) for words in term.exceptions.get(language, ())]
    forms.sort(key=lambda form: len(form.words), reverse=True)
    return _finder(tuple(forms), language)


@cache
def _finder(forms: tuple[Form, ...], language: str) -> Finder:
    """The finder of some forms, made once for all pages."""
    choices = (f"(?P<t{i}>{flexible(form.words, language)})" for i, form in enumerate(forms))
    before = PREFIX if language == "ar" else ""
    pattern = f"{BEGIN}{before}(?:{'|'.join(choices) or '(?!)'}){END}"
    return Finder(re.compile(pattern, re.IGNORECASE), forms)


def flexible(form: str, language: str) -> str:
    """The pattern of a term in any of its shapes; an Arabic prefix is not part of it."""
    words = normalise(form).text.split()
    if language == "ar":
        bare = [_arabic_word(word) for word in words]
        return rf"\s+(?:{ARTICLE})?".join(bare)
    return r"\s+".join(_french_word(word) for word in words)


def _arabic_word(word: str) -> str:
    word = word.removeprefix(ARTICLE) if len(word) > len(ARTICLE) + 1 else word
    alif = "" if word[-1] in NO_ALIF or word.isascii() else "ا?"
    return re.escape(word) + alif


def _french_word(word: str) -> str:
    last = word.rpartition("'")[2]
    regular = len(last) > 2 and last not in SMALL and last[-1] not in "sxz" and last[-1].isalpha()
    return re.escape(word) + ("s?" if regular else "")


def exact(form: str, language: str) -> re.Pattern[str]:
    """The pattern of exactly these words; an Arabic one may have a prefix."""
    return whole(re.escape(normalise(form).text).replace(r"\ ", " "), language)


def whole(pattern: str, language: str) -> re.Pattern[str]:
    """A pattern that matches whole words only; each space in it is any white space.

    A capital in it makes it mind capitals.
    """
    if language == "ar":
        definite = pattern.startswith(ARTICLE)
        before = DEFINITE if definite else PREFIX
        pattern = before + (pattern.removeprefix(ARTICLE) if definite else pattern)
    minds = any(character.isupper() for character in pattern)
    flags = re.NOFLAG if minds else re.IGNORECASE
    return re.compile(rf"(?<!\w)(?:{pattern.replace(' ', chr(92) + 's+')})(?!\w)", flags)


def same_forms(forms: Iterable[str]) -> set[str]:
    """Forms as the finder sees them, to tell whether two are the same."""
    return {" ".join(normalise(form).text.casefold().split()) for form in forms}
