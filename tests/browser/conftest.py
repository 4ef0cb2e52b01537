"""Chromium, and the built site served as its host would serve it.

Fixtures for every test here: `page` (Playwright's) opens paths relative to the site:
`page.goto("full/traditional/")`, `page.goto("fr/")`. `site_address` is the address of the home,
`site_folder` the folder that is served. A test that takes `any_page` runs for every page of the
course, in every language; one that takes `any_key` once for each pair of pages.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from dabt.languages import load_languages
from dabt.links import served as served_at
from tools.browser import find_chromium
from tools.build_site import BuildFailure, build_if_stale
from tools.host import served
from tools.stages import ADDRESS, HOSTED, ROOT

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Nothing but the server of the tests can be reached: a foreign request fails at once.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
LANGUAGES = load_languages(ROOT / "docs/_data/languages.yml")
PREFIXES = {one.code: served_at("index.md", one) for one in LANGUAGES}


def page_keys() -> list[str]:
    """Return the address of each page relative to the home of its language."""
    home = ROOT / "docs" / next(one.code for one in LANGUAGES if one.default)
    names = sorted(path.relative_to(home).as_posix() for path in home.rglob("*.md"))
    return [f"{name.removesuffix('.md')}/".removesuffix("index/") for name in names]


def pytest_configure(config: pytest.Config) -> None:
    # A fixture of pytest-base-url, which pytest-playwright brings along; nothing to mend here.
    config.addinivalue_line("filterwarnings", "ignore:Session-scoped fixtures defined as instance")


@pytest.fixture(scope="session")
def prefixes() -> dict[str, str]:
    """Return language → what the addresses of its pages begin with."""
    return PREFIXES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    keys = page_keys()
    if "any_page" in metafunc.fixturenames:
        metafunc.parametrize("any_page", [p + key for key in keys for p in PREFIXES.values()])
    if "any_key" in metafunc.fixturenames:
        metafunc.parametrize("any_key", keys)


@pytest.fixture(scope="session")
def site_folder() -> Path:
    """Return the built site: $DABT_TEST_SITE, or the build of the sources as they are now."""
    if chosen := os.environ.get("DABT_TEST_SITE"):
        return Path(chosen)
    try:
        build_if_stale(ROOT / HOSTED, ADDRESS)
    except BuildFailure as failure:
        pytest.exit(f"the site does not build: {failure}", returncode=1)
    return ROOT / HOSTED


@pytest.fixture(scope="session")
def site_address(site_folder: Path) -> Iterator[str]:
    with served(site_folder) as address:
        yield address


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    path = find_chromium()
    if not path:
        pytest.exit("no Chromium found; mend: python -m tools.browser installs one", returncode=1)
    return {**browser_type_launch_args, "executable_path": path, "args": FLAGS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict, site_address: str) -> dict:
    return {**browser_context_args, "base_url": site_address}


# Playwright's own way to block them writes a warning to the console.
NO_WORKERS = "delete Navigator.prototype.serviceWorker;"


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    """Return a context without workers: they have their own tests, and would only ask for more."""
    context.add_init_script(NO_WORKERS)
    return context
