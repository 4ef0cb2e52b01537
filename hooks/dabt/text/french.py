"""French typography: apostrophes, quotation marks, no-break spaces, numbers, ligatures.

After the «Lexique des règles typographiques en usage à l'Imprimerie nationale»: a no-break space
before ; : ? ! % and a unit, inside « », and between thousands; the narrow one and the wide one are
both accepted, since fonts and editors differ.
"""

import re

from dabt.text.model import Rule, from_table, instead

LETTER = "A-Za-zÀ-ÖØ-öø-ÿŒœ"
WIDE, NARROW = "\u00a0", "\u202f"
NBSP = f"[{WIDE}{NARROW}]"
# What a mark may follow: code too, which is blanked.
BEFORE_MARK = rf"(?<=[{LETTER}\d»)\]’…%*_\0])"
UNITS = (
    "Go|Gio|Mo|Mio|ko|Ko|Kio|To|Tio|octets?|bits?|s|ms|min|h|jours?|GHz|MHz|W|€|°C|"
    "milliards?|millions?|tokens?|paramètres?|époques?|exemples?|pas|lignes?|points?"
)
LIGATURES = {"oe": "œ", "Oe": "Œ", "OE": "Œ"}
CAPITALS = {
    "Etat": "État",
    "Etats": "États",
    "Etape": "Étape",
    "Etapes": "Étapes",
    "Ecrire": "Écrire",
    "Ecrivez": "Écrivez",
    "Ecart": "Écart",
    "Echec": "Échec",
    "Echelle": "Échelle",
    "Egalement": "Également",
    "Eviter": "Éviter",
    "Evitez": "Évitez",
    "Evaluer": "Évaluer",
    "Evaluez": "Évaluez",
    "Evaluation": "Évaluation",
    "Enoncé": "Énoncé",
    "Epoque": "Époque",
    "Epoques": "Époques",
    "Etant": "Étant",
    "Etiquette": "Étiquette",
    "Etiquettes": "Étiquettes",
    "Ca": "Ça",
}

RULES = (
    Rule(
        "fr-apostrophe",
        "fr",
        re.compile(rf"(?<=[{LETTER}])'(?=[{LETTER}«])"),
        "a straight apostrophe",
        "write '’'",
        instead("’"),
    ),
    Rule(
        "fr-quotes",
        "fr",
        re.compile(rf'(?<![\w=(])"([^"\n\0]*[{LETTER}][^"\n\0]*)"(?![\w>])|“([^“”\n]*)”'),
        "quotation marks that are not French",
        "write '{new}'",
        lambda match: f"«{WIDE}{match[1] or match[2]}{WIDE}»",
    ),
    Rule(
        "fr-guillemets",
        "fr",
        re.compile(rf"«(?!{NBSP}) ?|(?<!{NBSP}) »|(?<![{WIDE}{NARROW} ])»"),
        "a quotation mark without its no-break space",
        "put U+00A0 inside « and »",
        lambda match: f"«{WIDE}" if match[0][0] == "«" else f"{WIDE}»",
    ),
    Rule(
        "fr-mark-space",
        "fr",
        re.compile(
            rf"{BEFORE_MARK} ?(?<![?!{WIDE}{NARROW}])([;?!])(?=[\s»)\]*_\0]|$)",
            re.M,
        ),
        "no no-break space before a mark",
        "put U+202F before it",
        instead(rf"{NARROW}\1"),
    ),
    Rule(
        "fr-colon-space",
        "fr",
        re.compile(rf"{BEFORE_MARK} ?(?<![{WIDE}{NARROW}]):(?=[\s*\0]|$)", re.M),
        "no no-break space before a colon",
        "put U+00A0 before it",
        instead(f"{WIDE}:"),
    ),
    Rule(
        "fr-percent",
        "fr",
        re.compile(r"(?<=\d) ?%"),
        "no no-break space between a number and its percent sign",
        "put U+00A0 between them",
        instead(f"{WIDE}%"),
    ),
    Rule(
        "fr-unit",
        "fr",
        re.compile(rf"(?<=\d) (?=(?:{UNITS})(?![{LETTER}’']))"),
        "a plain space between a number and its unit",
        "put U+00A0 between them",
        instead(WIDE),
    ),
    Rule(
        "fr-thousands",
        "fr",
        re.compile(r"(?<=\d)(?<!\d\d\d\d) (?=\d{3}(?!\d))"),
        "a plain space between thousands",
        "put U+202F between them",
        instead(NARROW),
    ),
    Rule(
        "fr-decimal",
        "fr",
        re.compile(rf"(?<![\d.])(\d+)\.(\d+)(?={NBSP}(?:%|{UNITS})(?![{LETTER}’']))"),
        "a decimal point",
        "write '{new}'",
        instead(r"\1,\2"),
    ),
    Rule(
        "fr-ligature",
        "fr",
        re.compile(
            rf"(?<![{LETTER}])((?:[cCbBsSnNvVmM]|man)?)(oe|Oe|OE)(?=(?:ur|uvre|il|uf|ud|ux|u)(?![{LETTER}])|uvre|urs|uds|ufs|illères)"
        ),
        "two letters where French has one",
        "write '{new}'",
        from_table(LIGATURES),
    ),
    Rule(
        "fr-capital",
        "fr",
        re.compile(rf"(?<![{LETTER}’'-])()({'|'.join(CAPITALS)})(?![{LETTER}])"),
        "a capital without its accent",
        "write '{new}'",
        from_table(CAPITALS),
    ),
    Rule(
        "fr-ordinal",
        "fr",
        re.compile(rf"(?<=\d)(?:i?[èe]mes?)(?![{LETTER}])"),
        "an ordinal written out",
        "write 'e', as in 2e",
        instead("e"),
    ),
)
