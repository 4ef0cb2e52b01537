"""A small glossary, and the glossary of the course."""

from pathlib import Path

import pytest

from dabt.glossary.load import read_glossary
from dabt.glossary.model import Glossary
from dabt.problems import report
from tests.glossary.small_glossary import LANGUAGES, ROOT, SMALL, read


@pytest.fixture(scope="session")
def course_glossary() -> Glossary:
    glossary, problems = read_glossary(ROOT / "docs/_data/glossary.yml", LANGUAGES)
    assert not problems, report(problems)
    return glossary


@pytest.fixture
def small(tmp_path: Path) -> Glossary:
    glossary, problems = read(tmp_path, SMALL)
    assert not problems, report(problems)
    return glossary
