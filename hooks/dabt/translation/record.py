"""What was confirmed: `docs/_data/translation/<slug>.yml`, a few lines for each section.

    alpha:
      ar: 5d41402abc
      fr: 7d793037a0

One small file for a chapter, one line for a language: two pull requests that confirm different
sections merge by themselves. `behind: [es]` names languages that were not read again when the
others were confirmed; it is needed from three languages on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from yaml import MappingNode, ScalarNode

from dabt import yamlsource
from dabt.problems import Problem

FOLDER = "translation"
BEHIND = "behind"
MEND = "keep either side of a merge and run 'python -m dabt confirm' again for this file"


@dataclass(frozen=True)
class Confirmed:
    """The fingerprints of one unit that were confirmed together, by language."""

    prints: Mapping[str, str]
    behind: frozenset[str] = frozenset()


Records = Mapping[str, Mapping[str, Confirmed]]


def read_records(data: Path) -> tuple[dict[str, dict[str, Confirmed]], tuple[Problem, ...]]:
    """Return slug → unit → what was confirmed, and the problems of the files."""
    folder = data / FOLDER
    records: dict[str, dict[str, Confirmed]] = {}
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*.yml")):
        root, findings = yamlsource.read(path)
        slug = path.relative_to(folder).with_suffix("").as_posix()
        if root is not None and yamlsource.is_kind(root, MappingNode, findings):
            records[slug] = {key.value: _read(value, findings) for key, value in root.value}
        problems.extend(findings.problems)
    mended = (Problem(p.file, p.line, p.column, p.message, "record", MEND) for p in problems)
    return records, tuple(mended)


def _read(node: yamlsource.Node, findings: yamlsource.Findings) -> Confirmed:
    if not yamlsource.is_kind(node, MappingNode, findings):
        return Confirmed({})
    values = {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}
    behind = values.pop(BEHIND, None)
    late = yamlsource.items(behind, findings) if behind is not None else []
    prints = {code: yamlsource.text_of(value, findings) for code, value in values.items()}
    return Confirmed(prints, frozenset(yamlsource.text_of(one, findings) for one in late))


def write_record(data: Path, slug: str, units: Mapping[str, Confirmed]) -> None:
    """Write the file of a slug, or delete it when nothing is confirmed there."""
    path = data / FOLDER / f"{slug}.yml"
    if not units:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.write_text("".join(_lines(units)), encoding="utf-8")
    fresh.replace(path)


def _lines(units: Mapping[str, Confirmed]) -> Iterable[str]:
    """Sorted by name: the order of a page may change without touching what was confirmed."""
    for key in sorted(units):
        yield f"{key}:\n"
        for code in sorted(units[key].prints):
            yield f'  {code}: "{units[key].prints[code]}"\n'
        if units[key].behind:
            yield f"  {BEHIND}: [{', '.join(sorted(units[key].behind))}]\n"
