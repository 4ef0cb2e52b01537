"""Small TeX formulas as HTML text with `<sup>` and `<sub>`: neither script nor font is needed."""

import re

from markupsafe import Markup, escape

COMMANDS = {
    "times": "×", "cdot": "·", "div": "÷", "pm": "±", "approx": "≈", "le": "≤", "leq": "≤",
    "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "to": "→", "leftarrow": "←", "rightarrow": "→",
    "sum": "∑", "prod": "∏", "infty": "∞", "partial": "∂", "nabla": "∇", "in": "∈", "ldots": "…",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "omega": "ω", "Delta": "Δ", "Theta": "Θ", "Sigma": "Σ", "Omega": "Ω",
    "log": "log", "ln": "ln", "exp": "exp", "min": "min", "max": "max", "lceil": "⌈",
    "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "quad": "\u2003", ",": "\u2009", " ": " ",
    "{": "{", "}": "}", "%": "%", "$": "$", "_": "_",
}  # fmt: skip
TOKEN = re.compile(r"\\([A-Za-z]+|[^A-Za-z])|([\^_])|([{}])|\s+|.", re.DOTALL)
# What nests is read by recursion; real formulas nest three or four deep.
DEEPEST = 60
NESTING = re.compile(r"[{^_]|\\(?:frac|sqrt)")
EMPTY_PART = re.compile(r"\(\)|<su[bp]></su[bp]>")
STRUCTURES = ("frac", "sqrt", "text", "mathrm", "left", "right")


def to_html(source: str) -> Markup:
    """A formula as HTML. `a_{1}`, `x^2`, `\\frac{a}{b}`, `\\sqrt{x}`, signs and Greek letters."""
    html, _ = _group([token[0] for token in TOKEN.finditer(source)], closing=False)
    return html


def faults(source: str) -> list[str]:
    """What this subset of TeX does not know in a formula, in words."""
    names = [match[1] for match in TOKEN.finditer(source) if match[1]]
    unknown = [name for name in names if name not in COMMANDS and name not in STRUCTURES]
    found = [f"the formula uses '\\{name}', which is not known here" for name in unknown]
    if len(NESTING.findall(source)) > DEEPEST:
        return [*found, "the formula is too long"]
    if not _braces_match(source):
        found.append("the braces of the formula do not match")
    elif "()" not in source and EMPTY_PART.search(to_html(source)):
        found.append("a part of the formula is empty")
    return found


def _braces_match(source: str) -> bool:
    depth = 0
    for match in TOKEN.finditer(source):
        depth += {"{": 1, "}": -1}.get(match[3] or "", 0)
        if depth < 0:
            return False
    return depth == 0


def _group(tokens: list[str], closing: bool) -> tuple[Markup, list[str]]:
    html = Markup("")
    while tokens:
        if tokens[0] == "}" and closing:
            return html, tokens[1:]
        piece, tokens = _atom(tokens)
        html += piece
    return html, tokens


def _atom(tokens: list[str]) -> tuple[Markup, list[str]]:
    if not tokens:
        return Markup(""), []
    first, rest = tokens[0], tokens[1:]
    if first == "{":
        return _group(rest, closing=True)
    if first in ("^", "_"):
        tag = "sup" if first == "^" else "sub"
        inner, rest = _atom(rest)
        return Markup(f"<{tag}>{{}}</{tag}>").format(inner), rest
    if first.startswith("\\"):
        return _command(first[1:], rest)
    return escape(" " if first.isspace() else first), rest


def _command(name: str, rest: list[str]) -> tuple[Markup, list[str]]:
    if name == "frac":
        above, rest = _atom(rest)
        below, rest = _atom(rest)
        fraction = _grouped(above) + "/" + _grouped(below)
        return Markup("({})").format(fraction) if _multiplies(rest) else fraction, rest
    if name == "sqrt":
        inner, rest = _atom(rest)
        return Markup("√") + _grouped(inner), rest
    if name in STRUCTURES:  # \\text, \\left and the like: what follows stands for itself
        return Markup(""), rest
    return escape(COMMANDS.get(name, f"\\{name}")), rest


def _multiplies(rest: list[str]) -> bool:
    """Whether what follows a fraction multiplies it: (α/r)BA is not α/(rBA)."""
    following = next((token for token in rest if not token.isspace()), "}")
    name = following.removeprefix("\\")
    return COMMANDS.get(name, name)[:1].isalnum() or following in ("(", "{", "\\frac", "\\sqrt")


def _grouped(part: Markup) -> Markup:
    return part if re.fullmatch(r"[\w.,]+", part.striptags()) else Markup("({})").format(part)
