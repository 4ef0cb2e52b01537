"""Words made comparable: folding, stems, families and sounds, by the tables of `rules.yml`.

The browser applies the same tables to a query (`docs/assets/search/words.js`); a test compares both
on every word of the course.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

RULES = Path(__file__).with_name("rules.yml")
# Arabic and Latin letters make two words even where they touch: الـLoRA.
LETTERS = r"\u0620-\u063f\u0641-\u064a\u0660-\u0669\u0671-\u06d3\u06f0-\u06f9"
WORD = re.compile(rf"[{LETTERS}]+|[^\W_{LETTERS}]+")
ARABIC = re.compile(f"[{LETTERS}]")
# An alif with a hamza or a madda is not that of the article.
FIRM_ALIF = re.compile("[وف]?[أإآ]")
Ending = tuple[str, str, int]
Steps = Sequence[Sequence[Ending]]


@dataclass(frozen=True)
class Word:
    """A word of a text, folded. `firm`: its first alif is no article."""

    text: str
    firm: bool = False


@dataclass(frozen=True)
class Rules:
    """The tables; `raw` is what the index carries to the browser."""

    raw: Mapping[str, Any]
    letters: Mapping[int, str]
    stop: frozenset[str]

    def fold(self, text: str) -> str:
        """A text in the letters that are compared."""
        plain = unicodedata.normalize("NFKD", text).lower()
        bare = "".join(one for one in plain if unicodedata.category(one) != "Mn")
        return bare.translate(self.letters)

    def words(self, text: str) -> Iterator[Word]:
        """The words of a text that say something, in their order."""
        for chunk in text.split():
            yield from _words_of(chunk)

    def asked(self, text: str) -> tuple[Word, ...]:
        """The words of a name or a query; all of them where none says something: إل إل إم."""
        return tuple(self.words(text)) or tuple(
            Word(folded)
            for piece in WORD.findall(_without_signs(text))
            for folded in WORD.findall(self.fold(piece))
        )

    def says_something(self, folded: str) -> bool:
        """Whether a folded word is indexed: no lone letter, no stop word, even joined: بهذا."""
        if len(folded) == 1:
            return folded.isdigit()
        joins = self.raw["joins"] if ARABIC.match(folded) else ""
        return folded not in self.stop and not (folded[0] in joins and folded[1:] in self.stop)

    def readings(self, folded: str) -> tuple[str, ...]:
        """The stems that a word may have, the likeliest first: without its article, as it is, …"""
        return tuple(dict.fromkeys(self.stem(one) for one in self._bare(folded)))

    def _bare(self, folded: str) -> Iterator[str]:
        if not ARABIC.match(folded):
            yield folded
            return
        article, joined = self.raw["article"], self.raw["joined"]
        for prefix in article["prefixes"]:
            rest = folded.removeprefix(prefix)
            if rest != folded and len(rest) >= article["leave"]:
                yield rest
                # للغة is ل + اللغة, whose second lam is not written.
                if prefix.endswith("لل"):
                    yield f"ل{rest}"
                break
        yield folded
        for prefix in joined["prefixes"]:
            rest = folded.removeprefix(prefix)
            if rest != folded and len(rest) >= joined["leave"]:
                yield rest

    def stem(self, bare: str) -> str:
        """A folded word without its endings; a word with a digit stays whole."""
        if any(one.isdigit() for one in bare):
            return bare
        return _end(bare, self.raw["arabic" if ARABIC.match(bare) else "latin"])

    def family(self, stem: str) -> str:
        """What a stem shares with its broken plural, a verb with its noun, 13B with 7B."""
        if stem[0].isdigit():
            return stem if stem.isdigit() else re.sub(r"\d+", "0", stem)
        if not ARABIC.match(stem):
            return _end(stem, self.raw["family"]["latin"])
        rule = self.raw["family"]["arabic"]
        lead, leave = rule["lead"], rule["leave"]
        start = stem[1:] if stem.startswith(lead[0]) and len(stem) > leave else stem
        rest = start[:1] + "".join(one for one in start[1:] if one not in rule["weak"])
        while prefix := next(
            (one for one in lead if rest.startswith(one) and len(rest) - len(one) >= leave), ""
        ):
            rest = rest.removeprefix(prefix)
        return rest if len(rest) > 1 else stem

    def sound(self, folded: str) -> str:
        """The consonants of a word in Arabic letters: what it shares with its transliteration."""
        arabic = folded
        for letters, sound in self.raw["sound"]["latin"]:
            arabic = arabic.replace(letters, sound)
        for letters, sound in self.raw["sound"]["arabic"]:
            arabic = arabic.replace(letters, sound)
        return re.sub(r"(.)\1", r"\1", re.sub(r"[^\u0621-\u064a]", "", arabic))


@cache
def _words_of(chunk: str) -> tuple[Word, ...]:
    """The words between two spaces; the same few thousand chunks make up a whole course."""
    rules = load_rules()
    return tuple(
        Word(folded, bool(FIRM_ALIF.match(piece)))
        for piece in WORD.findall(_without_signs(chunk))
        for folded in WORD.findall(rules.fold(piece))
        if rules.says_something(folded)
    )


def _without_signs(text: str) -> str:
    """A text whose words are not cut by vowel signs, strokes and marks that nobody sees."""
    whole = unicodedata.normalize("NFC", text)
    return "".join(
        one for one in whole if unicodedata.category(one) not in ("Mn", "Cf") and one != "\u0640"
    )


def _end(word: str, steps: Steps) -> str:
    for step in steps:
        for ending, instead, leave in step:
            if word.endswith(ending) and len(word) - len(ending) >= leave:
                word = word.removesuffix(ending) + instead
                break
    return word


@cache
def load_rules() -> Rules:
    """The rules of `rules.yml`."""
    raw = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    letters = {ord(one): instead for one, instead in raw["fold"].items()}
    fold = Rules(raw, letters, frozenset()).fold
    stop = frozenset(fold(word) for words in raw["stop"].values() for word in words.split())
    return Rules({**raw, "stop": sorted(stop)}, letters, stop)
