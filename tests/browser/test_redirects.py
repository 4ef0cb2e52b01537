"""An address that moved leads on, to the section that was asked for, and without scripts too."""

import pytest

from dabt.addresses import Redirect, render_redirect
from dabt.languages import Language
from tools.host import served

FRENCH = Language("fr", "Français", "ltr")
WORDS = {"title": "Déplacée", "body": "Ici :", "code": "fr"}
ONE = Redirect("old/lora/", "peft/lora/")
OTHER = Redirect("old/alpha/", "peft/lora/", "alpha")


@pytest.fixture
def moved(tmp_path):
    """Serve two redirects and the page that they lead to."""
    for redirect in (ONE, OTHER):
        (tmp_path / redirect.old).mkdir(parents=True)
        html = render_redirect(redirect, FRENCH, "LoRA", WORDS)
        (tmp_path / redirect.old / "index.html").write_text(html, encoding="utf-8")
    (tmp_path / ONE.new).mkdir(parents=True)
    (tmp_path / ONE.new / "index.html").write_text("<!doctype html><title>new</title>")
    with served(tmp_path) as address:
        yield address


@pytest.mark.parametrize(
    ("scripts", "asked", "reached"),
    [
        (True, "old/lora/#idea", "peft/lora/#idea"),
        (True, "old/alpha/#idea", "peft/lora/#alpha"),
        (False, "old/lora/", "peft/lora/"),
    ],
)
def test_the_reader_arrives(browser, moved, scripts, asked, reached):
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(moved + asked, wait_until="commit")
    page.wait_for_url(moved + reached)
    assert page.title() == "new"
    context.close()
