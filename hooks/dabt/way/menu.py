"""The menu of mkdocs.yml as modules of chapters and quizzes, with their names in each language."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt.yamlsource import LOADER


@dataclass(frozen=True)
class Module:
    """A part of the menu: its name by language, and its pages (`peft/lora.md`) in order."""

    names: Mapping[str, str] = field(default_factory=dict)
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Menu:
    """The modules in order, and the pages that belong to none (home, glossary)."""

    modules: tuple[Module, ...] = ()
    others: tuple[str, ...] = ()

    def kind(self, page: str) -> str:
        """What a page is: "home", "chapter", "quiz" or "" for any other."""
        if page == "index.md":
            return "home"
        if not any(page in module.pages for module in self.modules):
            return ""
        return "quiz" if page.startswith("quizzes/") else "chapter"


def read_menu(path: Path) -> Menu:
    """Read the menu of mkdocs.yml, whose own tags (`!ENV`) nothing here needs to understand."""
    if not path.is_file():
        return Menu()
    root = yaml.compose(path.read_text(encoding="utf-8"), LOADER)
    names = dict(_names(_at(root, "plugins")))
    modules, others = [], []
    for item in _items(_at(root, "nav")):
        if isinstance(item, ScalarNode):
            others.append(item.value)
        for key, value in item.value if isinstance(item, MappingNode) else ():
            pages = tuple(one.value for one in _items(value) if isinstance(one, ScalarNode))
            given = {code: known.get(key.value, key.value) for code, known in names.items()}
            modules.append(Module(given, pages))
    return Menu(tuple(modules), tuple(others))


def _names(plugins: Node | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each language with the names that the plugin i18n gives to the parts of the menu."""
    for plugin in _items(plugins):
        for language in _items(_at(_at(plugin, "i18n"), "languages")):
            code, given = _at(language, "locale"), _at(language, "nav_translations")
            pairs = given.value if isinstance(given, MappingNode) else ()
            if isinstance(code, ScalarNode):
                yield code.value, {key.value: value.value for key, value in pairs}


def _at(node: Node | None, name: str) -> Node | None:
    pairs = node.value if isinstance(node, MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _items(node: Node | None) -> list[Node]:
    return node.value if isinstance(node, SequenceNode) else []
