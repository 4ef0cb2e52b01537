"""MkDocs adapter: marks under the terms of chapters, and the file of their definitions."""

from pathlib import Path

from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.glossary.tooltips import Setting, definitions_file, with_terms
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


def on_env(env, *, config, files):
    """Add the definitions of a language; tell the templates where those of each are."""
    course = renderers(config.markdown_extensions)["glossary"].course
    codes = [one.code for one in course.languages]
    found = {code: definitions_file(course.glossary_in(code), code) for code in codes}
    address, content = found[config.theme["language"]]
    files.append(File.generated(config, address, content=content))
    env.globals["dabt_definitions"] = {code: address for code, (address, _) in found.items()}
    return env
