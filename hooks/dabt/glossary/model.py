"""What a glossary is: terms with their names in every language, and words that texts avoid."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dabt.quiz.model import Location, Text

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Target:
    """Where a term is taught: a page of the language's tree (`full/x.md`), a section or ``."""

    page: str
    section: str
    at: Location


@dataclass(frozen=True)
class Avoided:
    """Words that a language's texts avoid: a `form`, or else the `pattern` of a regular expression.

    `write` is what to write instead, `why` a reason for whoever wrote it; `severity` as in Problem;
    `term` is the id of the term that it stands under, if any.
    """

    language: str
    form: str
    pattern: str
    write: str
    why: str
    severity: str
    at: Location
    term: str = ""


@dataclass(frozen=True)
class Term:
    """One idea: its name, other forms found in texts, words people search for, a definition.

    `exceptions` are longer words in which a form does not mean the term.
    `mark` says where chapters mark it: its first use in each "section", "once" a page or "never".
    """

    id: str
    english: str
    name: Text
    define: Text
    at: Location
    forms: Words = field(default_factory=dict)
    exceptions: Words = field(default_factory=dict)
    also: Words = field(default_factory=dict)
    taught: tuple[Target, ...] = ()
    mark: str = "section"

    def written(self, language: str) -> tuple[str, ...]:
        """What a text of a language may hold: the name, then the other forms."""
        return (self.name[language], *self.forms.get(language, ()))


@dataclass(frozen=True)
class Glossary:
    """All terms, in the order of the file, and all that texts avoid."""

    terms: tuple[Term, ...] = ()
    avoid: tuple[Avoided, ...] = ()

    def by_id(self) -> dict[str, Term]:
        """The terms by id."""
        return {term.id: term for term in self.terms}
