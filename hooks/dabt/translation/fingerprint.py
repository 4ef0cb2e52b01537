"""The fingerprint of a text: equal when only its dress changed, another when a word did.

Dress is: white space, line breaks and no-break spaces, also beside punctuation; Arabic vowel signs
and tatweel; compatibility forms (NFKC); direction marks; the shape of apostrophes, quotation marks
and dashes; the sign that begins a list; classes between braces. Code that a page includes takes
part by its name, as the page writes it: a program has tests of its own.
"""

import hashlib
import re
import unicodedata

LENGTH = 10
# Vowel signs and Quranic marks; not U+0653–0655, which make letters: آ أ ؤ إ ئ.
TASHKEEL = re.compile(
    "[\u0610-\u061a\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06ea-\u06ed\u0640]"
)
# Not U+200C and U+200D, which change how a Persian word is spelt.
UNSEEN = re.compile("[\u00ad\u034f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
# NFKC would write 10² as 102.
RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089]")
SHAPES = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)
CLASSES = re.compile(r"\{:?\s*(?:[.#][A-Za-z][\w-]*\s*)+\}")
BULLET = re.compile(r"^[ \t]*[*+-][ \t]+", re.MULTILINE)
# `_` is not here: it is a letter of names in code.
MARK = re.compile(r" ?([!-/:-@\[-^`{-~\u00a1\u00bf\u060c\u061b\u061f]) ?")


def fingerprint(text: str) -> str:
    """Return hexadecimal digits that stay when only the dress of a text changes."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:LENGTH]


def normalise(text: str) -> str:
    """Return a text without its dress: what a fingerprint is made of."""
    plain = BULLET.sub("- ", CLASSES.sub("", text))
    plain = fold(plain).translate(SHAPES)
    return MARK.sub(r"\1", " ".join(plain.split())).strip()


def fold(text: str) -> str:
    """Return a text in one Unicode form, without vowel signs and without marks that nobody sees."""
    raised = RAISED.sub(r"^\g<0>", text)
    bare = TASHKEEL.sub("", UNSEEN.sub("", unicodedata.normalize("NFKC", raised)))
    # Twice: a letter and its hamza may have met only now.
    return unicodedata.normalize("NFKC", bare)
