"""Which words changed in a section. The old text is given: where it is kept is not known here."""

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from dabt.translation.fingerprint import fingerprint
from dabt.translation.sections import read_sections

AROUND = 8
WORD = re.compile(r"\S+")


def confirmed_text(texts: Iterable[str], mark: str) -> str | None:
    """Return the first of the texts that a unit had which has a fingerprint."""
    return next((text for text in texts if fingerprint(text) == mark), None)


def section_text(page: str, key: str) -> str:
    """Return the text of a section; empty where a version of the page did not have it."""
    return next((one.text for one in read_sections(page) if one.id == key), "")


def changed_words(before: str, after: str) -> str:
    """Return a text with its changes as `[-was-] {+is+}`; what is far from them is left out."""
    old, new = WORD.findall(before), WORD.findall(after)
    matcher = SequenceMatcher(None, [plain(w) for w in old], [plain(w) for w in new], False)
    return " ".join(_runs(matcher, old, new))


def plain(word: str) -> str:
    """Return what counts of a word: two that differ in dress only are the same."""
    return fingerprint(word)


def _runs(matcher: SequenceMatcher, old: list[str], new: list[str]) -> Iterator[str]:
    codes = matcher.get_opcodes()
    for place, (kind, i, j, k, m) in enumerate(codes):
        if kind == "equal":
            yield _shortened(new[k:m], first=place == 0, last=place == len(codes) - 1)
            continue
        if j > i:
            yield f"[-{' '.join(old[i:j])}-]"
        if m > k:
            yield f"{{+{' '.join(new[k:m])}+}}"


def _shortened(words: list[str], first: bool, last: bool) -> str:
    """Return the words beside a change: the last ones before it, the first ones after it."""
    head = [] if first else words[:AROUND]
    tail = [] if last else words[-AROUND:]
    if len(words) <= len(head) + len(tail):
        return " ".join(words)
    return " ".join([*head, "…", *tail])
