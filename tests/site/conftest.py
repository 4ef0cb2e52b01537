"""The site as two builds made it: for an address with a path, and without an address."""

from pathlib import Path

import pytest

from dabt.languages import load_languages
from dabt.sitecheck import Site, load
from tools.build_site import build_if_stale
from tools.stages import ADDRESS, HOSTED, PLAIN, ROOT

BUILDS = {"with an address": (HOSTED, ADDRESS), "without an address": (PLAIN, "")}


@pytest.fixture(scope="session", params=BUILDS)
def site(request: pytest.FixtureRequest) -> Site:
    folder, address = BUILDS[request.param]
    build_if_stale(ROOT / folder, address)
    return load(ROOT / folder, load_languages(ROOT / "docs/_data/languages.yml"), address)


@pytest.fixture
def folder(site: Site) -> Path:
    return ROOT / site.folder
