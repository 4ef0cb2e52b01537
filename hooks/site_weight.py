"""MkDocs adapter: light pages, after everything else has written into them."""

from pathlib import Path

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.tasks import with_named_boxes
from dabt.weight.code import lighten
from dabt.weight.notes import with_notes
from dabt.weight.scripts import bare
from dabt.weight.style import make_style
from dabt.weight.tables import with_scrolling

# Nearly every page has questions: their two kilobytes cost less than a request of their own.
SHEETS = ("assets/site.css", "assets/quiz.css")
OWN = ("assets/", (".js", ".css"))
THEME = ("assets/stylesheets/", "assets/javascripts/", "assets/images/favicon.png")


# After static-i18n (-100), which copies the list of files.
@event_priority(-150)
def on_files(files, *, config):
    """Leave out the theme's style sheets and scripts, for which ours stand; send ours bare."""
    for file in list(files):
        address = file.src_uri
        if address.startswith(THEME) or address in SHEETS:
            files.remove(file)
        elif address.startswith(OWN[0]) and address.endswith(OWN[1]):
            files.remove(file)
            files.append(File.generated(config, address, content=bare(file.content_string)))
    return files


@event_priority(-100)
def on_page_content(html, *, page, config, files):
    """Write code with less markup, its explanations as buttons, tables in a box that scrolls."""
    ui = renderers(config.markdown_extensions)["glossary"].course.ui
    language = config.plugins["i18n"].current_language
    names = [ui.text(f"site.{name}", language) for name in ("annotation", "done", "undone")]
    return with_named_boxes(with_scrolling(with_notes(lighten(html), names[0])), *names[1:])


def on_env(env, *, config, files):
    """Add the one style sheet; leave out the lines that templates leave empty."""
    env.trim_blocks = env.lstrip_blocks = True
    theme = [Path(one, "assets/stylesheets") for one in config.theme.dirs]
    name, css = make_style(theme, *(Path(config.docs_dir, one) for one in SHEETS))
    files.append(File.generated(config, name, content=css))
    env.globals["dabt_style"] = name
    return env
