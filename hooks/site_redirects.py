"""MkDocs adapter: at each address that moved, a page that sends the reader on."""

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.links import served


def on_env(env, *, config, files):
    """Write the redirects of the language that is being built."""
    course = renderers(config.markdown_extensions)["progress"].course
    language = course.language(config.plugins["i18n"].current_language)
    home = served("index.md", language)
    for redirect, html in course.moved(language, config.site_url or ""):
        name = f"{home}{redirect.old}index.html"
        files.append(File.generated(config, name, content=html))
    return env
