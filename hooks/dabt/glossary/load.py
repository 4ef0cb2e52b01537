"""`docs/_data/glossary.yml` read and checked: every problem is found before anything is used."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from yaml import Node, ScalarNode

from dabt import yamlsource
from dabt.filling import fill
from dabt.glossary.matching import exact, same_forms, whole
from dabt.glossary.model import Avoided, Glossary, Target, Term, Words
from dabt.languages import Language
from dabt.problems import Problem, did_you_mean
from dabt.quiz.fields import Reading, read_choice, read_slug, read_text

ROOT_KEYS = ("terms", "avoid")
TERM_KEYS = ("id", "en", "name", "forms", "except", "also", "define", "taught", "mark", "avoid")
AVOID_KEYS = ("language", "form", "pattern", "write", "why", "severity")
TAUGHT = re.compile(r"(?P<page>(?:[a-z0-9-]+/)*[a-z0-9-]+)(?:#(?P<section>[a-z0-9-]+))?")
SEVERITIES = {"error": "error", "warning": "warning"}
MARKS = {"section": "section", "once": "once", "never": "never"}
Nodes = Mapping[str, Node]


def read_glossary(
    path: Path, languages: Sequence[Language]
) -> tuple[Glossary, tuple[Problem, ...]]:
    """The glossary of a file and its problems; an empty one when there is no file."""
    if not path.exists():
        return Glossary(), ()
    root, findings = yamlsource.read(path)
    fill(root, languages)
    reading = Reading(findings, tuple(language.code for language in languages))
    values = yamlsource.entries(root, findings, ROOT_KEYS, ("terms",))
    nodes = yamlsource.items(values.get("terms"), findings)
    read = [_read_term(node, reading) for node in nodes]
    terms = tuple(term for term, _ in read)
    own = tuple(one for _, avoided in read for one in avoided)
    general = _read_avoided(values.get("avoid"), "", reading)
    glossary = Glossary(terms, (*own, *general))
    if not findings.problems:
        findings.problems.extend(_check_together(glossary, reading.codes))
    return glossary, tuple(findings.problems)


def _read_term(node: Node, reading: Reading) -> tuple[Term, tuple[Avoided, ...]]:
    values = yamlsource.entries(node, reading.findings, TERM_KEYS, ("id", "en", "name", "define"))
    name = read_text(values["name"], reading) if "name" in values else {}
    term = Term(
        id=read_slug(values["id"], "the id of a term", reading) if "id" in values else "",
        english=_read_word(values.get("en"), reading),
        name=name,
        define=read_text(values["define"], reading) if "define" in values else {},
        at=reading.place(node),
        forms=_read_words(values.get("forms"), reading),
        exceptions=_read_words(values.get("except"), reading),
        also=_read_words(values.get("also"), reading),
        taught=_read_taught(values.get("taught"), reading),
        mark=read_choice(values.get("mark"), "mark", MARKS, "section", reading),
    )
    avoided = _read_avoided(values.get("avoid"), name, reading)
    return term, tuple(replace(one, term=term.id) for one in avoided)


def _read_word(node: Node | None, reading: Reading) -> str:
    word = yamlsource.text_of(node, reading.findings).strip()
    if isinstance(node, ScalarNode) and not word:
        reading.findings.at(node, "the text is empty", "empty", "write it, or remove the entry")
    return word


def _read_words(node: Node | None, reading: Reading) -> Words:
    if node is None:
        return {}
    values = yamlsource.entries(node, reading.findings, reading.codes)
    return {
        code: tuple(_read_word(item, reading) for item in yamlsource.items(value, reading.findings))
        for code, value in values.items()
    }


def _read_taught(node: Node | None, reading: Reading) -> tuple[Target, ...]:
    targets = []
    for item in yamlsource.items(node, reading.findings):
        word = _read_word(item, reading)
        match = TAUGHT.fullmatch(word)
        if match:
            place = reading.place(item)
            targets.append(Target(f"{match['page']}.md", match["section"] or "", place))
        elif word:
            mend = "write the page and the id of the section: full/traditional#warmup"
            reading.findings.at(item, f"'{word}' is not a place in a page", "taught", mend)
    return tuple(targets)


def _read_avoided(
    node: Node | None, name: Mapping[str, str] | str, reading: Reading
) -> tuple[Avoided, ...]:
    found = (_read_one(item, name, reading) for item in yamlsource.items(node, reading.findings))
    return tuple(one for one in found if one)


def _read_one(node: Node, name: Mapping[str, str] | str, reading: Reading) -> Avoided | None:
    findings = reading.findings
    required = ("language", "why") if name else ("language", "why", "write")
    before = len(findings.problems)
    values = yamlsource.entries(node, findings, AVOID_KEYS, required)
    codes = {code: code for code in reading.codes}
    language = read_choice(values.get("language"), "language", codes, "", reading)
    form, pattern = (_read_word(values.get(key), reading) for key in ("form", "pattern"))
    if ("form" in values) == ("pattern" in values):
        message = "what is avoided has a form or a pattern, one of the two"
        findings.at(node, message, "avoid", "write 'form: the words' or 'pattern: …'")
    if "pattern" in values:
        _check_pattern(values["pattern"], pattern, language, reading)
    if len(findings.problems) > before:
        return None
    return Avoided(
        language=language,
        form=form,
        pattern=pattern,
        write=_read_word(values.get("write"), reading) or name[language],
        why=_read_word(values["why"], reading),
        severity=read_choice(values.get("severity"), "severity", SEVERITIES, "error", reading),
        at=reading.place(node),
    )


def _check_pattern(node: Node, pattern: str, language: str, reading: Reading) -> None:
    try:
        whole(pattern, language)
    except re.error as error:
        message = f"not a regular expression: {error}"
        reading.findings.at(node, message, "pattern", "mend it, or write a plain 'form'")


def _check_together(glossary: Glossary, codes: Sequence[str]) -> Iterator[Problem]:
    """Ids and forms that two terms share, and terms that the glossary itself avoids."""
    ids: dict[str, int] = {}
    for term in glossary.terms:
        if term.id in ids:
            message = f"the id '{term.id}' is already on line {ids[term.id]}"
            yield _problem(term, message, "duplicate-id", "choose another id, or join the two")
        ids.setdefault(term.id, term.at.line)
    for code in codes:
        yield from _check_forms(glossary, code)


def _check_forms(glossary: Glossary, code: str) -> Iterator[Problem]:
    first: dict[str, str] = {}
    avoided = [
        exact(one.form, code) if one.form else whole(one.pattern, code)
        for one in glossary.avoid
        if one.language == code and one.severity == "error"
    ]
    for term in glossary.terms:
        for form in same_forms(term.written(code)):
            if first.setdefault(form, term.id) != term.id:
                message = f"'{form}' already belongs to the term '{first[form]}'"
                yield _problem(term, message, "duplicate-form", "one word for one idea: drop one")
            if any(pattern.search(form) for pattern in avoided):
                message = f"'{form}' is both a form of a term and a word to avoid"
                yield _problem(term, message, "avoided-form", "keep it in one of the two")


def _problem(term: Term, message: str, code: str, mend: str) -> Problem:
    return Problem(term.at.file, term.at.line, term.at.column, message, code, mend)


def check_taught(
    glossary: Glossary, language: str, known: Mapping[str, frozenset[str]]
) -> Iterator[Problem]:
    """Sections that a page of this language lacks; pages that do not exist yet are passed over."""
    for term in glossary.terms:
        for target in term.taught:
            sections = known.get(target.page)
            if sections is not None and target.section and target.section not in sections:
                message = f"no section '{target.section}' in '{target.page}' in '{language}'"
                mend = did_you_mean(target.section, sorted(one for one in sections if one))
                at = target.at
                yield Problem(at.file, at.line, at.column, message, "taught-target", mend)
