"""MkDocs adapter: a line under the sections that lag behind another language."""

from pathlib import Path

from dabt.directives import renderers
from dabt.pages import path_in_tree
from dabt.translation.notice import with_notices


def on_page_content(html, *, page, config, files):
    """Say which sections changed elsewhere; a page that nobody has translated lags in nothing."""
    course = renderers(config.markdown_extensions)["translation"].course
    path, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    language = path.relative_to(docs).parts[0]
    return with_notices(html, course.translation, course.reader(language, path_in_tree(path, docs)))
