"""Finds a Chromium for the tests, and installs one where there is none.

    python -m tools.browser          # prints the path of a usable browser, installing if needed

Order: $DABT_CHROMIUM, a browser of the system, Playwright's own. Installing: the distribution's
package when we are root and have apt (it brings its libraries along), else Playwright's download.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

CHOSEN = "DABT_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ASK_PLAYWRIGHT = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""
PACKAGES = ("chromium", "fonts-noto-core")
# What Playwright's own program needs, and a bare Debian lacks.
DRIVER_PACKAGES = ("libatomic1",)


class BrowserFailure(Exception):
    """No browser can be had; the message says what to install."""


def find_chromium() -> str:
    """Return the path of a browser that starts, or an empty text."""
    return next((path for path in _candidates() if path and starts(path)), "")


def _candidates() -> Iterator[str | None]:
    if chosen := os.environ.get(CHOSEN):
        yield chosen
        return
    yield from map(shutil.which, NAMES)
    yield _playwright_browser()


def starts(path: str) -> bool:
    """Tell whether the browser answers: Ubuntu's `chromium-browser` may only name a snap."""
    command = [path, "--version", "--no-sandbox"]
    try:
        answer = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def ensure_chromium() -> str:
    """Return the path of a browser that starts, installing one when there is none."""
    if (chosen := os.environ.get(CHOSEN)) and not starts(chosen):
        raise BrowserFailure(f"{CHOSEN}={chosen} does not start\n  mend: correct it, or unset it")
    for install in (None, partial(_install_package, *PACKAGES), _install_playwright):
        if install:
            print("No Chromium found: installing one ...", flush=True)
            install()
        if found := find_chromium():
            return found
    raise BrowserFailure(
        "no Chromium was found, and none could be installed\n"
        f"  mend: install it (sudo apt install chromium), or set {CHOSEN} to its path"
    )


def ensure_driver() -> None:
    """See to it that Playwright itself starts, whatever browser it drives."""
    if _ask_playwright().returncode:
        _install_package(*DRIVER_PACKAGES)
    if (asked := _ask_playwright()).returncode:
        raise BrowserFailure(
            f"Playwright does not start:\n{asked.stderr}\n"
            f"  mend: sudo apt install {' '.join(DRIVER_PACKAGES)}"
        )


def _ask_playwright() -> subprocess.CompletedProcess[str]:
    # In a process of its own: inside a test, Playwright is running already.
    return subprocess.run([sys.executable, "-c", ASK_PLAYWRIGHT], capture_output=True, text=True)


def _playwright_browser() -> str:
    path = _ask_playwright().stdout.strip()
    return path if path and Path(path).exists() else ""


def _install_package(*names: str) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", *names]):
        subprocess.run(
            ["apt-get", *command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )


def _install_playwright() -> None:
    with_libraries = ["--with-deps"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    subprocess.run(
        [sys.executable, "-m", "playwright", "install", *with_libraries, "chromium"],
        stdin=subprocess.DEVNULL,
    )


def main() -> int:
    """Print the path of a browser; return the exit status."""
    try:
        ensure_driver()
        print(ensure_chromium())
    except BrowserFailure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
