"""Words that no dictionary knows, in what readers read: advice, which never fails a check.

    python -m tools.spelling            # warnings; nothing where hunspell is not installed
    python -m tools.spelling --learn    # adds the unknown words to the course's own, once read

Dictionaries are hunspell's, named as the languages are; the course's own words, one a line, are in
docs/_data/words/<language>.txt. Vowel signs are no part of an Arabic word here, and «no unknown
word» does not mean that a sentence is right.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from dabt.glossary.lint import read_prose
from dabt.languages import load_languages
from dabt.pages import read_pages
from dabt.problems import Problem, report
from dabt.text.prose import Prose
from tools.environment import ROOT

WORD = re.compile(r"[^\W\d_\0]+(?:[’'-][^\W\d_\0]+|[\u064b-\u0652]+[^\W\d_\0]*)*")
SIGNS = re.compile("[\u064b-\u0652\u0640]")
LATIN = re.compile(r"[A-Za-zÀ-ÿŒœ]")
ARABIC = re.compile("[\u0621-\u064a]")
ARABIC_LETTERS = ("ar", "fa", "ur")
ELISION = re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'", re.IGNORECASE)
INSTALL = "sudo apt install hunspell hunspell-ar hunspell-fr"


def plain(word: str) -> str:
    """A word as dictionaries have it."""
    return SIGNS.sub("", word).replace("’", "'")


def unknown(words: Iterable[str], dictionary: str) -> set[str]:
    """The words that a dictionary does not know."""
    asked = "\n".join(sorted(words))
    command = ["hunspell", "-d", dictionary, "-i", "utf-8", "-l"]
    done = subprocess.run(command, input=asked, text=True, capture_output=True, check=True)
    return set(done.stdout.split())


def own_words(path: Path) -> set[str]:
    """The words that the course adds to a dictionary."""
    return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()


def found_in(prose: Prose) -> Iterator[tuple[int, str]]:
    """Place and word of each word of a text, but names in Latin letters among Arabic ones."""
    own, other = (ARABIC, LATIN) if prose.language in ARABIC_LETTERS else (LATIN, ARABIC)
    for match in WORD.finditer(prose.text):
        if own.search(match[0]) and not other.search(match[0]):
            yield match.start(), without_elision(plain(match[0]))


def without_elision(word: str) -> str:
    """A word without the l', d' or qu' before it, which every word may have."""
    return ELISION.sub("", word)


def check(language: str, texts: list[Prose], known: Path) -> tuple[list[Problem], set[str]]:
    """The warnings on the texts of a language, and the words to learn to have none."""
    words = {word for prose in texts for _, word in found_in(prose)}
    own = own_words(known)
    missing = unknown(words - own, language)
    problems = []
    for prose in texts:
        for start, word in found_in(prose):
            if word in missing:
                line, column = prose.place(start)
                mend = f"correct it, or add it to {known.relative_to(ROOT)}"
                message = f"'{word}' is in no dictionary"
                place = (prose.file, line, column)
                problems.append(Problem(*place, message, "spelling", mend, "warning"))
    for word in sorted(own - words):
        name, mend = str(known.relative_to(ROOT)), "remove the line"
        message = f"'{word}' is no longer in the course"
        problems.append(Problem(name, 1, 1, message, "spelling", mend, "warning"))
    return problems, missing | (own & words)


def main(arguments: list[str]) -> int:
    """Print the warnings, or learn the words; 0 in any case."""
    if not shutil.which("hunspell"):
        print(f"spelling: not checked, since hunspell is not installed ({INSTALL})")
        return 0
    languages = load_languages(ROOT / "docs/_data/languages.yml")
    codes = tuple(one.code for one in languages)
    texts = list(read_prose(ROOT, read_pages(ROOT / "docs", languages), codes))
    for code in codes:
        known = ROOT / f"docs/_data/words/{code}.txt"
        try:
            problems, words = check(code, [one for one in texts if one.language == code], known)
        except subprocess.CalledProcessError:
            print(f"spelling: '{code}' not checked, hunspell has no such dictionary ({INSTALL})")
            continue
        if "--learn" in arguments:
            known.parent.mkdir(exist_ok=True)
            known.write_text("".join(f"{word}\n" for word in sorted(words)), encoding="utf-8")
            print(f"spelling: {known.relative_to(ROOT)} has {len(words)} words")
        elif problems:
            print(report(problems))
        print(f"spelling: '{code}': {len(problems)} warnings")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
