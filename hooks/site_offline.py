"""MkDocs adapter: the web app manifest of a language."""

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.offline.manifest import make_manifest


def on_env(env, *, config, files):
    """Add the manifest to the site; tell the templates where it is."""
    course = renderers(config.markdown_extensions)["offline"].course
    found = make_manifest(course.language(config.theme["language"]), course.ui)
    files.append(File.generated(config, found.path, content=found.content))
    env.globals["dabt_manifest"] = found.path
    return env
