"""Which browser the tests drive, and what is said when there is none."""

import pytest

from tools import browser


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that adds a program to an otherwise empty machine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browser.CHOSEN, raising=False)
    monkeypatch.setattr(browser, "_playwright_browser", lambda: "")
    monkeypatch.setattr(browser, "_install_package", lambda *names: None)
    monkeypatch.setattr(browser, "_install_playwright", lambda: None)

    def add(name: str, status: int = 0) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nexit {status}\n")
        path.chmod(0o755)
        return str(path)

    return add


def test_a_program_that_does_not_start_is_passed_over(machine):
    machine("chromium-browser", status=1)
    chrome = machine("google-chrome")
    assert browser.find_chromium() == chrome


def test_the_chosen_one_comes_first(machine, monkeypatch):
    machine("chromium")
    mine = machine("mine")
    monkeypatch.setenv(browser.CHOSEN, mine)
    assert browser.ensure_chromium() == mine


def test_a_wrong_choice_is_said(machine, monkeypatch):
    machine("chromium")
    monkeypatch.setenv(browser.CHOSEN, "/nowhere/chromium")
    with pytest.raises(browser.BrowserFailure, match="/nowhere/chromium"):
        browser.ensure_chromium()


def test_one_is_installed_when_there_is_none(machine, monkeypatch):
    monkeypatch.setattr(browser, "_install_package", lambda *names: machine(names[0]))
    assert browser.ensure_chromium().endswith("/chromium")


def test_without_any_the_cure_is_said(machine):
    with pytest.raises(browser.BrowserFailure, match="apt install chromium"):
        browser.ensure_chromium()


def test_a_driver_that_does_not_start_gets_what_it_lacks(machine, monkeypatch):
    installed = []
    monkeypatch.setattr(browser, "_install_package", lambda *names: installed.extend(names))
    monkeypatch.setattr(browser, "ASK_PLAYWRIGHT", "raise SystemExit('no library')")
    with pytest.raises(browser.BrowserFailure, match="no library"):
        browser.ensure_driver()
    assert installed == ["libatomic1"]
