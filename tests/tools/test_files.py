"""The files of the project, with git and without."""

import subprocess

import pytest

from tools.files import project_files


@pytest.fixture
def project(tmp_path):
    for name in ("a.md", "docs/b.md", "docs/c.yml", ".venv/lib/d.md", "site/e.md", ".ci/run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".gitignore").write_text("/.venv/\n/site/\n")
    return tmp_path


def names(project, *patterns):
    return [path.relative_to(project).as_posix() for path in project_files(*patterns, root=project)]


@pytest.mark.parametrize("with_git", [True, False])
def test_what_commands_made_is_left_out(project, with_git):
    if with_git:
        subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    assert names(project) == [".ci/run", ".gitignore", "a.md", "docs/b.md", "docs/c.yml"]
    assert names(project, "*.md") == ["a.md", "docs/b.md"]
    assert names(project, "docs/*.yml", "a.*") == ["a.md", "docs/c.yml"]


def test_a_deleted_file_that_git_knows_is_no_file(project):
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    subprocess.run(["git", "add", "a.md"], cwd=project, check=True)
    (project / "a.md").unlink()
    assert "a.md" not in names(project)
