"""MkDocs adapter: the directives; the whole course is checked before anything is written."""

from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger

from dabt.checks import ChecksRenderer
from dabt.course import (
    CalculatorRenderer,
    FigureRenderer,
    GlossaryRenderer,
    OfflineRenderer,
    ProgressRenderer,
    QuizRenderer,
    TranslationRenderer,
    check_reviews,
    read_course,
)
from dabt.directives import Place, at_page, first_line, renderers, with_renderer
from dabt.names import WholeNamesExtension, titles_with_code, with_breaks
from dabt.pages import path_in_tree
from dabt.problems import DabtError, errors, report, shown
from dabt.snippets import PlainCodeExtension
from dabt.sources import sources_of, with_repository

log = get_plugin_logger("course")


def _stop_on(problems) -> None:
    if problems:
        raise PluginError(f"the course has problems:\n{report(problems)}")


def on_config(config):
    """Check the course and register the directives: once, before the first language is built."""
    if "quiz" not in renderers(config.markdown_extensions):
        course, problems = read_course(Path(config.docs_dir))
        _stop_on(problems if errors(problems) else ())
        for problem in problems:
            log.warning(str(problem))
        known = with_renderer(config.markdown_extensions, "quiz", QuizRenderer(course))
        known = with_renderer(known, "figure", FigureRenderer(course))
        known = with_renderer(known, "glossary", GlossaryRenderer(course))
        known = with_renderer(known, "calculator", CalculatorRenderer(course))
        known = with_renderer(known, "progress", ProgressRenderer(course))
        known = with_renderer(known, "offline", OfflineRenderer(course))
        checks = ChecksRenderer(course.checks, course.languages, course.ui)
        known = with_renderer(known, "checks", checks)
        known = with_renderer(known, "translation", TranslationRenderer(course))
        config.markdown_extensions = [*known, PlainCodeExtension(), WholeNamesExtension()]
    return config


def on_page_markdown(markdown, *, page, config, files):
    """Tell the directives which page they are in."""
    path = Path(page.file.abs_src_path)
    place = Place(
        file=shown(path),
        line=first_line(page.file.content_string),
        # A page not translated is in its own language.
        language=path.relative_to(config.docs_dir).parts[0],
        page=path_in_tree(path, Path(config.docs_dir)),
    )
    config.markdown_extensions = at_page(config.markdown_extensions, place)
    page.meta["sources"] = sources_of(markdown, path.relative_to(config.docs_dir).as_posix())
    return markdown


def on_page_content(html, *, page, config, files):
    """Let the template load a script and its styles only where they are used."""
    marks = {
        "quiz": "quiz",
        "calculator": "calc",
        "glossary": "glossary",
        "terms": "terms",
        "progress": "progress",
        "offline-page": "offline",
    }
    if found := [name for name, mark in marks.items() if f'class="dabt-{mark}"' in html]:
        page.meta["uses"] = [*page.meta.get("uses", []), *found]
    titles = titles_with_code(html)
    for item in _every(page.toc):
        item.title = titles.get(item.id, item.title)
    return with_breaks(with_repository(html, config.extra.get("repository", "")))


def _every(items):
    for item in items:
        yield item
        yield from _every(item.children)


def on_env(env, *, config, files):
    """Check review links against the ids of the rendered pages, before this language is written."""
    docs = Path(config.docs_dir)
    known = {
        path_in_tree(Path(file.abs_src_path), docs): frozenset(file.page.present_anchor_ids or ())
        for file in files.documentation_pages()
        if file.abs_src_path and file.page
    }
    course = renderers(config.markdown_extensions)["quiz"].course
    _stop_on(list(check_reviews(course, config.theme["language"], known)))
    return env


def on_build_error(error, **_):
    """Show the problems found while rendering a page without Python's call stack."""
    if isinstance(error, DabtError):
        _stop_on(error.problems)
