"""Environments are made once, and again when their requirements change."""

import pytest

from tools import environment
from tools.environment import ENVIRONMENTS, Environment, ensure, fingerprint, is_ready


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project whose environment `tiny` needs nothing."""
    (tmp_path / "empty.txt").write_text("# nothing\n")
    monkeypatch.setitem(ENVIRONMENTS, "tiny", Environment(".venv", ("empty.txt",)))
    return tmp_path


def test_an_environment_is_made_once(project):
    python = ensure("tiny", project)
    assert python.exists() and is_ready("tiny", project)
    made = python.stat().st_mtime
    assert ensure("tiny", project).stat().st_mtime == made


def test_a_changed_requirement_makes_it_stale(project):
    before = fingerprint(ENVIRONMENTS["tiny"], project)
    (project / "empty.txt").write_text("# something\n")
    assert fingerprint(ENVIRONMENTS["tiny"], project) != before


def test_a_package_that_is_not_to_be_had_is_said(project, capsys):
    (project / "empty.txt").write_text("--no-index\ndabt-has-no-such-package==1\n")
    with pytest.raises(environment.EnvironmentFailure, match="pip"):
        ensure("tiny", project)
    assert not is_ready("tiny", project)


def test_another_list_of_torch_builds_can_be_named(monkeypatch):
    monkeypatch.setenv("DABT_TORCH_INDEX", "https://wheels.example/cpu")
    arguments = environment.pip_arguments(ENVIRONMENTS["examples"])
    assert arguments[arguments.index("--extra-index-url") + 1] == "https://wheels.example/cpu"
    monkeypatch.delenv("DABT_TORCH_INDEX")
    assert "--extra-index-url" not in environment.pip_arguments(ENVIRONMENTS["examples"])


def test_usage_names_the_environments(capsys):
    assert environment.main(["nothing"]) == 2
    assert "site|dev|examples" in capsys.readouterr().err
