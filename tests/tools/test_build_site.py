"""A build that fails, or warns, leaves the last good site as it was."""

import os

import pytest

from tools.build_site import BuildFailure, build, build_if_stale, is_fresh


@pytest.fixture
def project(tmp_path):
    """Return the folder of a project with one page."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# First\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nsite_url: !ENV [DABT_SITE_URL, '']\n")
    return tmp_path


def test_a_good_build_replaces_the_last_one(project):
    site = project / "out" / "site"
    build(site, "https://host.example/a/", project)
    assert "https://host.example/a/" in (site / "index.html").read_text()
    (project / "docs" / "index.md").write_text("# Second\n")
    build(site, "", project)
    assert "Second" in (site / "index.html").read_text()
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_a_warning_fails_and_leaves_the_site_untouched(project):
    site = project / "site"
    build(site, "", project)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    (project / "docs" / "index.md").write_text("# Second\n\n[x](missing.md)\n")
    with pytest.raises(BuildFailure):
        build(site, "", project)
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_a_warning_of_a_hook_fails_even_when_mkdocs_does_not(project):
    (project / "hook.py").write_text(
        "def on_post_build(config):\n    print('WARNING -  half of the quiz is missing')\n"
    )
    with (project / "mkdocs.yml").open("a") as configuration:
        configuration.write("hooks: [hook.py]\n")
    with pytest.raises(BuildFailure, match="half of the quiz"):
        build(project / "site", "", project)
    assert not (project / "site").exists()


def test_only_a_changed_source_or_address_asks_for_a_build(project):
    site = project / "out" / "site"
    build_if_stale(site, "", project)
    assert is_fresh(site, "", project)
    assert not is_fresh(site, "https://host.example/", project)
    later = (project / "mkdocs.yml").stat().st_mtime + 100
    os.utime(project / "docs" / "index.md", (later, later))
    assert not is_fresh(site, "", project)
