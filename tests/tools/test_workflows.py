"""Workflows do only what `make` can do here, run pinned actions, hold no right they need not."""

import re

import pytest
import yaml

from tools.environment import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$")


def jobs(path) -> list[dict]:
    return list(yaml.safe_load(path.read_text("utf-8"))["jobs"].values())


def test_the_workflows_are_there():
    names = {path.stem for path in WORKFLOWS}
    assert {"check", "pages", "newest", "translation", "links"} <= names


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_is_a_target_of_the_makefile(path):
    known = set(TARGET.findall((ROOT / "Makefile").read_text("utf-8")))
    commands = [step["run"] for job in jobs(path) for step in job["steps"] if "run" in step]
    for command in commands:
        words = command.split()
        assert words[0] == "make" and words[1] in known, f"{path.name}: {command}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_rights_are_named(path):
    text = path.read_text("utf-8")
    used = [line.strip().removeprefix("- ") for line in text.split("\n") if "uses:" in line]
    assert [line for line in used if not PINNED.match(line)] == []
    read = yaml.safe_load(text)
    assert read["permissions"] == {}
    for job in jobs(path):
        assert job["permissions"] and job["timeout-minutes"] <= 60
    # Triggers that give a pull request of a stranger the rights of the repository.
    assert not {"pull_request_target", "workflow_run"} & set(read[True])
