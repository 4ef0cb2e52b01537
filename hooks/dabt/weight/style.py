"""One style sheet: what the course uses of the theme's, then ours.

The theme styles a blog, versions, consent, its own search and more. Those parts are named here
(`UNUSED`); with their rules go the variables, icons among them, that nothing reads any more.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from dabt.weight.scripts import bare

# Classes of the theme, or their beginnings, that no page of the course may hold: tests/site.
UNUSED = (
    "md-annotation", "md-author", "md-banner", "md-clipboard", "md-consent", "md-copyright",
    "md-draft", "md-feedback", "md-footer-meta", "md-footer__", "md-header__source", "md-input",
    "md-meta", "md-nav--integrated", "md-nav--lifted", "md-nav__item--pruned", "md-nav__source",
    "md-pagination", "md-path", "md-pin", "md-post", "md-profile", "md-progress", "md-search",
    "md-select", "md-sidebar--post", "md-social", "md-source", "md-status", "md-suggest",
    "md-tabs", "md-tag", "md-tooltip", "md-version", "arithmatex", "card", "cards", "comment",
    "critic", "emojione", "gemoji", "giscus", "grid", "highlighttable", "linenodiv", "linenos",
    "md-code__content", "mermaid", "twitter",
)  # fmt: skip
# A word of the list is a whole class or, where it begins with md-, a block and its parts.
UNUSED_CLASS = re.compile(
    r"\.(?:"
    + "|".join(re.escape(one) + ("" if one.startswith("md-") else r"(?![\w-])") for one in UNUSED)
    + ")"
)
# Other schemes than ours, tabs after the eighth, keys of a keyboard that are never named alone.
UNUSED_ELSEWHERE = re.compile(
    r"\[data-md-color-(?:primary|accent)=(?!custom)"
    r"|data-md-toggle=search|data-md-copying|\[type=select\]"
    r"|nth-child\((?:9|1\d|20)\)|\[role=dialog\]"
)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DECLARED = re.compile(r"(?<![\w-])(--[\w-]+)\s*:")
READ = re.compile(r"(--[\w-]+)")


@dataclass(frozen=True)
class Rule:
    """A rule `head{body}`, a group of rules (`rules`), or a statement such as @charset."""

    head: str
    body: str = ""
    rules: tuple["Rule", ...] | None = None

    def __str__(self) -> str:
        """Return the rule as it is written; nothing for one without declarations."""
        if self.rules is not None:
            return f"{self.head}{{{''.join(map(str, self.rules))}}}"
        return f"{self.head}{{{self.body}}}" if self.body else ""


def make_style(folders: Iterable[Path], *own: Path) -> tuple[str, str]:
    """Return the address of the site's style sheet and its text: the theme's, then our own ones.

    `folders` may hold the theme's `main.*.css` and `palette.*.css`. The address changes with the
    text: a reader's browser may keep the file.
    """
    found = [
        path
        for kind in ("main", "palette")
        for folder in folders
        for path in sorted(folder.glob(f"{kind}.*.css"))
    ]
    ours = "\n".join(path.read_text("utf-8") for path in own)
    css = one_style((path.read_text("utf-8") for path in found), ours)
    return f"assets/style.{sha256(css.encode()).hexdigest()[:8]}.css", css


def one_style(theme: Iterable[str], own: str) -> str:
    """Return the style sheet of the site. `theme` holds the theme's, `own` ours, the last word."""
    own = bare(own)
    # The theme's script wrote this class for browsers that knew no :focus-visible.
    known = (css.replace(".focus-visible", ":focus-visible") for css in theme)
    rules = [kept for css in known for rule in parse(css) if (kept := _kept(rule))]
    while True:
        read = set(READ.findall(_without_names(rules) + own))
        fewer = [kept for rule in rules if (kept := _reading(rule, read))]
        if fewer == rules:
            return "".join(map(str, rules)) + "\n" + own
        rules = fewer


def parse(css: str) -> Iterator[Rule]:
    """Yield the rules of a style sheet. Raises ValueError for one that ends too early."""
    css = COMMENT.sub("", css)
    at = 0
    while at < len(css):
        opening = _find(css, "{;", at)
        if css[opening : opening + 1] != "{":
            # A statement: only @charset, which the server says.
            at = opening + 1
            continue
        head, end = css[at:opening].strip(), _closing(css, opening)
        body = css[opening + 1 : end].strip()
        group = head.startswith(("@media", "@supports", "@layer", "@container"))
        yield Rule(head, rules=tuple(parse(body))) if group else Rule(head, body)
        at = end + 1


def _find(css: str, wanted: str, at: int) -> int:
    """Return where one of the signs stands outside of strings and brackets, or the end."""
    depth, quote = 0, ""
    while at < len(css):
        sign = css[at]
        if sign == "\\":
            at += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif not depth and sign in wanted:
            return at
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        at += 1
    return at


def _closing(css: str, opening: int) -> int:
    at, depth = opening, 0
    while at < len(css):
        depth += 1 if css[at] == "{" else -1
        if not depth:
            return at
        at = _find(css, "{}", at + 1)
    raise ValueError(f"a rule does not end: {css[opening - 40 : opening + 40]}")


def _split(text: str, sign: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = _find(text, sign, at)
        if text[at:end].strip():
            yield text[at:end].strip()
        at = end + 1


def _kept(rule: Rule) -> Rule | None:
    """Return a rule without the selectors of parts that the course lacks."""
    if rule.rules is not None:
        inner = tuple(kept for one in rule.rules if (kept := _kept(one)))
        return Rule(rule.head, rules=inner) if inner else None
    if rule.head.startswith("@"):
        return rule
    selectors = [one for one in _split(rule.head, ",") if not _is_unused(one)]
    return Rule(",".join(selectors), rule.body) if selectors else None


def _is_unused(selector: str) -> bool:
    # What a selector excludes is no part that it styles.
    styled = re.sub(r":not\([^()]*\)", "", selector)
    return bool(UNUSED_CLASS.search(styled) or UNUSED_ELSEWHERE.search(styled))


def _without_names(rules: Iterable[Rule]) -> str:
    """Return the text of the rules less the names that they declare: what is left is read."""
    return DECLARED.sub(":", "".join(map(str, rules)))


def _reading(rule: Rule, read: set[str]) -> Rule | None:
    """Return a rule without the variables that nothing reads."""
    if rule.rules is not None:
        inner = tuple(kept for one in rule.rules if (kept := _reading(one, read)))
        return Rule(rule.head, rules=inner) if inner else None
    if "--" not in rule.body:
        return rule
    wanted = [
        one
        for one in _split(rule.body, ";")
        if not (name := DECLARED.match(one)) or name[1] in read
    ]
    return Rule(rule.head, ";".join(wanted)) if wanted else None
