"""An address changes with the file that it names, and with nothing else."""

from dabt.offline.stamps import loaded_by, stamp_modules, stamp_of, stamp_site, without_stamps

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


def test_modules_that_import_each_other_share_a_stamp(tmp_path):
    texts = {
        "a.js": 'if (x) import("./b.js");',
        "b.js": 'import { a } from "./a.js";',
        "c.js": "c()",
    }
    stamps = []
    for more in ("", "", "go();"):
        for name, text in texts.items():
            (tmp_path / name).write_text(text + more * (name == "b.js"), "utf-8")
        found = stamp_modules(tmp_path)
        assert set(found) == {"a.js", "b.js"} and len(set(found.values())) == 1
        assert f'import("./b.js{found["b.js"]}")' in (tmp_path / "a.js").read_text("utf-8")
        stamps.append(found["a.js"])
    assert stamps[0] == stamps[1] != stamps[2]


def test_what_is_a_page_s_own_does_not_change_with_what_it_loads():
    pages = [
        f'<link href="../assets/style.{name}.css?{stamp}"><script src="assets/site.js?{stamp}"'
        f' data-index="../assets/search/ar.{name}.json" data-version="{stamp}"></script> text'
        for name, stamp in (("0a1b2c3d", "11"), ("4e5f6a7b", "22"))
    ]
    assert without_stamps(pages[0]) == without_stamps(pages[1])
    assert without_stamps(pages[0]).endswith('data-version=""></script> text')
