"""Shows which words changed in the sections that lag, since they were confirmed.

    python -m tools.translation_diff peft/lora         # make diff NAME=peft/lora#alpha

The records keep fingerprints, not texts. The text that was confirmed is looked for in the history
of git by its fingerprint, so that it is found after a squash, a rebase or in a fork. Without
history the present texts of both sides are named, and nothing else is lost.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dabt.course import read_course
from dabt.problems import DabtError
from dabt.translation.confirm import named
from dabt.translation.diff import changed_words, confirmed_text, section_text
from dabt.translation.survey import Survey, Unit
from dabt.translation.texts import texts_of
from tools.environment import ROOT


def versions(path: str, root: Path = ROOT) -> Iterator[str]:
    """Yield the texts that a file had, the newest first; none without git or its history."""
    for commit in _git(root, "log", "--format=%H", "--", path).split():
        yield _git(root, "show", f"{commit}:{path}")


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True)
    except FileNotFoundError:
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def differences(found: Survey, unit: Unit, root: Path = ROOT) -> Iterator[str]:
    """Yield, for each language that changed since a unit was confirmed, where and which words."""
    confirmed = found.records.get(unit.slug, {}).get(unit.key)
    for code, side in unit.sides.items() if confirmed else ():
        mark = confirmed.prints.get(code, side.print)
        if mark == side.print:
            continue
        yield f"{side.file}:{side.line}: {unit.key}"
        yield f"  {_words(found, unit, code, mark, root)}"


def _words(found: Survey, unit: Unit, code: str, mark: str, root: Path) -> str:
    path = (Path.cwd() / unit.sides[code].file).relative_to(root)
    codes = [language.code for language in found.languages]

    def read(source: str) -> str:
        if unit.slug.startswith("_data/"):
            return texts_of(source, path, codes).get(unit.key, {}).get(code, "")
        return section_text(source, unit.key)

    before = confirmed_text(map(read, versions(path.as_posix(), root)), mark)
    if before is None:
        return "the confirmed text is not in this history (git fetch --unshallow): read it whole"
    return changed_words(before, read((root / path).read_text(encoding="utf-8-sig")))


def main(names: list[str], root: Path = ROOT) -> int:
    """Print the changes of the named pages or sections, of all without a name."""
    course, _ = read_course(root / "docs")
    found = course.translation
    try:
        units = [unit for name in names for unit in named(found, name)] or found.units
    except DabtError as error:
        print(error, file=sys.stderr)
        return 1
    lines = [line for unit in units for line in differences(found, unit, root)]
    print("\n".join(lines) or "nothing changed since it was confirmed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
