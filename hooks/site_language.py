"""MkDocs adapter: what the templates need to know of the languages of the site and of a page."""

from functools import partial
from pathlib import Path

from mkdocs.plugins import event_priority

from dabt import languages, ui
from dabt.directives import renderers


def on_page_markdown(markdown, *, page, config, files):
    """Name the links to sections in the language of the page."""
    strings = renderers(config.markdown_extensions)["translation"].course.ui
    config.mdx_configs["toc"]["permalink_title"] = strings.text("site.section", page.file.locale)
    return markdown


def on_env(env, *, config, files):
    """Give every template the languages, the one shown, and the interface's strings in it."""
    data = Path(config.docs_dir, "_data")
    known = languages.load_languages(data / "languages.yml")
    shown = config.plugins["i18n"].current_language
    env.globals["dabt_languages"] = known
    env.globals["dabt_language"] = next(one for one in known if one.code == shown)
    strings = ui.load_ui(data, known)
    env.globals["text"] = partial(_write, strings, shown)
    env.globals["text_in"] = partial(_write, strings)
    chain = (shown, *languages.fallbacks(shown, known))
    card = (one for one in chain if Path(config.docs_dir, f"assets/social/{one}.png").is_file())
    env.globals["dabt_card"] = next(card, shown)
    course = renderers(config.markdown_extensions)["translation"].course
    env.globals["dabt_lost"] = course.speakers("lost.")
    return env


def _is_listed(file, code: str) -> bool:
    """The site map has no page in another language than its folder's, and none that hides."""
    return file.locale == code and not (file.page and file.page.meta.get("unlisted"))


def _write(strings: ui.Ui, language: str, key: str, **values: object) -> str:
    return strings.text(key, language, **values)


# After static-i18n (50), which fills `alternates`.
@event_priority(-50)
def on_page_context(context, *, page, config, nav):
    """Give a page the addresses of its versions that really are in their language."""
    files = getattr(page.file, "alternates", {})
    context["dabt_addresses"] = {
        code: "" if file.url in (".", "./") else file.url
        for code, file in files.items()
        if file.locale == code
    }
    return context


@event_priority(-50)
def on_template_context(context, *, template_name, config):
    """Give a template without a page (404, site map) the home of each language."""
    i18n = config.plugins["i18n"]
    context["dabt_addresses"] = {
        code: "" if code == i18n.default_language else f"{code}/" for code in i18n.build_languages
    }
    every = context.get("i18n_alternates", {}).items()
    context["i18n_alternates"] = {
        code: [file for file in files if _is_listed(file, code)] for code, files in every
    }
    return context
