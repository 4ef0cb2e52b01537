"""MkDocs adapter: `llms.txt` and the feed of changes of a language, once its pages are rendered."""

from pathlib import Path

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.links import served
from dabt.pages import path_in_tree
from dabt.search.sections import read_page
from dabt.way.feeds import FEED, LLMS, find_changes, render_feed, render_llms


def on_env(env, *, config, files):
    """Add both to the site; the feed needs an address, and the history of the pages."""
    course = renderers(config.markdown_extensions)["progress"].course
    docs, code = Path(config.docs_dir), config.plugins["i18n"].current_language
    language, address = course.language(code), config.site_url or ""
    begins = {}
    for file in files.documentation_pages():
        if file.page and file.locale == code:
            sections = read_page(
                file.page.content, "", "", file.page.title, language.direction
            ).sections
            begins[path_in_tree(Path(file.abs_src_path), docs)] = (
                sections[0].text if sections else ""
            )
    made = {LLMS: render_llms(course.way, language, course.ui, address)}
    if address:
        changes = find_changes(course.way, code, config.extra["dabt_changed"], begins)
        made[FEED] = render_feed(changes, course.way, language, course.ui, address)
    home = served("index.md", language)
    for name in (one for one, content in made.items() if content):
        files.append(File.generated(config, f"{home}{name}", content=made[name]))
    env.globals["dabt_feed"] = f"{address}{home}{FEED}" if made.get(FEED) else ""
    return env
