"""The list that the worker is given, and what is shown of the archive."""

import json
import re
from pathlib import Path

from dabt.directives import Place
from dabt.languages import Language, load_languages
from dabt.offline import publish
from dabt.offline.listing import language_of
from dabt.offline.manifest import make_manifest
from dabt.offline.panel import render_panel
from dabt.problems import DabtError
from dabt.ui import load_ui

DATA = Path(__file__).parents[2] / "docs/_data"
LANGUAGES = load_languages(DATA / "languages.yml")
UI = load_ui(DATA, LANGUAGES)


def make_site(folder: Path, words: str = "text") -> Path:
    """Write what a build would: a page in each language, the page on reading, shared files."""
    for code, prefix in (("ar", ""), ("fr", "fr/")):
        up = "../" * prefix.count("/")
        panel = "".join(
            render_panel(part, Place("x.md", 1, code, "offline.md"), UI)
            for part in ("keep", "archive")
        )
        pages = {
            f"{prefix}index.html": f'<script src="{up}assets/site.js" data-version="v1"></script>',
            f"{prefix}offline/index.html": panel,
            f"{prefix}about/index.html": words,
        }
        for name, body in pages.items():
            write(folder / name, f'<html lang="{code}"><body>{body}</body></html>')
        write(folder / f"assets/search/{code}.0a1b.json", "{}")
    write(folder / "assets/site.js", "go()")
    write(folder / "assets/search/panel.js", "export {}")
    write(folder / "assets/site.js.map", "{}")
    write(folder / "404.html", "lost")
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def told(site: Path) -> dict:
    worker = (site / "sw.js").read_text("utf-8")
    return json.loads(re.search(r"const LIST = (\{.*\});", worker)[1])


def test_the_worker_knows_each_file_by_the_address_that_pages_use(tmp_path):
    site = make_site(tmp_path)
    publish(site, LANGUAGES)
    found = told(site)
    script = next(one for one in found["files"] if one.startswith("assets/site.js?"))
    assert {one: entry[3] for one, entry in found["files"].items() if one != script} == {
        "": "ar",
        "about/": "ar",
        "offline/": "ar",
        "fr/": "fr",
        "fr/about/": "fr",
        "fr/offline/": "fr",
        "assets/search/ar.0a1b.json": "ar",
        "assets/search/fr.0a1b.json": "fr",
        "assets/search/panel.js?v1": "",
    }
    assert found["sets"][found["files"]["fr/"][4]] == [script]
    assert found["offline"] == {"ar": "offline/", "fr": "fr/offline/"}


def test_a_worker_changes_with_any_file_and_with_nothing_else(tmp_path):
    workers = []
    for name, words in (("a", "text"), ("b", "text"), ("c", "another text")):
        publish(make_site(tmp_path / name, words), LANGUAGES)
        workers.append((tmp_path / name / "sw.js").read_text("utf-8"))
    version = re.compile(r'const VERSION = "([0-9a-f]{16})"')
    first, same, other = (version.search(one)[1] for one in workers)
    assert first == same != other


def test_the_archive_is_shown_with_its_size_where_it_is(tmp_path):
    site = make_site(tmp_path)
    assert "hidden><a" in (site / "offline/index.html").read_text("utf-8")
    publish(site, LANGUAGES)
    for name, link in (("offline", "../download/"), ("fr/offline", "../../download/")):
        html = (site / name / "index.html").read_text("utf-8")
        assert (
            f'<p class="dabt-offline__archive"><a class="md-button" href="{link}dabt.zip"' in html
        )
        assert "megabytes" not in html
    assert "0,0\xa0Mo" in html


def test_a_file_is_of_the_language_that_its_path_names():
    names = {
        "index.html": "ar",
        "fr/peft/lora/index.html": "fr",
        "assets/search/fr.0a1b.json": "fr",
        "assets/search/fr/about.0a1b.json": "fr",
        "assets/fr-data.json": "",
        "assets/site.css": "",
        "manifest.webmanifest": "ar",
    }
    assert {name: language_of(name, LANGUAGES) for name in names} == names


def test_a_manifest_opens_its_own_language_and_spans_the_site():
    for language, home, start in (
        (LANGUAGES[0], "./", ""),
        (Language("fr", "f", "ltr"), "../", "fr/"),
    ):
        found = make_manifest(language, UI)
        value = json.loads(found.content)
        assert found.path == f"{start}manifest.webmanifest"
        assert (value["lang"], value["dir"]) == (language.code, language.direction)
        assert (value["start_url"], value["scope"]) == ("./", home)
        sizes = {(one["sizes"], one["purpose"]) for one in value["icons"]}
        assert {("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")} <= sizes
        for icon in value["icons"]:
            name = icon["src"].removeprefix(home)
            assert (DATA.parent / name).is_file()


def test_an_unknown_part_of_the_page_is_refused():
    try:
        render_panel("kept", Place("docs/ar/offline.md", 7, "ar"), UI)
    except DabtError as error:
        assert "docs/ar/offline.md:7" in str(error) and "keep" in str(error)
    else:
        raise AssertionError("it was accepted")


def test_a_page_need_not_be_fetched_again_when_only_what_it_loads_changed(tmp_path):
    for name in ("before", "after"):
        site = make_site(tmp_path / name)
        if name == "after":
            write(site / "assets/site.js", "stop()")
            write(site / "fr/about/index.html", "another text")
        publish(site, LANGUAGES)
    before, after = (told(tmp_path / name)["files"] for name in ("before", "after"))
    changed = {one for one, entry in after.items() if before.get(one, [""])[0] != entry[0]}
    script = next(one for one in after if one.startswith("assets/site.js?"))
    assert changed == {"fr/about/", script}
