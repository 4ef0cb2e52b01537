"""The archive: links that open from a disk, nothing that needs a host, the same bytes each time."""

import io
import zipfile

import pytest

from dabt.addresses import Redirect, render_redirect
from dabt.languages import Language
from dabt.offline.archive import for_disk, make_archive, to_file


@pytest.mark.parametrize(
    ("link", "file"),
    [
        ("../lora/", "../lora/index.html"),
        ("../lora/#alpha", "../lora/index.html#alpha"),
        ("./?q=a/b#c", "./index.html?q=a/b#c"),
        (".", "./index.html"),
        ("..", "../index.html"),
        ("../..", "../../index.html"),
        ("#alpha", "#alpha"),
        ("", ""),
        ("?q=x", "?q=x"),
        ("assets/site.css", "assets/site.css"),
        ("https://a.example/b/", "https://a.example/b/"),
        ("//a.example/b/", "//a.example/b/"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("data:image/png;base64,a/", "data:image/png;base64,a/"),
    ],
)
def test_a_link_to_a_folder_names_its_file(link, file):
    assert to_file(link) == file


def test_what_needs_a_host_is_taken_out():
    html = """<link rel="manifest" href="m"><link rel="preload" as="font" href="f">
<link rel="stylesheet" href="assets/site.css">
<button class="a dabt-search-button">x</button><dialog class="dabt-search"><p>y</p></dialog>
<section class="dabt-offline"><p class="dabt-offline__here" hidden>On disk.</p><button>keep</button>
</section><fieldset data-review="../lora/#a"></fieldset>
<script type="module" src="assets/way.js" data-home="."></script>
<script src="assets/terms.js" defer data-definitions="x.json"></script>
<script src="assets/site.js" defer data-copy="c" data-index="i.json"
 data-worker="sw.js"></script>"""
    shown = for_disk(html)
    assert [
        part
        for part in (
            "manifest",
            "preload",
            "<button",
            "dialog",
            "module",
            "terms.js",
            "json",
            "sw.js",
        )
        if part in shown
    ] == []
    assert '<p class="dabt-offline__here">On disk.</p>' in shown
    assert 'data-review="../lora/index.html#a"' in shown
    assert (
        'href="assets/site.css"' in shown
        and '<script src="assets/site.js" defer data-copy="c"' in shown
    )


def test_the_archive_of_a_site_is_the_same_on_any_day(tmp_path):
    for name in (
        "index.html",
        "404.html",
        "assets/a.css",
        "assets/a.css.map",
        "sw.js",
        "download/dabt.zip",
        "assets/search/ar.1.json",
        "manifest.webmanifest",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('<a href="fr/">x</a>', "utf-8")
    first = make_archive(tmp_path)
    (tmp_path / "index.html").touch()
    assert make_archive(tmp_path) == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert archive.namelist() == ["dabt/assets/a.css", "dabt/index.html"]
        assert archive.read("dabt/index.html") == b'<a href="fr/index.html">x</a>'


def test_a_redirect_is_not_in_the_archive(tmp_path):
    french = Language("fr", "Français", "ltr")
    words = {"title": "Déplacée", "body": "Ici :", "code": "fr"}
    (tmp_path / "old").mkdir()
    html = render_redirect(Redirect("old/", "new/"), french, "LoRA", words)
    (tmp_path / "old/index.html").write_text(html, encoding="utf-8")
    (tmp_path / "index.html").write_text("<h1>x</h1>")
    archive = zipfile.ZipFile(io.BytesIO(make_archive(tmp_path)))
    assert archive.namelist() == ["dabt/index.html"]
