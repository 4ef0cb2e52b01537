"""The files of the search: the index of a language, and the text of each page for its excerpts.

A name holds a hash of what is in the file, so that a cache never mixes two builds.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dabt.glossary.model import Glossary
from dabt.search.index import build_index
from dabt.search.parts import numbers_of, places
from dabt.search.sections import Page, Section
from dabt.search.synonyms import Synonyms
from dabt.search.terms import read_concepts
from dabt.search.words import load_rules
from dabt.ui import Ui

FOLDER = "assets/search"


@dataclass(frozen=True)
class SearchFiles:
    """The path of a language's index, and the content of every file by its path."""

    index: str
    contents: Mapping[str, str]


def make_files(
    pages: Sequence[Page], glossary: Glossary, synonyms: Synonyms, ui: Ui, language: str
) -> SearchFiles:
    """The index of a language and the texts of its pages."""
    contents: dict[str, str] = {}
    names: dict[str, str] = {}
    for page in pages:
        text = _compact([quoted(section) for section in page.sections])
        names[page.url] = f"{language}/{page.slug.replace('/', '-')}.{_hash(text)}.json"
        contents[f"{FOLDER}/{names[page.url]}"] = text
    concepts = read_concepts(glossary, language, frozenset(numbers_of(places(pages))))
    strings = ui.below("search.found", language)
    groups = synonyms.get(language, ())
    index = build_index(pages, concepts, groups, load_rules(), names)
    content = _compact({"strings": strings, **index})
    path = f"{FOLDER}/{language}.{_hash(content)}.json"
    return SearchFiles(path, {path: content, **contents})


def quoted(section: Section) -> str:
    """What a result quotes of a section: its text, of a question the question itself."""
    return section.title if section.kind == "question" else section.text


def version(folder: Path) -> str:
    """A name for the scripts of a folder as they are now: another one whenever one changes."""
    return _hash("".join(path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())))


def _compact(value: Iterable[object]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:8]
