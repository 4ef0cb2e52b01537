"""The picture of a shared link, one for each page: the card of its language with the page's title.

Pillow joins Arabic letters with raqm, which needs the system's FriBiDi (`libfribidi0`); without it
no Arabic is drawn, for letters apart are worse than the card of the language. The order of the
words is found here, since each script has a font of its own: words follow one another in the
direction of the language, and what reads from left to right in Arabic stays whole.
"""

import hashlib
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, features

from dabt.languages import Language
from dabt.quiz.inline import RUN, typeset

ARABIC = re.compile(r"[\u0600-\u06ff\u200c\u200d]+")
WIDTH, MARGIN = 1200, 84
# Below the mark and above the scale, which are those of the language's card.
TOP, BOTTOM = 226, 580
PAPER, INK, SOFT = "#fbf8f2", "#23201b", "#5c564b"
SIZES = (66, 58, 50, 44)
MODULE_SIZE = 34
LINES = 3
COLOURS = 24
VERSION = "1"


@dataclass(frozen=True)
class Card:
    """What a card says, and in which language."""

    title: str
    module: str
    language: Language


@dataclass(frozen=True)
class Piece:
    """A part of a word in one font and one direction."""

    text: str
    font: str
    direction: str


def can_draw(language: Language) -> bool:
    """Tell whether letters of a language can be joined and set in their direction here."""
    return language.direction == "ltr" or bool(features.check("raqm"))


def make_card(card: Card, assets: Path, cache: Path) -> tuple[str, bytes]:
    """The name and the PNG of a card; drawn once, then taken from the cache."""
    base = (assets / f"social/{card.language.code}.png").read_bytes()
    fonts = b"".join(_font_file(assets, name).read_bytes() for name in ("arabic", "latin"))
    said = "\n".join((VERSION, card.language.code, card.module, card.title)).encode()
    name = f"{hashlib.sha256(said + base + fonts).hexdigest()[:16]}.png"
    return name, _keep(cache / name, lambda: draw_card(card, assets))


def draw_card(card: Card, assets: Path) -> bytes:
    """The PNG of a card, 1200 x 630."""
    image = Image.open(assets / f"social/{card.language.code}.png").convert("RGB")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, TOP, WIDTH, BOTTOM), PAPER)
    rtl = card.language.direction == "rtl"
    y = TOP + 60
    if card.module:
        pen = Pen(draw, assets, MODULE_SIZE, rtl)
        pen.write(split_words(card.module, card.language), y, SOFT)
        y += 30
    words = split_words(card.title, card.language)
    pen, lines = _fit(words, draw, assets, rtl)
    for line in lines:
        y += round(pen.size * (1.45 if rtl else 1.25))
        pen.write(line, y - round(pen.size * 0.3), INK)
    return _pack(image)


def split_words(text: str, language: Language) -> list[list[Piece]]:
    """The words of a text in their order, each in pieces; a run of Latin words is one word."""
    if language.direction == "ltr":
        plain = typeset(text, language.code)
        return [[Piece(word, "latin", "ltr")] for word in plain.split(" ") if word]
    whole = RUN.sub(lambda run: run[0].replace(" ", "\u00a0"), text)
    return [list(_pieces(word)) for word in whole.split(" ") if word]


def _pieces(word: str) -> Iterator[Piece]:
    """Yield Arabic, Latin, and what takes the direction of the text, brackets for instance."""
    end = 0
    for run in RUN.finditer(word):
        yield from _right_to_left(word[end : run.start()])
        yield Piece(run[0], "latin", "ltr")
        end = run.end()
    yield from _right_to_left(word[end:])


def _right_to_left(text: str) -> Iterator[Piece]:
    end = 0
    for letters in ARABIC.finditer(text):
        if text[end : letters.start()]:
            yield Piece(text[end : letters.start()], "latin", "rtl")
        yield Piece(letters[0], "arabic", "rtl")
        end = letters.end()
    if text[end:]:
        yield Piece(text[end:], "latin", "rtl")


class Pen:
    """Measures and writes words at one size, from the side where the language begins."""

    def __init__(self, draw: ImageDraw.ImageDraw, assets: Path, size: int, rtl: bool) -> None:
        """Open the fonts at a size in pixels."""
        self.draw, self.size, self.rtl = draw, size, rtl
        self.fonts = {
            name: ImageFont.truetype(_font_file(assets, name), size) for name in ("arabic", "latin")
        }
        self.space = self.fonts["latin"].getlength(" ")

    def width(self, words: list[list[Piece]]) -> float:
        """The width of a line of words, in pixels."""
        pieces = (piece for word in words for piece in word)
        return sum(map(self._advance, pieces)) + self.space * (len(words) - 1)

    def write(self, words: list[list[Piece]], y: int, colour: str) -> None:
        """Write a line on the baseline `y`."""
        x = float(WIDTH - MARGIN if self.rtl else MARGIN)
        for word in words:
            for piece in word:
                step = self._advance(piece)
                x -= step if self.rtl else 0
                place = {"font": self.fonts[piece.font], "fill": colour, "anchor": "ls"}
                self.draw.text((x, y), piece.text, **place, **_options(piece))
                x += 0 if self.rtl else step
            x += -self.space if self.rtl else self.space

    def _advance(self, piece: Piece) -> float:
        return self.fonts[piece.font].getlength(piece.text, **_options(piece))


def _options(piece: Piece) -> dict[str, str]:
    """What raqm must be told; without it there is nothing to tell."""
    if not features.check("raqm"):
        return {}
    language = {"language": "ar"} if piece.font == "arabic" else {}
    return {"direction": piece.direction, **language}


def _fit(
    words: list[list[Piece]], draw: ImageDraw.ImageDraw, assets: Path, rtl: bool
) -> tuple[Pen, list[list[list[Piece]]]]:
    """The largest size at which a title takes few lines, and those lines."""
    for size in SIZES:
        pen = Pen(draw, assets, size, rtl)
        lines = _wrap(words, pen)
        if len(lines) <= LINES:
            break
    return pen, lines


def _wrap(words: list[list[Piece]], pen: Pen) -> list[list[list[Piece]]]:
    lines: list[list[list[Piece]]] = []
    for word in words:
        if lines and pen.width([*lines[-1], word]) <= WIDTH - 2 * MARGIN:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _pack(image: Image.Image) -> bytes:
    """A PNG of few colours: the edges of letters need no more."""
    out = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", compress_level=6)
    return out.getvalue()


def _font_file(assets: Path, name: str) -> Path:
    return assets / f"fonts/dabt-{name}-600.woff2"


def _keep(path: Path, make: Callable[[], bytes]) -> bytes:
    """The bytes of a file, made when it is not there; never half written."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(make())
        fresh.replace(path)
    return path.read_bytes()
