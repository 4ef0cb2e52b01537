"""Make `data/text.txt.gz`, the real text that the tiny base is pretrained on.

The text is The Debian Administrator's Handbook (R. Hertzog, R. Mas and translators), in Arabic,
French and English, taken from Debian's package `debian-handbook` under CC BY-SA 3.0:

    apt-get download debian-handbook && dpkg-deb -x debian-handbook_*.deb book
    python examples/tiny/text.py book/usr/share/doc/debian-handbook/html

Only whoever changes the sample needs this program: its result is in the repository.
"""

import gzip
import html
import random
import re
import sys
from pathlib import Path

TARGET = Path(__file__).parent / "data" / "text.txt.gz"
EDITIONS = {"ar": "ar-MA", "fr": "fr-FR", "en": "en-US"}
CHARACTERS = 200_000
LETTERS = {"ar": r"[\u0600-\u06ff]", "fr": r"[a-zà-ÿ]", "en": r"[a-z]"}


PARAGRAPH = re.compile(r'<div class="para">((?:(?!<div|</div|<pre).)*)</div>', re.DOTALL)


def paragraphs(folder: Path, language: str) -> list[str]:
    """Read the book's paragraphs that are long enough and mostly written in the language."""
    found = {}
    for page in sorted(folder.glob("*.html")):
        for body in PARAGRAPH.findall(page.read_text("utf-8")):
            text = " ".join(html.unescape(re.sub(r"<[^>]+>", "", body)).split())
            letters = len(re.findall(LETTERS[language], text.lower()))
            if len(text) > 120 and letters > 0.7 * len(text.replace(" ", "")):
                found[text] = None
    return list(found)


def sample(texts: list[str], characters: int) -> list[str]:
    """Draw paragraphs, always the same ones, until the sample is large enough."""
    random.Random(0).shuffle(texts)
    taken, total = [], 0
    for text in texts:
        if total > characters:
            break
        taken.append(text)
        total += len(text)
    return taken


def main() -> None:
    """Write one paragraph a line, the languages one after the other."""
    book = Path(sys.argv[1])
    untranslated = set(paragraphs(book / EDITIONS["en"], "en"))
    lines = []
    for language, edition in EDITIONS.items():
        found = paragraphs(book / edition, language)
        if language != "en":
            found = [text for text in found if text not in untranslated]
        taken = sample(found, CHARACTERS)
        print(f"{language}: {len(taken)} paragraphs, {sum(map(len, taken)):,} characters")
        lines += taken
    TARGET.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
