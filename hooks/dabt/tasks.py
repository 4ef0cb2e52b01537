"""Names for the boxes of task lists, which Markdown leaves to the eye."""

BOX = '<label class="task-list-control"><input type="checkbox" disabled'


def with_named_boxes(html: str, done: str, undone: str) -> str:
    """Return a page whose boxes say whether their task is done."""
    html = html.replace(f"{BOX} checked", f'{BOX} aria-label="{done}" checked')
    return html.replace(f"{BOX}/>", f'{BOX} aria-label="{undone}"/>')
