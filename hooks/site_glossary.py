"""MkDocs adapter: marks under the terms of chapters, and the script and styles they need."""

from pathlib import Path

from dabt.directives import renderers
from dabt.glossary.tooltips import Setting, with_terms
from dabt.pages import path_in_tree


def on_page_markdown(markdown, *, page, config, files):
    """Tell the extension which page it marks; a page not translated is in its own language."""
    path, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    course = renderers(config.markdown_extensions)["glossary"].course
    setting = Setting(
        glossary=course.glossary,
        ui=course.ui,
        language=path.relative_to(docs).parts[0],
        page=path_in_tree(path, docs),
    )
    config.markdown_extensions = with_terms(config.markdown_extensions, setting)
    return markdown


def on_page_content(html, *, page, config, files):
    """Let the template load a script only where there is something for it to do."""
    used = [name for name in ("glossary", "terms") if f'class="dabt-{name}"' in html]
    page.meta["uses"] = [*page.meta.get("uses", []), *used]
    return html
