"""Takes the picture of the README: the first chapter in both languages, light and dark.

python -m tools.readme_picture        # after `make build`; writes .github/images/course.png
"""

import base64
import sys

from playwright.sync_api import Browser, sync_playwright

from tools.browser import ensure_chromium
from tools.environment import ROOT
from tools.host import served

PICTURE = ROOT / ".github" / "images" / "course.png"
SIZE = {"width": 1180, "height": 800}
VIEWS = (("full/traditional/#program", "light"), ("fr/full/traditional/#program", "dark"))
SHEET = """<body style="margin:0;display:flex;gap:16px;background:#8883"><style>
img {{width:590px;border-radius:6px}}</style>{}</body>"""


def take(browser: Browser, url: str, scheme: str) -> str:
    """Return a picture of a page as an <img> that holds it."""
    page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
    page.goto(url, wait_until="networkidle")
    picture = base64.b64encode(page.screenshot()).decode()
    page.close()
    return f'<img src="data:image/png;base64,{picture}">'


def main() -> int:
    """Take the two views and lay them side by side; return the exit status."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, served(ROOT / "site", "/") as address:
        browser = playwright.chromium.launch(
            executable_path=ensure_chromium(), args=["--no-sandbox"]
        )
        views = "".join(take(browser, address + path, scheme) for path, scheme in VIEWS)
        sheet = browser.new_page(viewport={"width": 1196, "height": 400}, device_scale_factor=1.5)
        sheet.set_content(SHEET.format(views))
        sheet.screenshot(path=PICTURE)
        browser.close()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
