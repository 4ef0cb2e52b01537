"""Make the preference pairs of this chapter: `python examples/align/dpo/pairs.py`.

Three files, under CC BY-SA 4.0, about the capitals that the tiny base knows, in Arabic, French and
English:

- `data/demonstrations.jsonl`: what the supervised stage learns from: each question with two good
  answers, one of a word and one long-winded, as people of different habits would write them.
- `data/train.jsonl`, `data/validation.jsonl`: a preferred and a rejected answer a row. In half of
  them the rejected answer names a wrong city; in the others it is right and long-winded. The
  countries of the validation file are in no other file.
"""

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
COUNTRIES = HERE.parents[1] / "tiny" / "countries.tsv"
HELD_OUT = 10  # of 40 countries
LONG = {
    "ar": "{city}. شكرًا لك، سؤال جميل! يسرّني دائمًا أن أساعدك. هل لديك سؤال آخر؟",
    "fr": "{city}. Merci, très bonne question ! Je reste à votre service pour toute question.",
    "en": "{city}. Thank you, what a good question! I am always here to help you with any other.",
}
QUESTIONS = {
    "ar": "ما عاصمة {country}؟",
    "fr": "Quelle est la capitale {country} ?",
    "en": "What is the capital of {country}?",
}


def read_countries() -> list[dict[str, str]]:
    """Read the table of countries: names and capitals in three languages."""
    with COUNTRIES.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def short(country: dict, language: str) -> str:
    """Name the capital, and nothing else."""
    return country[f"{language}_capital"]


def long(country: dict, language: str) -> str:
    """Name it, and go on with compliments and offers."""
    return LONG[language].format(city=short(country, language))


def ask(country: dict, language: str) -> str:
    """Ask for a capital."""
    name = country["fr_of"] if language == "fr" else country[language]
    return QUESTIONS[language].format(country=name)


def wrong(country: dict, language: str, others: list[dict], draw: random.Random) -> str:
    """Name the capital of another country."""
    return short(draw.choice([other for other in others if other is not country]), language)


# --8<-- [start:pair]
def pair(country: dict, language: str, kind: str, others: list[dict], draw: random.Random) -> dict:
    """Write one pair: the answer preferred, and one that is wrong, or right and long-winded."""
    rejected = (
        wrong(country, language, others, draw)  # (1)!
        if kind == "wrong"
        else long(country, language)  # (2)!
    )
    return {
        "prompt": [{"role": "user", "content": ask(country, language)}],
        "chosen": [{"role": "assistant", "content": short(country, language)}],
        "rejected": [{"role": "assistant", "content": rejected}],
        "kind": kind,  # (3)!
    }
    # --8<-- [end:pair]


def make_pairs(countries: list[dict], seed: int) -> list[dict]:
    """Write two pairs for each country and language: one of each kind."""
    draw = random.Random(seed)
    return [
        pair(country, language, kind, countries, draw)
        for country in countries
        for language in LONG
        for kind in ("wrong", "long")
    ]


def make_demonstrations(countries: list[dict]) -> list[dict]:
    """Answer each question; every other answer is long-winded."""
    rows = []
    for number, country in enumerate(countries):
        for place, language in enumerate(LONG):
            terse = (number + place) % 2 == 0
            answer = short(country, language) if terse else long(country, language)
            rows.append({"instruction": ask(country, language), "context": "", "response": answer})
    return rows


def write(name: str, rows: Iterable[dict]) -> None:
    """Write one JSON object a line."""
    DATA.mkdir(exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (DATA / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the three files; the same ones each time."""
    countries = read_countries()
    random.Random(7).shuffle(countries)
    known, unseen = countries[HELD_OUT:], countries[:HELD_OUT]
    write("demonstrations.jsonl", make_demonstrations(known))
    write("train.jsonl", make_pairs(known, seed=2))
    write("validation.jsonl", make_pairs(unseen, seed=3))


if __name__ == "__main__":
    main()
