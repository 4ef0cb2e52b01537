"""Reading without a network, with a real worker: pages that were visited, the whole course, a new
version, storage that is refused or full, and the archive opened from disk."""

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from dabt.offline import publish
from tests.browser.conftest import LANGUAGES, NO_WORKERS
from tools.host import served

BUTTON = ".dabt-offline [data-do={}]"
TOLD = ".dabt-offline__told"
NEWS = ".dabt-news"
STYLED = "getComputedStyle(document.querySelector('.md-header')).position === 'sticky'"
WAIT_UNTIL_KEPT = """async (address) => {
  const isKept = async () => {
    const names = await caches.keys();
    const keys = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return keys.flat().some(({ url }) => url.startsWith(`${address}?kept=`));
  };
  const { active } = await navigator.serviceWorker.ready;
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isKept()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${address} is not kept by ${active.scriptURL}`);
}"""
UPDATE = "async () => (await navigator.serviceWorker.getRegistration()).update()"
# The versions of a page and of its style sheet.
VERSIONS = """[document.body.dataset.version ?? '1',
  getComputedStyle(document.body).getPropertyValue('--version').trim() || '1']"""


class Host:
    """A host that can be stopped, and that can come back with another version."""

    def __init__(self) -> None:
        self.stack = ExitStack()
        self.port = 0
        self.home = ""

    def serve(self, folder: Path) -> None:
        self.stop()
        self.home = self.stack.enter_context(served(folder, port=self.port))
        self.port = urlsplit(self.home).port or 0

    def stop(self) -> None:
        self.stack.close()


@pytest.fixture
def host(site_folder: Path) -> Iterator[Host]:
    one = Host()
    one.serve(site_folder)
    yield one
    one.stop()


@pytest.fixture
def context(browser: Browser, host: Host) -> Iterator[BrowserContext]:
    """Return a context with workers; the home is the host's."""
    context = browser.new_context(base_url=host.home)
    context.set_default_timeout(15_000)
    yield context
    context.close()


def visit(page: Page, path: str, home: str) -> None:
    page.goto(path)
    page.evaluate(WAIT_UNTIL_KEPT, home + path)


def test_pages_once_read_open_without_a_network(page: Page, host: Host):
    visit(page, "quizzes/lora/", host.home)
    visit(page, "fr/glossary/", host.home)
    found = page.context.new_cdp_session(page).send("Page.getInstallabilityErrors")
    # A context of tests is a private window, where nothing can be installed.
    errors = [one["errorId"] for one in found["installabilityErrors"]]
    assert errors == ["in-incognito"]
    host.stop()
    page.goto("fr/glossary/")
    assert page.evaluate(STYLED)
    page.goto("quizzes/lora/")
    assert page.evaluate(STYLED)
    question = page.locator(".dabt-q").first
    question.locator("label").first.click()
    question.locator(".dabt-q__check").click()
    expect(question.locator(".dabt-q__verdict")).not_to_be_empty()

    page.goto("fr/peft/qlora/#x")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    missing = page.locator(".dabt-offline__missing")
    expect(missing).to_contain_text("QLoRA")
    retry = missing.locator("a")
    assert retry.evaluate("a => a.href") == f"{host.home}fr/peft/qlora/"
    kept = page.locator(".dabt-offline__kept a")
    assert kept.evaluate_all("all => all.map((a) => a.pathname)") == [
        "/course/fr/glossary/",
        "/course/fr/offline/",
    ]
    page.goto("about/")
    expect(page.locator("html")).to_have_attribute("lang", "ar")
    expect(page.locator(".dabt-offline__missing")).to_be_visible()


def test_the_whole_course_is_kept_when_asked_and_no_sooner(page: Page, host: Host, site_folder):
    page.goto("fr/offline/")
    expect(page.locator(BUTTON.format("one"))).to_contain_text("Mo")
    host.stop()
    page.locator(BUTTON.format("one")).click()
    expect(page.locator(TOLD)).to_contain_text("réseau")
    host.serve(site_folder)
    page.locator(BUTTON.format("one")).click()
    expect(page.locator(TOLD)).to_contain_text("est gardé")
    expect(page.locator(BUTTON.format("one"))).to_be_hidden()
    host.stop()
    page.goto("fr/measure/evaluation/")
    assert page.evaluate(STYLED)
    text = page.evaluate("async () => (await fetch(location.pathname)).text()")
    assert text == (site_folder / "fr/measure/evaluation/index.html").read_text("utf-8")
    page.keyboard.press("/")
    page.locator(".dabt-search__field").fill("quantification")
    expect(page.locator(".dabt-search__option").first).to_contain_text("antif")
    page.goto("peft/lora/")
    expect(page.locator(".dabt-offline__missing")).to_be_visible()


