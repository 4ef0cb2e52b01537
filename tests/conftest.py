"""Marks the tests by their folder, so that no file has to repeat it."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(TESTS / "browser"):
            item.add_marker(pytest.mark.browser)
