"""What a growing language has not written yet, filled from the language that it names.

A language with `fallback:` in languages.yml is growing: its texts may be missing from the data
files, and readers get those of the fallback. A complete language must have every text.
"""

from collections.abc import Sequence

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from dabt.languages import Language, fallbacks

TEXT = "tag:yaml.org,2002:str"


def fill(root: Node | None, languages: Sequence[Language]) -> None:
    """Give every text of a YAML tree, in place, the growing languages that it lacks."""
    chains = {one.code: fallbacks(one.code, languages) for one in languages if one.fallback}
    if root is not None and chains:
        _fill(root, chains, frozenset(one.code for one in languages))


def is_blank(node: Node) -> bool:
    """Tell whether a text, or every form of a counted one, is still to be written."""
    if isinstance(node, MappingNode):
        return all(is_blank(value) for _, value in node.value)
    return isinstance(node, ScalarNode) and not node.value.strip()


def _fill(node: Node, chains: dict[str, tuple[str, ...]], codes: frozenset[str]) -> None:
    if isinstance(node, SequenceNode):
        for item in node.value:
            _fill(item, chains, codes)
    elif isinstance(node, MappingNode):
        names = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
        if names and names <= codes:
            _complete(node, chains)
        else:
            for _, value in node.value:
                _fill(value, chains, codes)


def _complete(node: MappingNode, chains: dict[str, tuple[str, ...]]) -> None:
    written = {
        key.value: value
        for key, value in node.value
        if not isinstance(value, SequenceNode) and (key.value not in chains or not is_blank(value))
    }
    for code, chain in chains.items():
        source = next((written[one] for one in chain if one in written), None)
        if code not in written and source is not None:
            kept = [pair for pair in node.value if pair[0].value != code]
            key = ScalarNode(TEXT, code, node.start_mark, node.start_mark)
            node.value[:] = [*kept, (key, source)]
