"""An address changes with the file that it names, and with nothing else."""

from dabt.offline.stamps import loaded_by, stamp_of, stamp_site

PAGE = """<link rel="stylesheet" href="../assets/site.css"><script src="../assets/site.js"></script>
<script src="../assets/gone.js"></script><a href="../assets/notes.txt">x</a>
<code>href=&quot;assets/site.css&quot;</code>"""


def make_site(folder, font=b"font", script="one()"):
    files = {
        "assets/site.css": "@font-face { src: url('fonts/a.woff2') } p { background: url(data:x) }",
        "assets/site.js": script,
        "assets/notes.txt": "notes",
        "about/index.html": PAGE,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (folder / "assets/fonts").mkdir()
    (folder / "assets/fonts/a.woff2").write_bytes(font)
    stamp_site(folder)
    return (folder / "about/index.html").read_text("utf-8")


def test_what_a_page_loads_is_stamped_and_nothing_else(tmp_path):
    html = make_site(tmp_path)
    css, script = (stamp_of(tmp_path / f"assets/site.{kind}") for kind in ("css", "js"))
    stamped = PAGE.replace('assets/site.css"', f'assets/site.css?{css}"')
    assert html == stamped.replace('site.js"', f'site.js?{script}"')
    assert loaded_by(html) == (f"assets/site.css?{css}", f"assets/site.js?{script}")


def test_a_font_changes_the_address_of_the_styles_that_name_it(tmp_path):
    before = make_site(tmp_path / "a")
    after = make_site(tmp_path / "b", font=b"another font")
    assert loaded_by(before)[0] != loaded_by(after)[0]
    assert loaded_by(before)[1] == loaded_by(after)[1]
    css = (tmp_path / "b/assets/site.css").read_text("utf-8")
    assert f"url('fonts/a.woff2?{stamp_of(tmp_path / 'b/assets/fonts/a.woff2')}')" in css
    assert "url(data:x)" in css


def test_stamping_again_changes_nothing_but_what_changed(tmp_path):
    first = make_site(tmp_path)
    stamp_site(tmp_path)
    assert (tmp_path / "about/index.html").read_text("utf-8") == first
    (tmp_path / "assets/site.js").write_text("two()", "utf-8")
    stamp_site(tmp_path)
    again = (tmp_path / "about/index.html").read_text("utf-8")
    assert loaded_by(again)[0] == loaded_by(first)[0]
    assert loaded_by(again)[1] != loaded_by(first)[1]
