"""What Arabic costs in tokens, and what normalising its letters loses.

Chapter data/datasets-chat-templates of the course. No GPU is needed.

    python examples/data/datasets-chat-templates/arabic.py --tiny
    python examples/data/datasets-chat-templates/arabic.py --model Qwen/Qwen2.5-0.5B-Instruct

It reads the rows of raw.jsonl that say the same in Arabic, French and English, with the tiny
base's tokenizer, with SmolLM2's where examples/small has fetched it, and with that of --model.
"""

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from prepare import COLUMNS, HERE, RAW, guess_language
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

sys.path.insert(0, str(HERE.parents[1]))
from common import guard, record
from common.options import make_parser
from small import path_or_none
from tiny import BASE

LANGUAGES = ("ar", "fr", "en")


# --8<-- [start:parallel]
def read_parallel(file: Path) -> dict[str, str]:
    """Gather, for each language, the texts of the topics that every language has."""
    topics = defaultdict(dict)
    for row in guard.read_jsonl(file, (*COLUMNS, "topic")):
        text = " ".join(row[column] for column in COLUMNS).strip()
        topics[row["topic"]].setdefault(guess_language(text), text)  # (1)!
    whole = [texts for texts in topics.values() if set(LANGUAGES) <= set(texts)]
    if not whole:
        guard.stop(f"{file} has no topic in {', '.join(LANGUAGES)}", "give parallel texts")
    return {language: "\n".join(texts[language] for texts in whole) for language in LANGUAGES}
    # --8<-- [end:parallel]


# --8<-- [start:fertility]
def count_words(text: str) -> int:
    """Count what spaces separate, signs alone left out."""
    return sum(any(c.isalnum() for c in word) for word in text.split())


def measure_fertility(name: str, tokenizer: PreTrainedTokenizerBase, texts: dict) -> list[dict]:
    """Measure tokens per word, and the tokens of the same content against English."""
    tokens = {
        language: len(tokenizer(text, add_special_tokens=False).input_ids)  # (1)!
        for language, text in texts.items()
    }
    return [
        {
            "tokenizer": name,
            "vocabulary": len(tokenizer),
            "language": language,
            "words": count_words(texts[language]),
            "tokens": count,
            "fertility": count / count_words(texts[language]),  # (2)!
            "against_english": count / tokens["en"],  # (3)!
        }
        for language, count in tokens.items()
    ]
    # --8<-- [end:fertility]


# --8<-- [start:steps]
def only(pairs: str) -> Callable[[str], str]:
    """Make a step that replaces letters: each pair is a letter and what it becomes."""
    table = str.maketrans(dict(pairs.split()))
    return lambda text: text.translate(table)


def drop_marks(text: str) -> str:
    """Take away the short vowels and the doubling mark."""
    return "".join(c for c in text if not "\u064b" <= c <= "\u0652")  # (1)!


STEPS: dict[str, Callable[[str], str]] = {
    "vowel marks": drop_marks,
    "alif": only("أا إا آا"),
    "hamza": only("ؤو ئي"),
    "alif maqsura": only("ىي"),
    "ta marbuta": only("ةه"),
}
# --8<-- [end:steps]


@dataclass(frozen=True)
class Pair:
    """Two words that a step makes one, and what each means, in French."""

    step: str
    first: str
    first_means: str
    second: str
    second_means: str


PAIRS = (
    Pair("vowel marks", "عِلْم", "science", "عَلَم", "drapeau"),
    Pair("vowel marks", "مَدْرَسة", "école", "مُدَرِّسة", "enseignante"),
    Pair("vowel marks", "كُتُب", "livres", "كَتَبَ", "il a écrit"),
    Pair("alif", "قرآن", "Coran", "قران", "union"),
    Pair("alif", "سأل", "il a demandé", "سال", "il a coulé"),
    Pair("alif", "إعلام", "information", "أعلام", "drapeaux"),
    Pair("alif", "آجر", "brique", "أجر", "salaire"),
    Pair("alif", "فأر", "souris", "فار", "il a bouilli"),
    Pair("hamza", "رؤية", "vision", "روية", "réflexion"),
    Pair("alif maqsura", "على", "sur", "علي", "Ali"),
    Pair("ta marbuta", "كرة", "ballon", "كره", "il a détesté"),
)


# --8<-- [start:lossy]
def show_losses(pairs: tuple[Pair, ...]) -> list[dict]:
    """Apply the step of each pair: two words go in, and one comes out."""
    rows = []
    for pair in pairs:
        step = STEPS[pair.step]
        assert step(pair.first) == step(pair.second), pair  # (1)!
        rows.append(asdict(pair) | {"becomes": step(pair.first)})
    return rows


def measure_saving(tokenizer: PreTrainedTokenizerBase, text: str) -> list[dict]:
    """Measure what each step saves in tokens: what one would lose meaning for."""
    rows = [{"step": "as it is", "tokens": len(tokenizer(text).input_ids)}]
    for name, step in STEPS.items():
        rows.append({"step": name, "tokens": len(tokenizer(step(text)).input_ids)})  # (2)!
    return rows
    # --8<-- [end:lossy]


# --8<-- [start:harmless]
SHAPES = "[\ufe80-\ufefc]+"
SIGNS = "[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩", "0123456789")


