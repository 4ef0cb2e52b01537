"""MkDocs adapter: the picture of each page's shared link, where the site has an address."""

from pathlib import Path

from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File

from dabt.directives import renderers
from dabt.way.cards import Card, can_draw, make_card
from dabt.way.line import plain_title

log = get_plugin_logger("cards")


def on_env(env, *, config, files):
    """Draw the cards of the pages that are written in this language; tell the template."""
    docs, code = Path(config.docs_dir), config.plugins["i18n"].current_language
    course = renderers(config.markdown_extensions)["progress"].course
    language, assets = course.language(code), docs / "assets"
    if not config.site_url or not (assets / f"social/{code}.png").is_file():
        return env
    if not can_draw(language):
        log.info("no FriBiDi (libfribidi0): the pages of '%s' share one card", code)
        return env
    for file in list(files.documentation_pages()):
        page = file.page
        if page and file.locale == code and not page.is_homepage:
            module = plain_title(page.parent.title) if page.parent else ""
            card = Card(plain_title(page.title), module, language)
            name, picture = make_card(card, assets, docs.parent / ".build/cards")
            page.meta["card"] = f"assets/social/{name}"
            files.append(File.generated(config, page.meta["card"], content=picture))
    return env
