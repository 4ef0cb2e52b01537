"""Blocks of code with the markup that a reader can see, and no more.

Pygments wraps every name, dot and space: a third of a chapter's elements, for inks that are those
of the text. Kept are the spans that change an ink, one class each, and the span of each line.
"""

import re

BLOCK = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
LINE = re.compile(r'<span id="__span-\d+-\d+">')
TOKEN = re.compile(r'<span class="(\w+)">([^<]*)</span>')
# Two tokens of one ink become one. Never over the end of a line.
PAIR = re.compile(r'<span class="(\w+)">([^<\n]*)</span>( *)<span class="\1">')
# Class kept → Pygments' classes that the style sheet gives the same ink.
INKS = {
    "c": "c c1 ch cm cs",
    "k": "k kd kn kp kr kt nd ni nl nt",
    "m": "il m mb mf mh mi mo",
    "nf": "bp nb nc ne nf nn no",
    "s": "cpf l s s1 s2 sb sc si ss",
    "sd": "sd",
    "se": "cp se sh sr sx",
}
INK_OF = {name: ink for ink, names in INKS.items() for name in names.split()}
# Parts of a printed session: its prompt, its error.
KEPT = ("g", "hll", "err")


def lighten(html: str) -> str:
    """Return a page whose blocks of code hold fewer elements, and the same text."""
    return BLOCK.sub(lambda block: _lighten_block(block[0]), html)


def _lighten_block(block: str) -> str:
    block = block.replace("<pre><span></span>", "<pre>", 1)
    block = TOKEN.sub(_ink, LINE.sub("<span>", block))
    while (joined := PAIR.sub(r'<span class="\1">\2\3', block)) != block:
        block = joined
    return block


def _ink(token: re.Match[str]) -> str:
    name, text = token[1], token[2]
    if name.startswith(KEPT):
        return token[0]
    ink = INK_OF.get(name)
    return f'<span class="{ink}">{text}</span>' if ink and text.strip() else text
