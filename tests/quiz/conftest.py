"""A small course, which each test spoils in its own way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.quiz.small_course import write_course


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course without fault; the working folder is its root, so messages have short paths."""
    monkeypatch.chdir(tmp_path)
    write_course(tmp_path)
    return tmp_path


@pytest.fixture
def spoil(course: Path) -> Callable[[str, str], None]:
    """Replace a text that must be there once in the quiz file of the course."""

    def replace(old: str, new: str) -> None:
        path = course / "docs" / "_data" / "quizzes" / "lora.yml"
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        path.write_text(text.replace(old, new), encoding="utf-8")

    return replace
