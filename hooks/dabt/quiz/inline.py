"""The little markup of a quiz text: `code`, **bold** and $math$; all else comes out as typed."""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from dabt.languages import direction
from dabt.quiz import formula

SPAN = re.compile(
    r"\\(?P<literal>[\\`*$])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*"
    r"|\$(?=\S)(?P<math>[^$\n]+?)(?<=\S)\$(?!\d)",
    re.DOTALL,
)

# Runs that the bidirectional algorithm would reorder in a right-to-left text: several words or
# numbers with blanks or signs between or around them ("16 GB", "5 + 3 = 8", "~28", "3e-5").
# A word is taken whole (`*+`): "a-b" is never tried again as "a" joined to "b", for that doubles
# the work at each hyphen where a bracket is not closed.
_WORD = r"[A-Za-z0-9À-ɏ]++(?:['’.,:/_^-][A-Za-z0-9À-ɏ]++)*+[%+#°>]*+"
_SIGNS = r"[-~≈<>≤≥±+−.#$@/]+"
_JOIN = r"(?:[ \u00a0\u202f]*[-×*/+=<>≤≥≈~^−–&]+[ \u00a0\u202f]*|[ \u00a0\u202f]+)"
_BEFORE = rf"(?:(?<!\w){_SIGNS}|(?<![A-Za-z0-9])[~≈<>≤≥±#$@]+)"
_RUN = rf"{_BEFORE}?{_WORD}(?:{_JOIN}{_WORD})*"
_ATOM = rf"(?:\({_RUN}\)|{_RUN})"
RUN = re.compile(rf"{_ATOM}(?:{_JOIN}{_ATOM})*")
LATIN_OR_DIGITS = re.compile(r"[A-Za-zÀ-ɏ]+|\d+")


def to_html(text: str, language: str) -> Markup:
    """A quiz text as HTML for a language: escaped, marked up, foreign runs isolated."""
    return Markup("").join(_pieces(text, language))


# French sets a no-break space before these signs and inside guillemets.
FRENCH_SPACES = (
    (re.compile(r" (?=[?!;%])"), "\u202f"),
    (re.compile(r" (?=[:»](?:\W|$))|(?<=«) "), "\u00a0"),
    (re.compile(r"(?<=\d) (?=\d{3}(?!\d))"), "\u202f"),
)


def typeset(text: str, language: str) -> str:
    """A text without code, with the no-break spaces of its language's typography."""
    if language == "fr":
        for pattern, space in FRENCH_SPACES:
            text = pattern.sub(space, text)
    return text


def to_plain(text: str) -> str:
    """A quiz text without its marks, for attributes and comparisons."""
    return SPAN.sub(
        lambda span: span["literal"] or span["code"] or span["bold"] or span["math"], text
    )


def code_spans(text: str) -> list[str]:
    """What stands between backticks in a text."""
    return [span["code"].strip() for span in SPAN.finditer(text) if span["code"]]


def blanked(text: str, *kinds: str) -> str:
    """A text whose spans of some kinds (code, math) are blanks of the same length."""

    def blank(span: re.Match[str]) -> str:
        return " " * len(span[0]) if any(span[kind] for kind in kinds) else span[0]

    return SPAN.sub(blank, text)


def inline_faults(text: str) -> list[str]:
    """What is wrong in the marks of a text, in words; empty when all is well."""
    faults = []
    rest = SPAN.sub("", text)
    if "`" in rest:
        faults.append("a backtick opens a code that no backtick closes")
    for span in SPAN.finditer(text):
        if span["math"]:
            faults.extend(formula.faults(span["math"]))
        if span["bold"]:
            faults.extend(inline_faults(span["bold"]))
    return faults


def _pieces(text: str, language: str) -> Iterator[Markup]:
    end = 0
    for span in SPAN.finditer(text):
        yield _isolated(text[end : span.start()], language)
        end = span.end()
        if span["literal"]:
            yield escape(span["literal"])
        elif span["code"]:
            yield Markup('<code dir="ltr">{}</code>').format(_code(span))
        elif span["bold"]:
            yield Markup("<strong>{}</strong>").format(to_html(span["bold"], language))
        else:
            math = formula.to_html(span["math"])
            yield Markup('<span class="dabt-math" dir="ltr">{}</span>').format(math)
    yield _isolated(text[end:], language)


def _code(span: re.Match[str]) -> str:
    return span["code"].strip() if len(span["ticks"]) > 1 else span["code"]


def _isolated(text: str, language: str) -> Markup:
    if direction(language) == "ltr":
        return escape(typeset(text, language))
    parts, end = [], 0
    for run in RUN.finditer(text):
        if LATIN_OR_DIGITS.fullmatch(run[0]):
            continue
        parts.append(escape(text[end : run.start()]))
        parts.append(Markup('<bdi dir="ltr">{}</bdi>').format(run[0]))
        end = run.end()
    return Markup("").join([*parts, escape(text[end:])])
