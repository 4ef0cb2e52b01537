"""`docs/_data/notebooks.yml`: the program of each chapter's notebook, and how it is run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from yaml import MappingNode, Node

from dabt import yamlsource
from dabt.pages import Page
from dabt.problems import Problem
from dabt.snippets import scan_includes
from dabt.yamlsource import Findings

FILE = "notebooks.yml"
KEYS = ("program", "tiny", "gpu", "run")


@dataclass(frozen=True)
class Choice:
    """A chapter's notebook. `run`: what is called where the program has no `main`."""

    slug: str
    program: str
    tiny: tuple[str, ...] = ()
    gpu: tuple[str, ...] = ()
    run: str = ""

    def call(self) -> str:
        """The code of the last cell."""
        if self.run:
            return self.run.strip("\n")
        tiny, gpu = (_listed(one) for one in (self.tiny, self.gpu))
        return f"main({tiny})" if tiny == gpu else f"main({gpu} if ON_GPU else {tiny})"

    def file(self, language: str) -> str:
        """Its place on the site."""
        return f"notebooks/{self.slug}.{language}.ipynb"


def _listed(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def read_choices(data: Path, examples: Path) -> tuple[Mapping[str, Choice], tuple[Problem, ...]]:
    """The choices by slug, and the problems of the file, if there is one."""
    path = data / FILE
    if not path.exists():
        return {}, ()
    root, findings = yamlsource.read(path)
    found = {}
    if root is not None and yamlsource.is_kind(root, MappingNode, findings):
        for key, node in root.value:
            found[key.value] = _read(key, node, examples, findings)
    return found, tuple(findings.problems)


def _read(key: Node, node: Node, examples: Path, findings: Findings) -> Choice:
    values = yamlsource.entries(node, findings, KEYS, ("program",))
    program = yamlsource.text_of(values.get("program"), findings)
    if program and not (examples / key.value / program).is_file():
        message = f"no program '{program}' in examples/{key.value}/"
        mend = "name a .py file of the chapter's folder"
        findings.at(values["program"], message, "notebook-program", mend)
    tiny, gpu = (
        tuple(
            yamlsource.text_of(one, findings)
            for one in yamlsource.items(values.get(name), findings)
        )
        for name in ("tiny", "gpu")
    )
    run = yamlsource.text_of(values["run"], findings) if "run" in values else ""
    return Choice(key.value, program, tiny, gpu, run)


def check_choices(choices: Mapping[str, Choice], pages: Sequence[Page]) -> Iterator[Problem]:
    """Yield the chapters that show a program of their own and have no notebook, and the reverse."""
    slugs = {page.path.removesuffix(".md"): page for page in pages}
    for slug, page in sorted(slugs.items()):
        own = [one for one in scan_includes(page.text) if one.path.startswith(f"{slug}/")]
        own = [one for one in own if one.path.endswith(".py")]
        if own and slug not in choices:
            message = f"'{slug}' shows {own[0].path} and has no notebook"
            mend = f"add '{slug}: {{program: …}}' to docs/_data/{FILE}"
            yield Problem(page.file, own[0].line, own[0].column, message, "no-notebook", mend)
    for slug in sorted(set(choices) - set(slugs)):
        message, mend = f"a notebook of '{slug}', which is no page", "write the page, or remove it"
        yield Problem(f"docs/_data/{FILE}", 1, 1, message, "notebook-page", mend)
