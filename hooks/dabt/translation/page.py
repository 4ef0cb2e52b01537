"""The state as a table of a page: `::: translation`."""

from collections.abc import Mapping

from markupsafe import Markup

from dabt.links import relative_link
from dabt.quiz.inline import to_html
from dabt.translation.notice import Reader
from dabt.translation.status import NEXT, Task, percent, tasks
from dabt.translation.survey import Side, Survey

PART = Markup('<span lang="{}" dir="{}">{}</span>')


def render_page(found: Survey, reader: Reader) -> str:
    """Return a table of pages and languages, then the next tasks in each language."""
    slugs = dict.fromkeys(unit.slug for unit in found.units)
    rows = Markup("\n").join(_row(slug, found, reader) for slug in slugs)
    names = Markup("").join(
        Markup('<th scope="col">{}</th>').format(_name(one.code, reader)) for one in found.languages
    )
    table = Markup(
        '<table><thead><tr><th scope="col">{}</th>{}</tr></thead>\n<tbody>{}</tbody></table>'
    ).format(reader.words("page"), names, rows)
    titles = {
        unit.slug: unit.sides[reader.language].title
        for unit in reversed(found.units)
        if reader.language in unit.sides
    }
    lists = Markup("\n").join(_todo(one.code, found, titles, reader) for one in found.languages)
    shell = Markup('<div class="dabt-translation"{}>\n{}\n{}\n</div>')
    return str(shell.format(reader.attributes(), table, lists))


def _row(slug: str, found: Survey, reader: Reader) -> Markup:
    cells = Markup("").join(
        Markup("<td>{}</td>").format(_percent(percent(found.of(one.code, slug)), reader))
        for one in found.languages
    )
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(_whole(slug, found, reader), cells)


def _whole(slug: str, found: Survey, reader: Reader) -> Markup:
    """Return a link to a page by its title, or the name of a file of data."""
    unit = next(one for one in found.units if one.slug == slug)
    if slug.startswith("_data/"):
        return Markup("<code>{}</code>").format(slug)
    if reader.language in unit.sides:
        title = to_html(unit.sides[reader.language].title, reader.language)
        return Markup('<a href="{}">{}</a>').format(relative_link(reader.page, f"{slug}.md"), title)
    return _elsewhere(unit.sides, reader)


def _elsewhere(sides: Mapping[str, Side], reader: Reader) -> Markup:
    code, side = next(iter(sides.items()))
    direction = next(one.direction for one in reader.languages if one.code == code)
    return PART.format(code, direction, to_html(side.title, code))


def _todo(code: str, found: Survey, titles: Mapping[str, str], reader: Reader) -> Markup:
    todo = tasks(found, code)[:NEXT]
    words = reader.words("next" if todo else "done")
    items = Markup("").join(
        Markup("<li>{}</li>").format(_task(one, titles, reader)) for one in todo
    )
    share = _percent(percent(found.of(code)), reader)
    head = Markup("<p><strong>{}</strong> · {} · {}</p>").format(_name(code, reader), share, words)
    return head + (Markup("\n<ul>{}</ul>").format(items) if todo else Markup(""))


def _task(task: Task, titles: Mapping[str, str], reader: Reader) -> Markup:
    """Return what to do, and where: the title of the page, then that of the section."""
    unit = task.entries[0].unit
    side = unit.sides.get(reader.language)
    if len(task.entries) > 1 or not side or not side.title:
        key = "" if len(task.entries) > 1 else f"#{unit.key}"
        what = Markup("<code>{}{}</code>").format(unit.slug, key)
    else:
        href = relative_link(reader.page, f"{unit.slug}.md", unit.key)
        names = dict.fromkeys((titles[unit.slug], side.title))
        shown = Markup(" · ").join(to_html(name, reader.language) for name in names)
        what = Markup('<a href="{}">{}</a>').format(href, shown)
    return Markup("{} · {}").format(reader.words(task.state), what)


def _name(code: str, reader: Reader) -> Markup:
    one = next(one for one in reader.languages if one.code == code)
    return PART.format(one.code, one.direction, one.name)


def _percent(share: int, reader: Reader) -> str:
    return reader.words("percent", percent=share)
