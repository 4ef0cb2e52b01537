"""Make the tiny base's facts and the requests it is fine-tuned on: `python examples/tiny/data.py`.

- `data/facts.jsonl`: the capitals of 40 countries, in Arabic, French and English: what the base
  knows, so that forgetting can be measured.
- `data/train.jsonl`, `data/validation.jsonl`: travel requests and the JSON that they ask for, with
  the columns of Dolly (instruction, context, response, category).

The split is by content: no request of the validation file is in the training file. Fifteen training
answers in a hundred have a wrong field, as data written by people have some; the validation answers
are all right. A model that learns the errors by heart gets worse on the validation file.
"""

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent
DATA = FOLDER / "data"
LANGUAGES = ("ar", "fr", "en")
TRAIN_ROWS, VALIDATION_ROWS, WRONG_SHARE, DESTINATIONS = 360, 120, 0.15, 14
INSTRUCTIONS = {
    "ar": "استخرج الطلب بصيغة JSON.",
    "fr": "Extrais la demande en JSON.",
    "en": "Extract the request as JSON.",
}
DAYS = {
    "ar": ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    "fr": ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    "en": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
}
REQUESTS = {
    "ar": [
        "احجز {seats} مقاعد إلى {to} يوم {day} الساعة {hour}.",
        "أريد السفر إلى {to} يوم {day} الساعة {hour} ومعي {seats} تذاكر.",
        "{seats} تذاكر إلى {to}، الانطلاق يوم {day} الساعة {hour}، شكرًا.",
        "نسافر يوم {day} إلى {to}. نحتاج إلى {seats} مقاعد في قطار الساعة {hour}.",
        "هل بقيت {seats} مقاعد إلى {to} في رحلة الساعة {hour} يوم {day}؟",
    ],
    "fr": [
        "Réserve {seats} places pour {to} {day} à {hour} h.",
        "Je voudrais aller à {to} {day} à {hour} h avec {seats} billets.",
        "{seats} billets pour {to}, départ {day} à {hour} h, merci.",
        "Nous partons {day} pour {to}. Il nous faut {seats} places dans le train de {hour} h.",
        "Reste-t-il {seats} places pour {to} au départ de {hour} h, {day} ?",
    ],
    "en": [
        "Book {seats} seats to {to} on {day} at {hour}:00.",
        "I want to go to {to} on {day} at {hour}:00 with {seats} tickets.",
        "{seats} tickets to {to}, leaving {day} at {hour}:00, thanks.",
        "We leave on {day} for {to}. We need {seats} seats on the {hour}:00 train.",
        "Are there {seats} seats left to {to} on the {hour}:00 departure, {day}?",
    ],
}


def countries() -> list[dict[str, str]]:
    """Read the table of countries: names and capitals in three languages."""
    with (FOLDER / "countries.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def facts() -> list[dict[str, str]]:
    """Say each capital in each language: a beginning of sentence, a question, the answer."""
    rows = []
    for c in countries():
        sentences = {
            "ar": (f"عاصمة {c['ar']} هي", f"ما عاصمة {c['ar']}؟"),
            "fr": (f"La capitale {c['fr_of']} est", f"Quelle est la capitale {c['fr_of']} ?"),
            "en": (f"The capital of {c['en']} is", f"What is the capital of {c['en']}?"),
        }
        for language, (prompt, question) in sentences.items():
            answer = c[f"{language}_capital"]
            rows.append(
                {"language": language, "prompt": prompt, "question": question, "answer": answer}
            )
    return rows


def spoil(answer: dict, cities: list[str], days: list[str], draw: random.Random) -> dict:
    """Make one field of an answer wrong, as a tired annotator would."""
    field = draw.choice(list(answer))
    values = {"to": cities, "day": days, "hour": range(6, 23), "seats": range(3, 10)}[field]
    return answer | {field: draw.choice([value for value in values if value != answer[field]])}


def destinations() -> dict[str, list[str]]:
    """Read the cities that the requests name, in each language."""
    cities = json.loads((FOLDER / "cities.json").read_text("utf-8"))
    return {language: names[:DESTINATIONS] for language, names in cities.items()}


def requests(cities: dict, rows: int, wrong_share: float, seed: int) -> list[dict[str, str]]:
    """Write travel requests to these cities, in turn in each language, none of them twice."""
    draw, found = random.Random(seed), {}
    while len(found) < rows:
        language = LANGUAGES[len(found) % len(LANGUAGES)]
        answer = {
            "to": draw.choice(cities[language]),
            "day": draw.choice(DAYS[language]),
            "hour": draw.randint(6, 22),
            "seats": draw.randint(3, 9),
        }
        request = draw.choice(REQUESTS[language]).format(**answer)
        if draw.random() < wrong_share:
            answer = spoil(answer, cities[language], DAYS[language], draw)
        found[request] = {
            "instruction": INSTRUCTIONS[language],
            "context": request,
            "response": json.dumps(answer, ensure_ascii=False),
            "category": "information_extraction",
        }
    return list(found.values())


def write(name: str, rows: Iterable[dict]) -> None:
    """Write one JSON object a line."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (DATA / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the three files; the same ones each time."""
    cities = destinations()
    train = requests(cities, TRAIN_ROWS, WRONG_SHARE, seed=1)
    known = {row["context"] for row in train}
    others = requests(cities, 2 * VALIDATION_ROWS, 0.0, seed=2)
    unseen = [row for row in others if row["context"] not in known]
    write("facts.jsonl", facts())
    write("train.jsonl", train)
    write("validation.jsonl", unseen[:VALIDATION_ROWS])


if __name__ == "__main__":
    main()
