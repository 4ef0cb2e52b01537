"""MkDocs adapter: each chapter's notebook in each language, its line, and the programs' archive."""

from pathlib import Path

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.links import served
from dabt.notebooks.archive import pack
from dabt.notebooks.build import Wanted, make_notebook
from dabt.notebooks.offer import render_offer
from dabt.notebooks.setup import ARCHIVE
from dabt.pages import path_in_tree
from dabt.way.line import under_title


def on_page_content(html, *, page, config, files):
    """Write the notebook of a page, and the line that offers it."""
    course = renderers(config.markdown_extensions)["progress"].course
    source, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    path, code = path_in_tree(source, docs), source.relative_to(docs).parts[0]
    choice = course.notebooks.get(path.removesuffix(".md"))
    if choice is None:
        return html
    language, site = course.language(code), config.site_url or ""
    tree = f"{site}{served('index.md', language)}" if site else ""
    wanted = Wanted(choice, code, docs.parent / "examples", site, tree)
    content = make_notebook(source.read_text(encoding="utf-8-sig"), wanted, course.ui)
    file = choice.file(code)
    if file not in files.src_uris:
        files.append(File.generated(config, file, content=content))
    here = served(path, course.language(config.plugins["i18n"].current_language))
    size = len(content.encode())
    line = render_offer(file, size, here, config.extra["notebooks"], code, course.ui)
    return under_title(html, line)


def on_env(env, *, config, files):
    """Add the programs, once."""
    if ARCHIVE not in files.src_uris:
        content = pack(Path(config.docs_dir).parent / "examples")
        files.append(File.generated(config, ARCHIVE, content=content))
    return env
