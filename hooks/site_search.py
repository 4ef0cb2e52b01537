"""MkDocs adapter: the search's files of a language, once its pages are rendered."""

from pathlib import Path

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.languages import direction
from dabt.pages import path_in_tree
from dabt.search.files import FOLDER, make_files, version
from dabt.search.sections import read_page


def on_env(env, *, config, files):
    """Add the files to the site; tell the templates where the index is."""
    docs, language = Path(config.docs_dir), config.theme["language"]
    course = renderers(config.markdown_extensions)["glossary"].course
    pages = [
        read_page(
            file.page.content,
            "" if file.url in (".", "./") else file.url,
            path_in_tree(Path(file.abs_src_path), docs).removesuffix(".md"),
            file.page.title,
            direction(language),
        )
        for file in files.documentation_pages()
        if file.page and file.locale == language and not file.page.meta.get("unlisted")
    ]
    glossary = course.glossary_in(language)
    found = make_files(pages, glossary, course.synonyms, course.ui, language)
    for path, content in found.contents.items():
        files.append(File.generated(config, path, content=content))
    env.globals["dabt_search"] = {"index": found.index, "version": version(docs / FOLDER)}
    return env
