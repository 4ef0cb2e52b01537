"""lychee finds what is dead, and is not believed when it read nothing."""

import pytest

from tools import links

PAGE = '<!doctype html><title>x</title><h1 id="top">x</h1>{}'


@pytest.fixture
def site(tmp_path):
    """Return a function that writes a site of one page with these links."""

    def write(*targets: str):
        folder = tmp_path / "course"
        (folder / "page").mkdir(parents=True)
        anchors = "".join(f'<a href="{target}">x</a>' for target in targets)
        (folder / "index.html").write_text(PAGE.format(anchors))
        (folder / "page" / "index.html").write_text(PAGE.format(""))
        return folder

    return write


def test_good_links_pass(site, monkeypatch, capsys):
    monkeypatch.setattr(links, "LINKS_PER_PAGE", 1)
    folder = site("page/", "page/#top", "/course/page/", "https://dabt.example/course/page/")
    assert links.main([str(folder)]) == 0
    assert capsys.readouterr().out.strip().endswith("passed, 0 failed")


@pytest.mark.parametrize("dead", ["nothing/", "page/#nothing", "/course/nothing/", "/page/"])
def test_dead_links_fail(site, monkeypatch, capsys, dead):
    monkeypatch.setattr(links, "LINKS_PER_PAGE", 0)
    assert links.main([str(site("page/", dead))]) == 1
    assert "nothing" in capsys.readouterr().out or dead == "/page/"


def test_a_site_of_which_nothing_was_read_fails(site, capsys):
    assert links.main([str(site("page/"))]) == 1
    assert "expected at least" in capsys.readouterr().out
