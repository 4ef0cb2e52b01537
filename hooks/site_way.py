"""MkDocs adapter: the line under a title, the reader's way through the course."""

import subprocess
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from dabt.directives import renderers
from dabt.pages import path_in_tree
from dabt.way.dates import GIT_LOG, read_log
from dabt.way.line import name_permalinks, render_line, under_title

log = get_plugin_logger("way")


def on_config(config):
    """Ask git once, before the first language, when each page changed."""
    if "dabt_changed" not in config.extra:
        config.extra["dabt_changed"] = dates = read_log(_ask_git(Path(config.docs_dir)))
        if not dates:
            log.info("no history, or only a part of it: pages are built without their dates")
    return config


def _ask_git(docs: Path) -> str:
    """Return the history of the pages; nothing without git, a repository or all of its commits."""
    run = {"cwd": docs, "capture_output": True, "encoding": "utf-8"}
    try:
        shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], **run)
        if shallow.returncode or shallow.stdout.strip() != "false":
            return ""
        return subprocess.run(["git", *GIT_LOG, "--", "."], **run).stdout
    except OSError:
        return ""


def on_page_content(html, *, page, config, files):
    """Put the line under the title, in the language in which the page is written."""
    course = renderers(config.markdown_extensions)["progress"].course
    source, docs = Path(page.file.abs_src_path), Path(config.docs_dir)
    path, language = path_in_tree(source, docs), source.relative_to(docs).parts[0]
    changed = config.extra["dabt_changed"].get(source.relative_to(docs).as_posix())
    page.meta["way"] = {"slug": path.removesuffix(".md"), "kind": course.way.menu.kind(path)}
    html = name_permalinks(html)
    return under_title(html, render_line(course.way, path, language, changed, course.ui))
