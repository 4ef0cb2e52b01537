"""Every stage runs, whatever came before it, and the table tells all."""

import pytest

from tools import stages
from tools.stages import Outcome, Stage, run_all, table


@pytest.fixture
def without_processes(monkeypatch):
    """Run no process: environments named "broken" fail, commands ("fail",) fail."""
    ran = []

    def python(environment, command):
        ran.append(command)
        return command != ("fail",)

    monkeypatch.setattr(stages, "_python", python)
    monkeypatch.setattr(stages, "_environment_ready", lambda name: name != "broken")
    return ran


def ends(outcomes: list[Outcome]) -> dict[str, str]:
    return {one.name: one.ended for one in outcomes}


def test_a_failed_stage_does_not_stop_the_next(without_processes):
    first = Stage("a", "", "dev", (("fail",), ("go",)))
    second = Stage("b", "", "dev", (("go",),))
    assert ends(run_all([first, second])) == {"dev ready": "passed", "a": "failed", "b": "passed"}
    assert without_processes == [("fail",), ("go",), ("go",)]


def test_without_its_environment_a_stage_does_not_run_and_does_not_pass(without_processes):
    found = ends(run_all([Stage("a", "", "broken", (("go",),)), Stage("b", "", "dev", ())]))
    assert found == {
        "broken ready": "failed",
        "a": "not run",
        "dev ready": "passed",
        "b": "passed",
    }
    assert without_processes == []


def test_an_environment_is_prepared_once(without_processes):
    found = run_all([Stage("a", "", "dev", ()), Stage("b", "", "dev", ())])
    assert [one.name for one in found] == ["dev ready", "a", "b"]


def test_the_table_ends_with_a_line_that_counts():
    lines = table([Outcome("lint", 3.21, "passed"), Outcome("axe", 60, "not run")]).splitlines()
    assert lines[0].split() == ["lint", "3.2", "s", "passed"]
    assert lines[2].split() == ["total", "63.2", "s"]
    assert lines[-1] == "stages: 1 passed, 1 failed"


def test_an_unknown_stage_is_named(capsys):
    assert stages.main(["lints"]) == 2
    assert "lints" in capsys.readouterr().err


def test_every_folder_of_tests_belongs_to_a_stage():
    """What the unit stage ignores, another stage names."""
    commands = [word for stage in stages.STAGES for command in stage.commands for word in command]
    for folder in stages.NOT_UNIT:
        assert f"tests/{folder}" in commands
