"""The strings of the interface, in every language: `docs/_data/ui.yml` and `docs/_data/ui.*.yml`.

A leaf is `{ar: …, fr: …}`; a counted text has a map of plural categories in each language:
`{ar: {zero: …, one: …, two: …, few: …, many: …, other: …}, fr: {one: …, other: …}}`.

A growing language may have its strings in a file of its own, `ui.es.yml`: the same keys, with the
text alone as the leaf. An empty text there is one to write; until then the fallback's is shown.
"""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from yaml import MappingNode, Node, ScalarNode

from dabt import yamlsource
from dabt.filling import fill, is_blank
from dabt.languages import Language, plural_categories, plural_category
from dabt.problems import DabtError, Problem, did_you_mean
from dabt.yamlsource import Findings

CATEGORIES = ("zero", "one", "two", "few", "many", "other")
Forms = Mapping[str, str]


@dataclass(frozen=True)
class Ui:
    """Interface strings by key (`quiz.check`) and language."""

    texts: Mapping[str, Mapping[str, str | Forms]] = field(default_factory=dict)

    def text(self, key: str, language: str, **values: object) -> str:
        """One string, its {placeholders} filled. Raises DabtError for an unknown key."""
        found = self._leaf(key, language)
        if not isinstance(found, str):
            raise _unknown(f"'{key}' is a counted text", "ask for it with counted()")
        return found.format(**values)

    def counted(self, key: str, language: str, count: int, **values: object) -> str:
        """The form of a counted text that fits a whole number, {count} filled."""
        forms = self._leaf(key, language)
        if isinstance(forms, str):
            raise _unknown(f"'{key}' has no plural forms", "ask for it with text()")
        form = forms.get(plural_category(language, count), forms["other"])
        return form.format(count=count, **values)

    def below(self, prefix: str, language: str) -> dict[str, str | dict[str, str]]:
        """All strings under a prefix, for a script: `{"check": "…", "score": {"one": "…"}}`."""
        start = f"{prefix}."
        found = {}
        for key in sorted(self.texts):
            if key.startswith(start):
                leaf = self._leaf(key, language)
                found[key.removeprefix(start)] = leaf if isinstance(leaf, str) else dict(leaf)
        return found

    def _leaf(self, key: str, language: str) -> str | Forms:
        if key not in self.texts:
            raise _unknown(f"no interface string '{key}'", did_you_mean(key, sorted(self.texts)))
        if language not in self.texts[key]:
            raise _unknown(f"no interface string '{key}' in '{language}'", f"add '{language}:'")
        return self.texts[key][language]


def _unknown(message: str, mend: str) -> DabtError:
    return DabtError([Problem("docs/_data/ui.yml", 1, 1, message, "unknown-string", mend)])


def load_ui(folder: Path, languages: Sequence[Language]) -> Ui:
    """The strings of a folder's `ui*.yml`. Raises DabtError with every problem of all files."""
    ui, problems = read_ui(folder, languages)
    if problems:
        raise DabtError(problems)
    return ui


def read_ui(folder: Path, languages: Sequence[Language]) -> tuple[Ui, tuple[Problem, ...]]:
    """The strings of a folder's `ui*.yml` with the problems found, nothing raised."""
    texts: dict[str, dict[str, str | Forms]] = {}
    problems: list[Problem] = []
    codes = tuple(language.code for language in languages)
    paths = sorted(folder.glob("ui*.yml"))
    for path in (one for one in paths if own_language(one, codes) is None):
        root, findings = yamlsource.read(path)
        fill(root, languages)
        if root is not None:
            _walk(root, (), codes, texts, findings)
        problems.extend(findings.problems)
    for path in paths:
        if code := own_language(path, codes):
            problems.extend(_read_own(path, code, texts))
    return Ui(texts), tuple(problems)


def own_language(path: Path, codes: Sequence[str]) -> str | None:
    """The language whose strings alone a file holds, if it is such a file."""
    name = path.stem.removeprefix("ui.")
    return name if name in codes else None


def own_strings(root: Node | None) -> dict[str, Node]:
    """The leaves of a file of one language by key: texts, or maps of plural forms."""
    found: dict[str, Node] = {}
    for key, value in root.value if isinstance(root, MappingNode) else ():
        forms = isinstance(value, MappingNode) and all(
            k.value in CATEGORIES for k, _ in value.value
        )
        if forms or not isinstance(value, MappingNode):
            found[key.value] = value
        else:
            found |= {f"{key.value}.{name}": leaf for name, leaf in own_strings(value).items()}
    return found


def _read_own(
    path: Path, code: str, texts: dict[str, dict[str, str | Forms]]
) -> tuple[Problem, ...]:
    root, findings = yamlsource.read(path)
    for key, node in own_strings(root).items():
        if key not in texts:
            mend = did_you_mean(key, sorted(texts))
            findings.at(node, f"no interface string '{key}'", "unknown-string", mend)
        elif not is_blank(node):
            texts[key][code] = _string(node, code, findings)
            _check_together(node, texts[key], findings)
    return tuple(findings.problems)


def _walk(
    node: Node,
    path: tuple[str, ...],
    codes: tuple[str, ...],
    texts: dict[str, dict[str, str | Forms]],
    findings: Findings,
) -> None:
    if not yamlsource.is_kind(node, MappingNode, findings):
        return
    names = [key.value for key, _ in node.value if isinstance(key, ScalarNode)]
    if path and set(names) & set(codes):
        key = ".".join(path)
        if key in texts:
            findings.at(node, f"'{key}' is already in another file", "duplicate-key", "keep one")
        texts[key] = _leaf(node, codes, findings)
        return
    for child, value in node.value:
        _walk(value, (*path, str(child.value)), codes, texts, findings)


def _leaf(node: Node, codes: tuple[str, ...], findings: Findings) -> dict[str, str | Forms]:
    values = yamlsource.entries(node, findings, codes, codes)
    leaf = {code: _string(value, code, findings) for code, value in values.items()}
    _check_together(node, leaf, findings)
    return leaf


def _check_together(node: Node, leaf: Mapping[str, str | Forms], findings: Findings) -> None:
    if len({isinstance(value, str) for value in leaf.values()}) > 1:
        mend = "write plural forms in every language, or in none"
        findings.at(node, "plural forms in one language only", "plural-forms", mend)
    holes = {code: _placeholders(value) for code, value in leaf.items()}
    if len(set(holes.values())) > 1:
        listed = ", ".join(f"{code}: {sorted(names) or 'none'}" for code, names in holes.items())
        message = f"the languages use different placeholders ({listed})"
        findings.at(node, message, "placeholders", "use the same {names} in every language")


def _string(node: Node, code: str, findings: Findings) -> str | Forms:
    if isinstance(node, MappingNode):
        required = plural_categories(code)
        forms = yamlsource.entries(node, findings, CATEGORIES, required)
        return {name: _checked(value, findings) for name, value in forms.items()}
    return _checked(node, findings)


def _checked(node: Node, findings: Findings) -> str:
    text = yamlsource.text_of(node, findings)
    if isinstance(node, ScalarNode) and not text.strip():
        findings.at(node, "the text is empty", "empty", "write it in this language")
    try:
        list(string.Formatter().parse(text))
    except ValueError as error:
        findings.at(node, f"a broken placeholder: {error}", "placeholders", "write {name}")
        return ""
    return text


def _placeholders(value: str | Forms) -> frozenset[str]:
    """Names in a text; for a counted text, those of the form "other" (others may drop {count})."""
    text = value if isinstance(value, str) else value.get("other", "")
    return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name)
