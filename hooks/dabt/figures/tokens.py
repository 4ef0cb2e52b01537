"""Tokens as boxes, and in words for those who hear them: which ones a training learns."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import groupby

from dabt.languages import direction
from dabt.ui import Ui

IGNORED = -100  # PyTorch's cross-entropy leaves out places with this label.
TRAINED, MASKED, ABSENT = STATES = ("trained", "masked", "absent")


@dataclass(frozen=True)
class Token:
    """One token: its text, whether it is special, and one of STATES."""

    text: str
    special: bool
    state: str


@dataclass(frozen=True)
class TokenRow:
    """The tokens of one set-up: its name, right, wrong or neither, the language of its tokens."""

    name: str
    right: bool | None
    language: str
    tokens: tuple[Token, ...]


def read_row(name: str, row: dict, longest: Iterable[dict]) -> TokenRow:
    """Return a recorded row; what only the longest one has at its end is absent from it."""
    own = [
        _read(entry, MASKED if entry["label"] == IGNORED else TRAINED) for entry in row["tokens"]
    ]
    lost = [_read(entry, ABSENT) for entry in list(longest)[len(own) :]]
    return TokenRow(name, row.get("right"), row.get("language", ""), (*own, *lost))


def _read(entry: dict, state: str) -> Token:
    return Token(entry["token"], bool(entry["special"]), state)


def draw_tokens(rows: tuple[TokenRow, ...], language: str, ui: Ui) -> str:
    """Return a list of rows, one under the other, and what their boxes mean."""
    drawn = "".join(_draw_row(row, language, ui) for row in rows)
    return f'{_draw_legend(rows, language, ui)}<ul class="dabt-tokens">{drawn}</ul>'


def _draw_row(row: TokenRow, language: str, ui: Ui) -> str:
    spoken = escape(_say(row, language, ui), quote=True)
    boxes = " ".join(map(_draw_token, row.tokens))
    return (
        f'<li><p class="dabt-tokens__name"><strong>{escape(row.name)}</strong> '
        f"{_draw_verdict(row, language, ui)}"
        f'<span class="dabt-tokens__count">{escape(_count(row, language, ui))}</span></p>'
        f'<p class="dabt-tokens__line" dir="{direction(row.language)}" role="img" '
        f'aria-label="{spoken}">{boxes}</p></li>'
    )


def _draw_verdict(row: TokenRow, language: str, ui: Ui) -> str:
    if row.right is None:
        return ""
    verdict = "right" if row.right else "wrong"
    return (
        f'<span class="dabt-tokens__verdict dabt-tokens__verdict--{verdict}">'
        f"{escape(ui.text(f'figure.tokens.{verdict}', language))}</span> "
    )


def _count(row: TokenRow, language: str, ui: Ui) -> str:
    trained, absent = (sum(t.state == state for t in row.tokens) for state in (TRAINED, ABSENT))
    total = len(row.tokens) - absent
    return ui.counted("figure.tokens.count", language, trained, total=total)


def _say(row: TokenRow, language: str, ui: Ui) -> str:
    """Say what the boxes show: the text of each state, tokens that follow each other joined."""
    runs = [(state, "".join(t.text for t in run)) for state, run in groupby(row.tokens, _state)]
    sentences = [
        ui.text(
            "figure.tokens.spoken",
            language,
            state=ui.text(f"figure.tokens.{state}", language),
            text=" … ".join(text.strip() for one, text in runs if one == state),
        )
        for state in STATES
        if any(one == state for one, _ in runs)
    ]
    return " ".join(sentences)


def _state(token: Token) -> str:
    return token.state


def _draw_token(token: Token) -> str:
    """Draw a box whose text keeps its own direction; spaces and line ends become visible."""
    text = escape(token.text).replace("\n", "\u21b5")
    text = text.replace(" ", '<i class="dabt-token__space"></i>')
    special = " dabt-token--special" if token.special else ""
    return f'<bdi class="dabt-token dabt-token--{token.state}{special}">{text}</bdi>'


def _draw_legend(rows: tuple[TokenRow, ...], language: str, ui: Ui) -> str:
    tokens = [token for row in rows for token in row.tokens]
    keys = [state for state in STATES if any(token.state == state for token in tokens)]
    if any(token.special for token in tokens):
        keys.append("special")
    items = "".join(
        f'<li><i class="dabt-token dabt-token--{key}"></i>'
        f"{escape(ui.text(f'figure.tokens.{key}', language))}</li>"
        for key in keys
    )
    return f'<ul class="dabt-legend" aria-hidden="true">{items}</ul>'
