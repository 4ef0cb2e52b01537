"""The web app manifest of a language: what a browser shows when the course is installed."""

import json
from dataclasses import dataclass
from posixpath import relpath

from dabt.languages import Language
from dabt.quiz.inline import typeset
from dabt.ui import Ui

ICONS = (
    ("icon-192.png", "192x192", "any"),
    ("icon-512.png", "512x512", "any"),
    ("icon-maskable-192.png", "192x192", "maskable"),
    ("icon-maskable-512.png", "512x512", "maskable"),
)
PAPER = "#fbf8f2"


@dataclass(frozen=True)
class Manifest:
    """Its path in the site, and its content."""

    path: str
    content: str


def make_manifest(language: Language, ui: Ui) -> Manifest:
    """Return the manifest; its addresses are relative, so that it is right under any path.

    Each language is an application of its own, which opens at its own home; the scope is the whole
    site, so that the switch of languages stays inside.
    """
    folder = "" if language.default else f"{language.code}/"
    home = relpath("/", f"/{folder}").rstrip("/") + "/"
    value = {
        "name": typeset(ui.text("offline.app.name", language.code), language.code),
        "short_name": ui.text("offline.app.short", language.code),
        "description": typeset(ui.text("card.promise", language.code), language.code),
        "lang": language.code,
        "dir": language.direction,
        "start_url": "./",
        "scope": home,
        "display": "minimal-ui",
        "background_color": PAPER,
        "theme_color": PAPER,
        "icons": [
            {
                "src": f"{home}assets/icons/{name}",
                "sizes": sizes,
                "type": "image/png",
                "purpose": purpose,
            }
            for name, sizes, purpose in ICONS
        ],
    }
    content = json.dumps(value, ensure_ascii=False, indent=1)
    return Manifest(f"{folder}manifest.webmanifest", content)
