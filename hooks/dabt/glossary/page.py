"""The glossary as HTML in one language: terms by letter, each with its names and its definition.

The names of classes are shared with `docs/assets/site.css` and `docs/assets/glossary.js`.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

from dabt.glossary.matching import ARTICLE, normalise
from dabt.glossary.model import Glossary, Term
from dabt.languages import Language, direction
from dabt.links import relative_link
from dabt.quiz.inline import to_html, typeset
from dabt.ui import Ui

PAGE = "glossary.md"
ALPHABET = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
# Which letter of the alphabet a letter of Arabic is listed under.
UNDER = str.maketrans("أإآٱءؤئىة", "اااااوييه")


@dataclass(frozen=True)
class Shown:
    """Where a glossary is shown, and what is known there; `titles` as in the course."""

    language: str
    page: str
    ui: Ui
    titles: Mapping[tuple[str, str, str], str]
    languages: Sequence[Language]

    def words(self, key: str) -> str:
        """An interface string of the glossary, typeset for the language."""
        return typeset(self.ui.text(f"glossary.{key}", self.language), self.language)


def anchor(term: str) -> str:
    """The id of a term on the glossary page."""
    return f"term-{term}"


def sort_key(name: str, language: str) -> tuple[tuple[int, ...], str]:
    """The place of a name in the alphabet: no article, no vowel sign, no accent, no capital."""
    plain = normalise(name).text.casefold()
    if language == "ar":
        words = (word.removeprefix(ARTICLE) if len(word) > 4 else word for word in plain.split())
        letters = " ".join(words).translate(UNDER)
        return tuple(ALPHABET.find(letter) for letter in letters), plain
    bare = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    return tuple(ord(letter) for letter in bare if letter.isalnum() or letter == " "), plain


def first_letter(name: str, language: str) -> str:
    """The letter that a name is listed under, as a reader of the language writes it."""
    code = sort_key(name, language)[0][0]
    if language == "ar":
        return ALPHABET[code] if code >= 0 else "#"
    return chr(code).upper()


def render_glossary(glossary: Glossary, shown: Shown) -> str:
    """The HTML of all terms in the order of the language's alphabet."""
    code = shown.language
    terms = sorted(glossary.terms, key=lambda term: sort_key(term.name[code], code))
    groups = [
        (letter, list(members))
        for letter, members in groupby(terms, lambda term: first_letter(term.name[code], code))
    ]
    letters = enumerate(groups, 1)
    parts = Markup("").join(_letter(place, *group, shown) for place, group in letters)
    head = _head(len(terms), [letter for letter, _ in groups], shown)
    return str(Markup('<div class="dabt-glossary">{}{}</div>').format(head, parts))


def _head(count: int, letters: Sequence[str], shown: Shown) -> Markup:
    links = Markup(" ").join(
        Markup('<a href="#letter-{}">{}</a>').format(place, letter)
        for place, letter in enumerate(letters, 1)
    )
    return Markup(
        '<div data-search-exclude><p class="dabt-glossary__filter"><label>{filter} '
        '<input type="search" autocomplete="off" spellcheck="false"></label> '
        '<span role="status" data-none="{none}"></span></p>'
        '<nav class="dabt-glossary__letters" aria-label="{letters}">{links}</nav>'
        "<p>{count}</p></div>"
    ).format(
        filter=shown.words("filter"),
        none=shown.words("none"),
        letters=shown.words("letters"),
        links=links,
        count=shown.ui.counted("glossary.count", shown.language, count),
    )


def _letter(place: int, letter: str, terms: Sequence[Term], shown: Shown) -> Markup:
    return Markup(
        '<div class="dabt-letter"><p class="dabt-letter__name" id="letter-{}" data-search-exclude>'
        "{}</p>{}</div>\n"
    ).format(place, letter, Markup("").join(_entry(term, shown) for term in terms))


def _entry(term: Term, shown: Shown) -> Markup:
    more = Markup("<br>").join(_more(term, shown))
    return Markup(
        '<div class="dabt-entry"><h3 id="{}">{}</h3><p class="dabt-entry__names">{}</p>'
        "<p>{}</p>{}</div>\n"
    ).format(
        anchor(term.id),
        to_html(term.name[shown.language], shown.language),
        Markup(' <span aria-hidden="true">·</span> ').join(_names(term, shown)),
        to_html(term.define[shown.language], shown.language),
        Markup('<p class="dabt-entry__more">{}</p>').format(more) if more else "",
    )


def _names(term: Term, shown: Shown) -> Iterator[Markup]:
    """The English name, then the name in each other language of the course, if it differs."""
    isolated = Markup('<span lang="{}" dir="{}">{}</span>')
    yield isolated.format("en", "ltr", term.english)
    for one in shown.languages:
        if one.code != shown.language and term.name[one.code] != term.english:
            yield isolated.format(one.code, one.direction, term.name[one.code])


def _more(term: Term, shown: Shown) -> Iterator[Markup]:
    also = term.also.get(shown.language, ())
    if also:
        comma = "، " if direction(shown.language) == "rtl" else ", "
        listed = Markup(escape(comma)).join(
            Markup("<bdi>{}</bdi>").format(typeset(word, shown.language)) for word in also
        )
        yield Markup("{} {}").format(shown.words("also"), listed)
    if link := _taught(term, shown):
        yield Markup("{} {}").format(shown.words("taught"), link)


def _taught(term: Term, shown: Shown) -> Markup | None:
    """The link to the first of the term's places that exists in this language."""
    for target in term.taught:
        key = (shown.language, target.page, target.section)
        if key in shown.titles:
            href = relative_link(shown.page, target.page, target.section)
            title = to_html(shown.titles[key], shown.language)
            return Markup('<a href="{}">{}</a>').format(href, title)
    return None