def shapes_to_letters(text: str) -> str:
    """Write letters for the shapes that a PDF is often copied as."""
    return re.sub(SHAPES, lambda run: unicodedata.normalize("NFKC", run[0]), text)  # (1)!


def drop_signs(text: str) -> str:
    """Take away the signs that only steer the display; U+200C stays, Persian spells with it."""
    return re.sub(SIGNS, "", text)  # (2)!


HARMLESS: dict[str, tuple[Callable[[str], str], str]] = {
    "shapes": (shapes_to_letters, "\ufeb3\ufefc\ufee1"),
    "tatweel": (lambda text: text.replace("\u0640", ""), "كتـــاب"),
    "direction": (drop_signs, "\u200fسلام\u200f"),
    "digits": (lambda text: text.translate(DIGITS), "٢٠٢٦"),  # (3)!
}
# --8<-- [end:harmless]


def measure_harmless(tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """Count the tokens of each sample before and after its step."""

    def count(text: str) -> int:
        return len(tokenizer(text, add_special_tokens=False).input_ids)

    return [
        {"step": name, "before": count(sample), "after": count(step(sample))}
        for name, (step, sample) in HARMLESS.items()
    ]


def write_harmless(harmless: dict[str, list[dict]]) -> str:
    """Write the tokens of each sample before and after its step."""
    width = max(map(len, harmless)) + 2
    lines = [f"{'':10}" + "".join(f"{name:>{width}}" for name in harmless)]
    for rows in zip(*harmless.values(), strict=True):
        pairs = (f"{row['before']} -> {row['after']}" for row in rows)
        lines.append(f"{rows[0]['step']:10}" + "".join(f"{pair:>{width}}" for pair in pairs))
    return "\n".join(lines)


def write_fertility(rows: list[dict]) -> str:
    """Write the table of fertility."""
    lines = ["tokenizer (tokens)              lang  words  tokens  a word  vs en"]
    for row in rows:
        name = f"{row['tokenizer']} ({row['vocabulary']:,})"
        lines.append(
            f"{name:32}{row['language']:4}{row['words']:7}{row['tokens']:8}"
            f"{row['fertility']:8.2f}{row['against_english']:7.2f}"
        )
    return "\n".join(lines)


def name_bar(row: dict) -> str:
    """Name a row for the figure that draws it."""
    return f"{row['tokenizer']}-{row['language']}".lower().replace(" ", "-")


def write_losses(rows: list[dict]) -> str:
    """Write the pairs, with Latin letters between Arabic words so that no line is reordered."""
    return "\n".join(
        f"{row['step']:13} {row['first']} = {row['first_means']}, "
        f"{row['second']} = {row['second_means']}, both become {row['becomes']}"
        for row in rows
    )


def write_savings(savings: dict[str, list[dict]]) -> str:
    """Write the tokens of the Arabic text after each step, by itself."""
    width = max(map(len, savings)) + 2
    lines = [f"{'':14}" + "".join(f"{name:>{width}}" for name in savings)]
    for rows in zip(*savings.values(), strict=True):
        lines.append(f"{rows[0]['step']:14}" + "".join(f"{row['tokens']:{width}}" for row in rows))
    return "\n".join(lines)


def load_tokenizers(model: str | None) -> dict[str, PreTrainedTokenizerBase]:
    """Load the tokenizers that this computer has, and the one that is asked for."""
    names = {"tiny base": str(BASE)}
    if small := path_or_none():
        names[small.name] = str(small)
    if model:
        names[model] = model
    loaded = {}
    for name, place in names.items():
        with guard.explain("model", name):
            loaded[name] = AutoTokenizer.from_pretrained(place)
    return loaded


def main(argv: list[str] | None = None) -> None:
    """Measure each tokenizer, and show what normalising does."""
    parser = make_parser(__doc__)
    parser.add_argument("--tiny", action="store_true", help="what is on this computer, offline")
    parser.add_argument("--model", help="another tokenizer: folder or name on the Hub")
    parser.add_argument("--data", type=Path, default=RAW, help="file.jsonl with a column topic")
    parser.add_argument("--record", action="store_true", help="refresh arabic.json and outputs/")
    options = parser.parse_args(argv)
    folder = HERE if options.record else None
    logging.set_verbosity_error()
    texts = read_parallel(options.data)
    tokenizers = load_tokenizers(None if options.tiny else options.model)
    fertility = [
        row for name, one in tokenizers.items() for row in measure_fertility(name, one, texts)
    ]
    record.show(write_fertility(fertility), folder, "fertility.txt")
    losses = show_losses(PAIRS)
    record.show(write_losses(losses), folder, "losses.txt")
    savings = {name: measure_saving(one, texts["ar"]) for name, one in tokenizers.items()}
    record.show(write_savings(savings), folder, "savings.txt")
    harmless = {name: measure_harmless(one) for name, one in tokenizers.items()}
    record.show(write_harmless(harmless), folder, "harmless.txt")
    if folder:
        named = [{"id": name_bar(row)} | row for row in fertility]
        facts = {"fertility": named, "losses": losses, "savings": savings, "harmless": harmless}
        record.write(folder, facts, "arabic.json")


if __name__ == "__main__":
    main()
