"""The terms of the glossary for the search: every name of an idea leads where it is taught."""

from collections.abc import Iterator
from dataclasses import dataclass

from dabt.glossary.model import Glossary, Term
from dabt.glossary.page import anchor

GLOSSARY = "glossary"


@dataclass(frozen=True)
class Concept:
    """A term in one language. `names`: its name, the English one, then all that people type.

    `places` are `slug#section`, the best first, without those that do not exist.
    """

    id: str
    names: tuple[str, ...]
    places: tuple[str, ...]


def read_concepts(glossary: Glossary, language: str, known: frozenset[str]) -> tuple[Concept, ...]:
    """The terms of a glossary with what to call them; `known` are all `slug#section`."""
    return tuple(_concept(term, glossary, language, known) for term in glossary.terms)


def _concept(term: Term, glossary: Glossary, language: str, known: frozenset[str]) -> Concept:
    places = [f"{one.page.removesuffix('.md')}#{one.section}" for one in term.taught]
    places.append(f"{GLOSSARY}#{anchor(term.id)}")
    names = tuple(dict.fromkeys(_names(term, glossary, language)))
    return Concept(term.id, names, tuple(one for one in places if one in known))


def _names(term: Term, glossary: Glossary, language: str) -> Iterator[str]:
    yield from (term.name[language], term.english)
    yield from term.forms.get(language, ())
    yield from term.also.get(language, ())
    for one in glossary.avoid:
        if one.term == term.id and one.language == language and one.form:
            yield one.form
