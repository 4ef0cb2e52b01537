"""A build that fails, or warns, leaves the last good site as it was."""

import os

import pytest

from tools.build_site import BuildFailure, build, build_if_stale, check_site, is_fresh


def accept(site, address):
    """Find nothing: these projects have one page in one language."""


@pytest.fixture
def project(tmp_path):
    """Return the folder of a project with one page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# First\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nsite_url: !ENV [DABT_SITE_URL, '']\n")
    return tmp_path


def test_a_good_build_replaces_the_last_one(project):
    site = project / "out" / "site"
    build(site, "https://host.example/a/", project, accept)
    assert "https://host.example/a/" in (site / "index.html").read_text()
    (project / "docs" / "index.md").write_text("# Second\n")
    build(site, "", project, accept)
    assert "Second" in (site / "index.html").read_text()
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_a_warning_fails_and_leaves_the_site_untouched(project):
    site = project / "site"
    build(site, "", project, accept)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    (project / "docs" / "index.md").write_text("# Second\n\n[x](missing.md)\n")
    with pytest.raises(BuildFailure):
        build(site, "", project, accept)
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_a_warning_of_a_hook_fails_even_when_mkdocs_does_not(project):
    (project / "hook.py").write_text(
        "def on_post_build(config):\n    print('WARNING -  half of the quiz is missing')\n"
    )
    with (project / "mkdocs.yml").open("a") as configuration:
        configuration.write("hooks: [hook.py]\n")
    with pytest.raises(BuildFailure, match="half of the quiz"):
        build(project / "site", "", project, accept)
    assert not (project / "site").exists()


def test_only_a_changed_source_or_address_asks_for_a_build(project):
    site = project / "out" / "site"
    build_if_stale(site, "", project, accept)
    assert is_fresh(site, "", project)
    assert not is_fresh(site, "https://host.example/", project)
    later = (project / "mkdocs.yml").stat().st_mtime + 100
    os.utime(project / "docs" / "index.md", (later, later))
    assert not is_fresh(site, "", project)


def test_what_the_check_finds_leaves_the_site_untouched(project):
    site = project / "site"
    build(site, "", project, accept)
    before = (site / "index.html").read_bytes()
    (project / "docs" / "index.md").write_text("# Second\n")

    def refuse(fresh, address):
        assert "Second" in (fresh / "index.html").read_text()
        raise BuildFailure("index.html:3:1: error: a dead link")

    with pytest.raises(BuildFailure, match="a dead link"):
        build(site, "", project, refuse)
    assert (site / "index.html").read_bytes() == before
    assert [path.name for path in project.iterdir() if path.name.startswith(".building")] == []


def test_the_check_of_the_course_names_files_as_in_the_site(tmp_path):
    (tmp_path / "fr").mkdir()
    (tmp_path / "index.html").write_text('<html lang="ar" dir="ltr"><h1>x</h1></html>')
    with pytest.raises(BuildFailure, match=r"(?m)^\./index\.html:1"):
        check_site(tmp_path, "")
