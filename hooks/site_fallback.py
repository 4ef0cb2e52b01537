"""MkDocs adapter: a page that a language lacks is shown in another one, and says so."""

from pathlib import Path

from mkdocs.plugins import event_priority

from dabt.directives import renderers
from dabt.languages import load_languages
from dabt.links import served
from dabt.translation.fallback import language_shown, mark_contents, show_elsewhere


# After static-i18n (-100), which knows no other fallback than the default language.
@event_priority(-150)
def on_files(files, *, config):
    """Take each missing page from the language it is to be shown in, under its own address."""
    docs, language = Path(config.docs_dir), config.plugins["i18n"].current_language
    known = load_languages(docs / "_data/languages.yml")
    for file in list(files.documentation_pages()):
        if file.locale != language:
            files.remove(file)
            file.locale = language_shown(docs, file.norm_src_uri, language, known)
            file.src_uri = f"{language}/{file.norm_src_uri}"
            file.abs_src_path = str(docs / file.locale / file.norm_src_uri)
            files.append(file)
        file.alternates = {code: one for code, one in file.alternates.items() if one.locale == code}
    return files


# After the lines under sections that lag.
@event_priority(-50)
def on_page_content(html, *, page, config, files):
    """Mark the language of the page; search engines are sent to its original."""
    language, written = config.plugins["i18n"].current_language, page.file.locale
    if written == language:
        return html
    course = renderers(config.markdown_extensions)["translation"].course
    reader = course.reader(language, page.file.norm_src_uri)
    page.title = page.meta["title"] = mark_contents(page.title, page.toc, written)
    if config.site_url:
        page.canonical_url = config.site_url + served(reader.page, course.language(written))
    return show_elsewhere(html, written, reader)
