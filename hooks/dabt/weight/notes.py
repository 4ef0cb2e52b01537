"""Explanations of code as buttons that work without a script.

`# (1)!` in a block `.annotate` becomes a button, and the first item of the list under the block the
note that it opens (the browser's own `popover`). A browser that does not know it shows the list.
"""

import re

BLOCK = re.compile(r'<div class="[^"]*\bannotate\b[^"]*">.*?</pre></div>\s*(?=<ol>)', re.DOTALL)
MARKER = re.compile(r'<span class="c1?">(?:#|//|--) \((\d+)\)!?</span>')
TAG = re.compile(r"<(/?)(ol|ul|li)\b[^>]*>")


def with_notes(html: str, label: str) -> str:
    """Return a page with a button for each marker that has an explanation. `label` names them."""
    parts, end = [], 0
    for number, block in enumerate(BLOCK.finditer(html), 1):
        items = _items(html, block.end())
        markers = {int(match[1]) for match in MARKER.finditer(block[0])}
        if markers != set(range(1, len(items) + 1)):
            continue  # The check of the built site tells it.
        parts += [html[end : block.start()], _with_buttons(block[0], number, label)]
        parts.append('<ol class="dabt-notes">')
        end = block.end() + len("<ol>")
        for item, (start, stop) in enumerate(items, 1):
            parts += [html[end:start], f'<li id="note-{number}-{item}" popover>']
            end = stop
    return "".join([*parts, html[end:]])


def _with_buttons(block: str, number: int, label: str) -> str:
    return MARKER.sub(
        lambda match: (
            f'<button type="button" class="dabt-note" popovertarget="note-{number}-{match[1]}"'
            f' data-note="{match[1]}" aria-label="{label} {match[1]}"></button>'
        ),
        block,
    )


def _items(html: str, start: int) -> list[tuple[int, int]]:
    """Return where the items of the list at `start` open, those of lists inside it left out."""
    items, depth = [], 0
    for tag in TAG.finditer(html, start):
        if tag[2] == "li":
            if depth == 1 and not tag[1]:
                items.append(tag.span())
        else:
            depth += -1 if tag[1] else 1
            if depth == 0:
                break
    return items
