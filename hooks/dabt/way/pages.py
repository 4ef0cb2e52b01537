"""What is known of each page before it is rendered: its place in the menu, title, reading time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dabt.directives import FRONT_MATTER, scan
from dabt.pages import Page, section_titles
from dabt.way.menu import Menu, read_menu
from dabt.way.reading import minutes
from dabt.yamlsource import LOADER


@dataclass(frozen=True)
class Facts:
    """A page in one language. `quizzes` are the arguments of its quiz directives, in order."""

    title: str
    description: str
    minutes: int
    quizzes: tuple[str, ...]


@dataclass(frozen=True)
class Way:
    """The menu, and the facts of a page by its language and its path (`peft/lora.md`)."""

    menu: Menu = field(default_factory=Menu)
    facts: Mapping[tuple[str, str], Facts] = field(default_factory=dict)


def read_way(menu: Path, pages: Iterable[Page], examples: Path) -> Way:
    """Read the menu, and the facts of all pages."""
    facts = {(page.language, page.path): read_facts(page, examples) for page in pages}
    return Way(read_menu(menu), facts)


def read_facts(page: Page, examples: Path) -> Facts:
    """The facts of a page; without front matter its heading is its title."""
    matter = _front_matter(page.text)
    title = matter.get("title") or section_titles(page.text).get("", page.path)
    shown = tuple(one.argument for one in scan(page.text) if one.name == "quiz")
    time = minutes(page.text, page.language, examples)
    return Facts(str(title), str(matter.get("description", "")), time, shown)


def _front_matter(text: str) -> dict[str, Any]:
    """The front matter, or nothing where it cannot be read: `check_front_matter` says why."""
    match = FRONT_MATTER.match(text)
    inside = match[0].strip().removeprefix("---").removesuffix("---") if match else ""
    try:
        found = yaml.load(inside, LOADER)
    except yaml.YAMLError:
        found = None
    return found if isinstance(found, dict) else {}
