"""One issue per subject: opened, rewritten, closed. `gh` is a script that answers and remembers."""

import json
import os

import pytest

from tools.standing_issue import main

GH = """#!/bin/sh
echo "$@" >> "$GH_LOG"
[ "$2" = list ] && cat "$GH_ANSWER"
exit "${GH_EXIT:-0}"
"""


@pytest.fixture
def gh(tmp_path, monkeypatch):
    """Return a function that runs the tool with issues open and gives back what `gh` was told."""
    script = tmp_path / "bin" / "gh"
    script.parent.mkdir()
    script.write_text(GH)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GH_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("GH_ANSWER", str(tmp_path / "answer"))

    def run(open_issues, *words):
        (tmp_path / "answer").write_text(json.dumps(open_issues))
        (tmp_path / "log").write_text("")
        code = main([str(word) for word in words])
        told = (tmp_path / "log").read_text().splitlines()
        return code, [line for line in told if not line.startswith("issue list")]

    return run


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("two links fail")
    return path


OPEN = [{"number": 9, "title": "Links that fail, twice"}, {"number": 7, "title": "Links that fail"}]


def test_the_first_report_opens_it(gh, report):
    told = ["issue create --title Links that fail --body two links fail"]
    assert gh(OPEN[:1], "Links that fail", report) == (0, told)


def test_the_next_one_rewrites_it(gh, report):
    assert gh(OPEN, "Links that fail", report) == (0, ["issue edit 7 --body two links fail"])


def test_it_is_closed_when_nothing_fails(gh, report):
    code, told = gh(OPEN, "Links that fail", "--mended")
    assert code == 0 and told[0].startswith("issue close 7 ")
    report.write_text("")
    code, told = gh(OPEN, "Links that fail", report)
    assert code == 0 and told[0].startswith("issue close 7 ")


def test_nothing_wrong_and_none_open_is_nothing_to_do(gh):
    assert gh(OPEN[:1], "Links that fail", "--mended") == (0, [])


def test_a_dry_run_changes_nothing(gh, report, capsys):
    assert gh(OPEN, "Links that fail", report, "--dry-run") == (0, [])
    assert "gh issue edit 7" in capsys.readouterr().out


def test_what_goes_wrong_is_said_with_its_cure(gh, report, monkeypatch, capsys, tmp_path):
    assert gh([], "Links that fail", tmp_path / "none.md") == (1, [])
    assert "mend: run the check that writes it first" in capsys.readouterr().err
    monkeypatch.setenv("GH_EXIT", "1")
    assert gh([], "Links that fail", report) == (1, [])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gh([], "Links that fail", report) == (1, [])
    assert "mend: install GitHub's command line" in capsys.readouterr().err