@pytest.fixture
def other_version(site_folder: Path, tmp_path: Path) -> Path:
    """Return the site of another version: all styles and pages have changed, but not «about»."""
    folder = tmp_path / "site"
    shutil.copytree(site_folder, folder)
    (styles,) = (folder / "assets").glob("style.*.css")
    css = styles.read_text("utf-8") + "\nbody { --version: 2; }\n"
    styles.unlink()
    (folder / "assets/style.00000002.css").write_text(css, "utf-8")
    same = folder / "about/index.html"
    for page in folder.rglob("*.html"):
        html = page.read_text("utf-8").replace(styles.name, "style.00000002.css")
        version = "" if page == same else ' data-version="2"'
        page.write_text(html.replace("<body", f"<body{version}", 1), "utf-8")
    publish(folder, LANGUAGES)
    return folder


def test_another_version_is_announced_and_never_mixed(
    page: Page, context: BrowserContext, host: Host, other_version: Path
):
    visit(page, "fr/about/", host.home)
    second = context.new_page()
    visit(second, "about/", host.home)
    host.serve(other_version)
    asked = []
    context.on("request", lambda request: asked.append(request.url.removeprefix(host.home)))
    page.evaluate(UPDATE)
    expect(page.locator(NEWS)).to_contain_text("version")
    expect(page.locator(f"{NEWS} button")).to_have_text("L’afficher")
    expect(second.locator(NEWS)).to_contain_text("نسخة")
    assert "fr/about/" in asked and "about/" not in asked
    page.goto("fr/about/")
    assert page.evaluate(VERSIONS) == ["1", "1"]
    page.goto("fr/glossary/")
    assert page.evaluate(VERSIONS) == ["2", "2"]
    page.goto("fr/about/")
    with page.expect_navigation(), second.expect_navigation():
        page.locator(f"{NEWS} button").click()
    assert page.evaluate(VERSIONS) == ["2", "2"]
    assert second.evaluate(VERSIONS) == ["1", "2"]
    # What was kept is kept in the new version, and nothing of the old one is left.
    second.wait_for_load_state()
    host.stop()
    page.goto("about/")
    assert page.evaluate(VERSIONS) == ["1", "2"]


def test_the_only_page_that_is_open_goes_to_the_other_version_when_it_is_turned(
    page: Page, host: Host, other_version: Path
):
    visit(page, "fr/about/", host.home)
    host.serve(other_version)
    page.evaluate(UPDATE)
    expect(page.locator(NEWS)).to_be_visible()
    page.goto("fr/about/")
    page.wait_for_function("document.body?.dataset.version === '2'")
    assert page.evaluate(VERSIONS) == ["2", "2"]
    expect(page.locator(NEWS)).to_have_count(0)


@pytest.mark.parametrize("known", [True, False], ids=["estimated", "met"])
def test_storage_that_is_full_is_said_and_the_page_goes_on(page: Page, host: Host, known: bool):
    if not known:
        page.add_init_script("StorageManager.prototype.estimate = undefined;")
    visit(page, "fr/offline/", host.home)
    origin = host.home.removesuffix("/course/")
    limit = {"origin": origin, "quotaSize": 800_000}
    page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", limit)
    page.locator(BUTTON.format("one")).click()
    expect(page.locator(TOLD)).to_contain_text("assez de place")
    page.goto("fr/peft/lora/")
    assert page.evaluate(STYLED)


def test_workers_refused_are_said_and_the_archive_stays(browser: Browser, host: Host):
    context = browser.new_context(base_url=host.home)
    context.add_init_script(NO_WORKERS)
    page = context.new_page()
    page.goto("fr/offline/")
    expect(page.locator(TOLD)).to_contain_text("ne laisse pas")
    expect(page.locator(".dabt-offline__buttons")).to_be_hidden()
    expect(page.locator(".dabt-offline__archive a")).to_be_visible()
    context.close()


def test_the_archive_opens_from_disk(browser: Browser, site_folder: Path, tmp_path: Path):
    with zipfile.ZipFile(site_folder / "download/dabt.zip") as archive:
        archive.extractall(tmp_path)
    page = browser.new_page()
    said, elsewhere = [], []
    page.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request", lambda r: elsewhere.append(r.url) if urlsplit(r.url).scheme != "file" else None
    )
    page.on("requestfailed", lambda r: said.append(r.url))
    page.goto((tmp_path / "dabt/index.html").as_uri())
    assert page.evaluate(STYLED)
    page.locator("article a[href*='peft/lora/']").first.click()
    expect(page.locator("h1")).to_contain_text("LoRA")
    page.locator("article a[href*='quizzes/lora/']").first.click()
    question = page.locator(".dabt-q").first
    question.locator("label").first.click()
    question.locator(".dabt-q__check").click()
    expect(question.locator(".dabt-q__verdict")).not_to_be_empty()
    page.locator("[data-dabt-switch]").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    expect(page.locator(".dabt-search-button")).to_have_count(0)
    page.locator("footer a[href*='offline/']").click()
    expect(page.locator(".dabt-offline__here")).to_contain_text("disque")
    expect(page.locator("article button")).to_have_count(0)
    assert all(url.startswith("data:") for url in elsewhere)
    assert said == []
    page.close()
