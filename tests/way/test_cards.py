"""The picture of a page's shared link: Arabic joined and in its order, small, drawn once."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw

from dabt.languages import Language
from dabt.way.cards import INK, Card, Pen, can_draw, make_card, split_words

ASSETS = Path(__file__).parents[2] / "docs/assets"
ARABIC = Language("ar", "العربية", "rtl", default=True)
FRENCH = Language("fr", "Français", "ltr")
LIMIT = 40_000
needs_fribidi = pytest.mark.skipif(not can_draw(ARABIC), reason="FriBiDi is not installed")


def pen(rtl: bool = True) -> Pen:
    image = Image.new("L", (1200, 120), 255)
    return Pen(ImageDraw.Draw(image), ASSETS, 60, rtl)


def ink(text: str, language: Language = ARABIC) -> Image.Image:
    image = Image.new("L", (1200, 120), 255)
    writer = Pen(ImageDraw.Draw(image), ASSETS, 60, language.direction == "rtl")
    writer.write(split_words(text, language), 80, INK)
    return ImageChops.invert(image)


def test_words_and_pieces_follow_the_sentence_and_latin_stays_whole() -> None:
    words = split_words("التكميم وQLoRA على GPT 2 (LoRA):", ARABIC)
    assert [[piece.text for piece in word] for word in words] == [
        ["التكميم"],
        ["و", "QLoRA"],
        ["على"],
        ["GPT\u00a02\u00a0(LoRA)", ":"],
    ]
    assert [piece.direction for piece in words[1]] == ["rtl", "ltr"]
    assert words[3][1].direction == "rtl"
    assert len(split_words("Mémoire : NaN", FRENCH)) == 2


@needs_fribidi
def test_letters_are_joined() -> None:
    """A word whose letters join is narrower than its letters one by one, which have tails."""
    writer = pen()
    joined = writer.width(split_words("ضبط", ARABIC))
    apart = sum(writer.width(split_words(letter, ARABIC)) for letter in "ضبط")
    assert joined < apart * 0.9


@needs_fribidi
def test_the_second_word_is_left_of_the_first_in_arabic_and_right_of_it_in_french() -> None:
    first, both = ink("ضبط"), ink("ضبط LoRA")
    left, _, right, _ = first.getbbox()
    assert right > 1100
    assert ImageChops.difference(first, both).getbbox()[2] < left
    first, both = ink("Dabt", FRENCH), ink("Dabt LoRA", FRENCH)
    assert ImageChops.difference(first, both).getbbox()[0] > first.getbbox()[2]


@needs_fribidi
def test_a_bracket_opens_towards_the_text() -> None:
    """In Arabic the first bracket, at the right, is drawn as `)`."""
    box = ink("(").getbbox()
    right_to_left = ink("(").crop(box)
    closing = ink(")", FRENCH)
    assert ImageChops.difference(right_to_left, closing.crop(closing.getbbox())).getbbox() is None


@pytest.mark.parametrize("language", [pytest.param(ARABIC, marks=needs_fribidi), FRENCH])
def test_a_card_is_small_and_drawn_once(language: Language, tmp_path: Path) -> None:
    card = Card("تشخيص الأعطال NaN " * 4 if language is ARABIC else "Panne " * 30, "M", language)
    name, picture = make_card(card, ASSETS, tmp_path)
    assert Image.open(io.BytesIO(picture)).size == (1200, 630)
    assert len(picture) < LIMIT
    (tmp_path / name).write_bytes(b"kept")
    assert make_card(card, ASSETS, tmp_path) == (name, b"kept")
    other, _ = make_card(Card("x", "M", language), ASSETS, tmp_path)
    assert other != name
    assert not list(tmp_path.glob("*.new"))
