"""The front matter of a page: MkDocs takes one that YAML cannot read for text, and says nothing.

The page then loses its title in the menu, and shows its description as a paragraph.
"""

from collections.abc import Iterator

from yaml import MappingNode, ScalarNode

from dabt.directives import FRONT_MATTER
from dabt.pages import Page
from dabt.problems import Problem
from dabt.yamlsource import QUOTE, Findings, compose

NEEDED = ("title",)
TEXTS = (*NEEDED, "description")


def check_front_matter(page: Page) -> Iterator[Problem]:
    """Problems of a page whose front matter is unreadable, or lacks what readers see.

    A page may have none: its heading is then its title.
    """
    match = FRONT_MATTER.match(page.text)
    if not match:
        return
    # An empty first line stands for `---`: lines are then those of the page.
    inside = "\n".join(["", *match[0].rstrip().split("\n")[1:-1]])
    findings = Findings(page.file)
    root = compose(inside, findings)
    yield from findings.problems
    if root is not None:
        yield from _check_values(root, page.file)


def _check_values(root: object, file: str) -> Iterator[Problem]:
    if not isinstance(root, MappingNode):
        message = "the front matter is no map"
        yield Problem(file, 2, 1, message, "front-matter", f"write\n{_model()}")
        return
    values = {key.value: value for key, value in root.value if isinstance(key, ScalarNode)}
    for name in TEXTS:
        value = values.get(name)
        if value is None and name not in NEEDED:
            continue
        if value is None:
            message, mend = f"the front matter has no '{name}'", f"add '{name}: …'"
            yield Problem(file, 1, 1, message, "front-matter", mend)
        elif not isinstance(value, ScalarNode) or not value.value.strip():
            place = (file, value.start_mark.line + 1, value.start_mark.column + 1)
            yield Problem(*place, f"'{name}' is not a text", "front-matter", QUOTE)


def _model() -> str:
    return "---\n" + "\n".join(f"{name}: …" for name in TEXTS) + "\n---"
