"""MkDocs adapter: marks under the terms of chapters."""

from pathlib import Path

from dabt.directives import renderers
from dabt.glossary.tooltips import Setting, with_terms
from dabt.pages import path_in_tree


def on_page_markdown(markdown, *, page, config, files):
    """Tell the extension which page it marks; a page not translated is in its own language."""
    path, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    course = renderers(config.markdown_extensions)["glossary"].course
    language = path.relative_to(docs).parts[0]
    setting = Setting(
        glossary=course.glossary_in(language),
        ui=course.ui,
        language=language,
        page=path_in_tree(path, docs),
    )
    config.markdown_extensions = with_terms(config.markdown_extensions, setting)
    return markdown
