"""MkDocs adapter: a line under the sections that lag behind another language."""

from pathlib import Path

from dabt.directives import renderers
from dabt.pages import path_in_tree
from dabt.translation.notice import missing_sections, with_notices


def on_page_content(html, *, page, config, files):
    """Say which sections changed elsewhere; a page that nobody has translated lags in nothing."""
    course = renderers(config.markdown_extensions)["translation"].course
    path, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    tree = config.plugins["i18n"].current_language
    reader = course.reader(path.relative_to(docs).parts[0], path_in_tree(path, docs), tree)
    # MkDocs checks links to sections against these ids.
    missing = missing_sections(course.translation, reader.language, reader.page)
    page.present_anchor_ids = {*(page.present_anchor_ids or ()), *missing}
    return with_notices(html, course.translation, reader)
