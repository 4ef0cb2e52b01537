"""Every notebook runs from its first cell to its last, with the options of a run on any computer.

One language is enough: tests/notebooks compares the code of both.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "hooks"))

from dabt.languages import load_languages  # noqa: E402
from dabt.notebooks.build import Wanted, make_notebook  # noqa: E402
from dabt.notebooks.choice import read_choices  # noqa: E402
from dabt.ui import load_ui  # noqa: E402

DATA, EXAMPLES = ROOT / "docs/_data", ROOT / "examples"
CHOICES, _ = read_choices(DATA, EXAMPLES)
RUNNER = Path(__file__).with_name("notebook_runner.py")
UI = load_ui(DATA, load_languages(DATA / "languages.yml"))


@pytest.fixture(scope="module")
def runner() -> Iterator[subprocess.Popen]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, str(RUNNER)], **pipes) as server:
        yield server
        server.stdin.close()


@pytest.mark.parametrize("slug", CHOICES)
def test_a_notebook_runs_from_top_to_bottom(slug: str, runner, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    page = (ROOT / f"docs/fr/{slug}.md").read_text("utf-8")
    text = make_notebook(page, Wanted(CHOICES[slug], "fr", EXAMPLES), UI)
    (tmp_path / "it.ipynb").write_text(text, "utf-8")
    asked = {"notebook": str(tmp_path / "it.ipynb"), "folder": str(tmp_path)}
    print(json.dumps(asked), file=runner.stdin)
    code = runner.stdout.readline().strip()
    log = (tmp_path / "log.txt").read_text("utf-8", errors="replace")
    assert code == "0", log[-2000:]
    assert "installing" not in log, "the pins of a notebook are those of the course"
    assert len(log.splitlines()) > 8, log
