"""The index of one language: which section says which word, and how much it is about it.

Built whole, so that a browser builds nothing: a posting is a section and its impact, which is BM25F
(Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, section 3.6) over the parts
of a section, quantised. The rarity of a word follows from the number of its postings.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dabt.search.parts import Parts, Place, all_words, numbers_of, places, read_parts
from dabt.search.sections import Page, Section
from dabt.search.terms import Concept
from dabt.search.words import Rules, Word

# How much one word in each part of a section says about it, and how much a part that is longer
# than others of its kind counts for less (0: not at all, 1: in proportion).
PARTS = {
    "title": (5.0, 0.6),
    "alias": (4.0, 0.0),
    "slug": (2.0, 0.0),
    "text": (1.0, 0.5),
    "code": (0.4, 0.7),
}
SATURATION = 1.6
# What every chapter has around its lesson names its subjects without teaching them.
AROUND = frozenset(("goals", "prerequisites", "key-points", "quick-check", "next"))
AROUND_WEIGHT = 0.5
# A box has few words, which would count for much.
BOX_WEIGHT = 0.5
LEVELS = 7
Postings = Mapping[str, Mapping[int, int]]


def build_index(
    pages: Sequence[Page],
    concepts: Sequence[Concept],
    synonyms: Iterable[Sequence[str]],
    rules: Rules,
    texts: Mapping[str, str],
) -> dict[str, object]:
    """The index, to be written as JSON; `texts` has the file of each page's text, by url."""
    found = places(pages)
    numbers = numbers_of(found)
    parts = read_parts(found, concepts, rules)
    choice = _Choice.of(parts, rules)
    postings = _postings(found, parts, choice)
    groups = [[_stems(one, choice) for one in group] for group in synonyms]
    # A word that no page has may still stand for one that some have.
    for stem in (stem for group in groups for stems in group for stem in stems):
        postings.setdefault(stem, {})
    ranks = {stem: rank for rank, stem in enumerate(sorted(postings))}
    return {
        "rules": rules.raw,
        "pages": [_page_entry(page, texts) for page in pages],
        "concepts": [_concept_entry(one, numbers, choice, ranks) for one in concepts if one.places],
        "synonyms": [_keys(group, ranks) for group in groups],
        **_packed(postings, choice.sure),
    }


def _stems(text: str, choice: "_Choice") -> list[str]:
    return [choice.stem(word) for word in choice.rules.asked(text)]


def _keys(names: Iterable[Sequence[str]], ranks: Mapping[str, int]) -> str:
    """Names between spaces, each word of them as its place in `words`."""
    keys = ("".join(digit(ranks[stem]) for stem in stems) for stems in names)
    return " ".join(dict.fromkeys(key for key in keys if key))


def _concept_entry(
    one: Concept, numbers: Mapping[str, int], choice: "_Choice", ranks: Mapping[str, int]
) -> list[object]:
    """Name, English name, sections; then all names, each word as its place in `words`."""
    known = _keys((_stems(name, choice) for name in one.names), ranks)
    return [*one.names[:2], [numbers[key] for key in one.places], known]


def _page_entry(page: Page, texts: Mapping[str, str]) -> list[object]:
    """Address, title, kind, file of texts; then id and title of each section."""
    sections = [[one.id, *_title_entry(one, page)] for one in page.sections]
    return [page.url, page.title, page.kind, texts.get(page.url, ""), sections]


def _title_entry(section: Section, page: Page) -> list[str]:
    """The title of a section; a question is long, and stands in the file of texts."""
    if section.kind == "question":
        return []
    return ["" if section.title == page.title else section.title]


@dataclass(frozen=True)
class _Choice:
    """Chooses among the readings of a word; `sure` are stems that need no choice in this course."""

    rules: Rules
    sure: frozenset[str]

    @classmethod
    def of(cls, parts: Iterable[Parts], rules: Rules) -> "_Choice":
        """Stems behind an article, and of words that begin with no letter that joins.

        What follows an article begins the word: after الوحدات, the و of وحدة is its own.
        """
        known, joining = set(), {prefix[0] for prefix in rules.raw["joined"]["prefixes"]}
        for word in set(all_words(parts)):
            article = not word.firm and _has_article(word.text, rules)
            if article or word.text[0] not in joining:
                known.add(_readings(word, rules)[0])
        return cls(rules, frozenset(known))

    def stem(self, word: Word) -> str:
        """The likeliest reading: the first one unless only a later one is sure."""
        readings = _readings(word, self.rules)
        return next((one for one in readings if one in self.sure), readings[0])


def _readings(word: Word, rules: Rules) -> tuple[str, ...]:
    """The readings of a word; إلغاء begins with no article, whatever its letters."""
    readings = rules.readings(word.text)
    firm = word.firm and _has_article(word.text, rules)
    return readings[1:] + readings[:1] if firm else readings


def _has_article(folded: str, rules: Rules) -> bool:
    article = rules.raw["article"]
    return any(
        folded.startswith(prefix) and len(folded) - len(prefix) >= article["leave"]
        for prefix in article["prefixes"]
    )


def _postings(found: Sequence[Place], parts: Sequence[Parts], choice: _Choice) -> Postings:
    """The impact of each word on each section, 1 to LEVELS."""
    lengths = {part: _mean(len(one[part]) for one in parts) for part in PARTS}
    stems = {word: choice.stem(word) for word in set(all_words(parts))}
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    for number, one in enumerate(parts):
        weights: Counter[str] = Counter()
        share = _share(found[number].section)
        for part, (weight, normal) in PARTS.items():
            longer = 1 - normal + normal * len(one[part]) / lengths[part]
            for word in one[part]:
                weights[stems[word]] += share * weight / longer
        for stem, value in weights.items():
            postings[stem][number] = math.ceil(LEVELS * value / (value + SATURATION))
    return postings


def _share(section: Section) -> float:
    return BOX_WEIGHT if section.kind == "box" else AROUND_WEIGHT if section.id in AROUND else 1


def _mean(lengths: Iterable[int]) -> float:
    some = [one for one in lengths if one]
    return sum(some) / len(some) if some else 1.0


def _packed(postings: Postings, sure: Container[str]) -> dict[str, str]:
    """Words and postings as strings: one character a number, which compresses best.

    words: sorted, each as the number of letters it shares with the one before, then the others; a
    `?` behind a word that may be another one with a letter that joins, as بلغ may be ب + لغة.
    counts: postings of each word. steps: how far each posting is behind the one before it.
    impacts: the level of each posting, a digit.
    """
    words, counts, steps, impacts, before = [], [], [], [], ""
    for stem in sorted(postings):
        shared = next(
            (at for at, (a, b) in enumerate(zip(stem, before, strict=False)) if a != b),
            min(len(stem), len(before)),
        )
        doubt = "?" if stem not in sure else ""
        words.append(f"{digit(shared)}{stem[shared:]}{doubt}")
        counts.append(digit(len(postings[stem])))
        last = -1
        for number, impact in sorted(postings[stem].items()):
            steps.append(digit(number - last))
            impacts.append(str(impact))
            last = number
        before = stem
    return {
        "words": " ".join(words),
        "counts": "".join(counts),
        "steps": "".join(steps),
        "impacts": "".join(impacts),
    }


def digit(number: int) -> str:
    """A number from 0 on as one character that JSON does not escape."""
    code = number + 35
    return chr(code if code < 92 else code + 1)
