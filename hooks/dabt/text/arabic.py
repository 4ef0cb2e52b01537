"""Arabic: its own punctuation, Western digits, and words that keyboards and habit spell wrongly.

Digits are Western on purpose: readers copy numbers from the pages into programs.
"""

import re

from dabt.text.model import Rule, from_table, instead

LETTER = "\u0621-\u063a\u0641-\u0652"
# What an Arabic run may end with: a letter, a digit after letters, a closing mark.
ENDS = rf"[{LETTER}»)\]]"
DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "01234567890123456789")

# Words without the hamza they begin with, or with one they have not; ya for alif maqsura.
WORDS = {
    "الى": "إلى",
    "او": "أو",
    "اذا": "إذا",
    "اذن": "إذن",
    "اي": "أي",
    "ايضا": "أيضًا",
    "ايضًا": "أيضًا",
    "اكثر": "أكثر",
    "اقل": "أقل",
    "اكبر": "أكبر",
    "اصغر": "أصغر",
    "اول": "أول",
    "اخرى": "أخرى",
    "اثناء": "أثناء",
    "الان": "الآن",
    "لان": "لأن",
    "لانه": "لأنه",
    "لانها": "لأنها",
    "هاذا": "هذا",
    "هاذه": "هذه",
    "ذالك": "ذلك",
    "لاكن": "لكن",
    "شئ": "شيء",
    "مسئول": "مسؤول",
    "فى": "في",
    "التى": "التي",
    "الذى": "الذي",
    "هى": "هي",
}

RULES = (
    Rule(
        "ar-comma",
        "ar",
        re.compile(rf"(?<={ENDS})[ \u00a0]*,(?!\d)"),
        "a Latin comma after Arabic",
        "write '،'",
        instead("،"),
    ),
    Rule(
        "ar-semicolon",
        "ar",
        re.compile(rf"(?<={ENDS})[ \u00a0]*;"),
        "a Latin semicolon after Arabic",
        "write '؛'",
        instead("؛"),
    ),
    Rule(
        "ar-question",
        "ar",
        re.compile(rf"(?<={ENDS})[ \u00a0]*\?"),
        "a Latin question mark after Arabic",
        "write '؟'",
        instead("؟"),
    ),
    Rule(
        "ar-digits",
        "ar",
        re.compile("[٠-٩۰-۹]+"),
        "digits that programs do not read",
        "write '{new}': the course has Western digits",
        lambda match: match[0].translate(DIGITS),
    ),
    Rule(
        "ar-percent",
        "ar",
        re.compile(r"(?<=\d)[ \u00a0\u202f]*٪|(?<=\d)[ \u00a0\u202f]+%"),
        "the percent sign stands right after its number",
        "write '%' without a space",
        instead("%"),
    ),
    Rule(
        "ar-space-before",
        "ar",
        re.compile(rf"(?<={ENDS})[ \u00a0\u202f]+([،؛؟!:.])(?=[\s\u00a0]|$)", re.MULTILINE),
        "a space before a punctuation mark",
        "remove it",
        instead(r"\1"),
    ),
    Rule(
        "ar-space-after",
        "ar",
        re.compile(rf"([،؛؟])(?=[{LETTER}«(])"),
        "no space after a punctuation mark",
        "add one",
        instead(r"\1 "),
    ),
    Rule(
        "ar-tatweel",
        "ar",
        re.compile(rf"(?<=[{LETTER}])ـ+(?=[{LETTER}])"),
        "a stretched letter, which no search finds",
        "remove the tatweel",
        instead(""),
    ),
    Rule(
        "ar-tanwin",
        "ar",
        re.compile("اً"),
        "the tanwin stands before its alif in this course",
        "write 'ًا'",
        instead("ًا"),
    ),
    Rule(
        "ar-quotes",
        "ar",
        re.compile(rf'"([^"\n\0]*[{LETTER}][^"\n\0]*)"'),
        "straight quotation marks around Arabic",
        "write '{new}'",
        instead(r"«\1»"),
    ),
    Rule(
        "ar-spelling",
        "ar",
        re.compile(rf"(?<![{LETTER}])([وف]?)({'|'.join(WORDS)})(?![{LETTER}])"),
        "a word that is often spelt so, and wrongly",
        "write '{new}'",
        from_table(WORDS),
    ),
    Rule(
        "ar-hamza",
        "ar",
        re.compile(
            rf"(?<![{LETTER}])([وفبكل]?(?:ال|لل)?)(إ)(?=(?:ست(?!راتيج)|نت[بظقشهم]|ختب|ختي|حتما|رتب)[{LETTER}])"
        ),
        "a hamza under the alif of a derived form, which has none",
        "write 'ا'",
        instead(r"\1ا"),
    ),
)
