"""Finds characters that a reader does not see, or does not see as they are.

    python -m tools.text_lint                # every text file of the project

A control character of the bidirectional algorithm can make code read otherwise than it runs
(CVE-2021-42574, "Trojan Source"); in prose it is copied along unseen. Where a run of another
direction needs care, markup says so: `<bdi>`, `<span lang="en" dir="ltr">`, backticks.
"""

import sys
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from dabt.languages import load_languages
from dabt.problems import Problem, report
from tools.environment import ROOT
from tools.files import project_files

BINARY = {".woff2", ".png", ".jpg", ".ico", ".gz", ".safetensors", ".gguf", ".npz", ".bin", ".pdf"}
BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
INVISIBLE = {0x00AD, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xE0000, 0xE0080)}
# French typography wants them in prose; in code they only look like a space.
SPACES = {0x00A0, 0x202F, 0x2007, 0x2009}
CODE = {".py", ".js", ".css", ".toml", ".sh", ""}
# Keyboards of other languages: they look like Arabic ya and kaf, and a search does not find them.
LOOKALIKES = {0x06CC: "ي", 0x06A9: "ك", 0x06C1: "ه"}

# Persian, Urdu and others write with them, and join or part letters by what nobody sees.
WRITTEN_WITH_THEM = {"ckb", "fa", "ku", "ps", "sd", "ug", "ur"}
OWN_LETTERS = {*LOOKALIKES, 0x200C, 0x200D}


def problems_of(name: str, data: bytes, languages: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what is wrong with the characters of one file of a course in these languages."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as failure:
        yield Problem(name, 1, 1, f"not UTF-8: {failure.reason}", "encoding", "save it as UTF-8")
        return
    if "\r" in text:
        yield Problem(name, 1, 1, "line ends of Windows", "line-end", "save it with LF line ends")
    for number, line in enumerate(text.split("\n"), 1):
        for column, character in enumerate(line, 1):
            if found := _judge(character, Path(name).suffix in CODE):
                if ord(character) in OWN_LETTERS and _may_hold(name, languages):
                    continue
                code, mend = found
                title = unicodedata.name(character, "without a name")
                message = f"U+{ord(character):04X} {title}"
                yield Problem(name, number, column, message, code, mend)


def _may_hold(name: str, languages: Collection[str]) -> bool:
    """Tell whether a file holds texts of a language whose own letters look like Arabic ones."""
    own = WRITTEN_WITH_THEM & set(languages)
    pages = any(name.startswith(f"docs/{code}/") for code in own)
    return pages or (bool(own) and name.startswith("docs/_data/"))


def _judge(character: str, in_code: bool) -> tuple[str, str] | None:
    point = ord(character)
    if point < 0x80:
        return _judge_ascii(character)
    if point in BIDI:
        return "bidi-control", "remove it; use markup, or an escape such as \\u200f in code"
    if point in INVISIBLE:
        return "invisible", "remove it; in code, write its escape"
    if point in SPACES and in_code:
        return "odd-space", "write a plain space, or the escape such as \\u00a0"
    if 0xFB50 <= point <= 0xFDFF or 0xFE70 <= point <= 0xFEFE:
        return "presentation-form", "type the plain letters: the font joins them"
    if point in LOOKALIKES:
        return "lookalike", f"type the Arabic letter {LOOKALIKES[point]}"
    return None


def _judge_ascii(character: str) -> tuple[str, str] | None:
    # A carriage return is said once for the whole file.
    if (character < " " and character not in "\t\r") or character == "\x7f":
        return "control", "remove it"
    return None


def main() -> int:
    """Check every text file; return the exit status."""
    languages = [one.code for one in load_languages(ROOT / "docs/_data/languages.yml")]
    files = [path for path in project_files() if path.suffix not in BINARY]
    problems = [
        problem
        for path in files
        for problem in problems_of(str(path.relative_to(ROOT)), path.read_bytes(), languages)
    ]
    if problems:
        print(report(problems))
    print(f"text: {len(files)} files read, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
