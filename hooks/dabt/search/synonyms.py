"""`docs/_data/search.yml`: what readers type for what the course says, by language."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dabt import yamlsource
from dabt.languages import Language
from dabt.problems import Problem
from dabt.search.words import load_rules

Synonyms = Mapping[str, tuple[tuple[str, ...], ...]]
FILE = "search.yml"


def read_synonyms(
    data: Path, languages: Sequence[Language]
) -> tuple[Synonyms, tuple[Problem, ...]]:
    """The groups of words of each language, and the problems of the file, if there is one."""
    path = data / FILE
    if not path.exists():
        return {}, ()
    root, findings = yamlsource.read(path)
    codes = tuple(language.code for language in languages)
    groups: dict[str, tuple[tuple[str, ...], ...]] = {}
    for code, listed in yamlsource.entries(root, findings, codes).items():
        groups[code] = tuple(
            _read_group(node, findings) for node in yamlsource.items(listed, findings)
        )
    return groups, tuple(findings.problems)


def _read_group(node: yamlsource.Node, findings: yamlsource.Findings) -> tuple[str, ...]:
    members = yamlsource.items(node, findings)
    words = tuple(yamlsource.text_of(one, findings).strip() for one in members)
    for member, word in zip(members, words, strict=True):
        if not list(load_rules().words(word)):
            message = f"'{word}' has no word that a query is searched for"
            findings.at(member, message, "stop-word", "remove it, or write another")
    if len(set(words)) < 2:
        message = "one word alone is a synonym of nothing"
        findings.at(node, message, "lone-word", "add another, or remove the line")
    return words
