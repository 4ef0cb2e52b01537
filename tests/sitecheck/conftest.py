"""A small site in which every rule is content; each test breaks one thing in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.languages import Language
from dabt.problems import Problem
from dabt.sitecheck import check, load

ADDRESS = "https://host.example/course/"
LANGUAGES = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
WORDS = {
    "ar": {"home": "الرئيسية", "chapter": "فصل", "cell": "عمود"},
    "fr": {"home": "Accueil", "chapter": "Chapitre", "cell": "colonne"},
}

HEAD = """<!doctype html>
<html lang="{code}">
<head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="{root}assets/site.css">
<link rel="canonical" href="{address}{url}">
<link rel="alternate" hreflang="ar" href="{address}{key}">
<link rel="alternate" hreflang="fr" href="{address}fr/{key}">
<link rel="alternate" hreflang="x-default" href="{address}{key}">
<meta property="og:image" content="{address}assets/card.png">
</head>
<body dir="{direction}">
<header><a href="{other}" hreflang="{other_code}" lang="{other_code}">{other_name}</a></header>
<main><article class="md-content__inner">
"""
HOME = """<h1 id="top">{title}</h1>
<p><a href="chapter/#goals">{title}</a></p>
"""
CHAPTER = """<h1 id="top">{title}</h1>
<h2 id="goals">{title}</h2>
<p>{title} <code>model.train()</code> <img src="{root}assets/card.png" alt="{title}"></p>
<div class="highlight"><pre><code>rank = 8  <span class="c1"># (1)!</span></code></pre></div>
<ol><li>{title}</li></ol>
<figure id="figure-loss"><svg role="img" aria-label="{title}"><path d="M0 0"/></svg></figure>
<table><tr><th scope="col">{cell}</th></tr><tr><td>1</td></tr></table>
<form><fieldset data-question="adamw-bytes"><legend>{title}</legend>
<label for="o1">8</label><input id="o1" data-option="1" data-right><i data-option="2"></i>
</fieldset></form>
<p><a href="../">{title}</a></p>
"""
TAIL = "</article></main></body></html>\n"
NOT_FOUND = """<!doctype html>
<html lang="ar"><head><title>404</title></head><body dir="rtl"><main>
<h1>404</h1><div lang="ar" dir="rtl"><a href="/course/">هنا</a></div>
<div lang="fr" dir="ltr"><a href="/course/fr/">ici</a></div></main></body></html>
"""

Change = Callable[..., list[Problem]]


def sample_site() -> dict[str, str]:
    """Return path → content."""
    files = {"404.html": NOT_FOUND, "assets/site.css": "a { background: url(card.png) }"}
    files["assets/card.png"] = ""
    for language in LANGUAGES:
        prefix = "" if language.default else f"{language.code}/"
        files[f"{prefix}index.html"] = _page(language, "", "home", HOME)
        files[f"{prefix}chapter/index.html"] = _page(language, "chapter/", "chapter", CHAPTER)
    urls = ["", "chapter/", "fr/", "fr/chapter/"]
    for code, prefix in (("ar", ""), ("fr", "fr/")):
        text = f"{code}/all.0a.json"
        files[f"assets/search/{text}"] = "[]"
        pages = [[prefix + url, "", "other", text, [["goals", ""]]] for url in ("chapter/",)]
        pages.append([prefix, "", "other", text, [["", ""]]])
        files[f"assets/search/{code}.0a.json"] = json.dumps({"pages": pages})
    files["sitemap.xml"] = "".join(f"<url><loc>{ADDRESS}{url}</loc></url>" for url in urls)
    return files


def _page(language: Language, key: str, name: str, body: str) -> str:
    other = next(one for one in LANGUAGES if one != language)
    up = "../" if key else ""
    values = {
        **WORDS[language.code],
        "title": WORDS[language.code][name],
        "code": language.code,
        "direction": language.direction,
        "address": ADDRESS,
        "key": key,
        "url": key if language.default else f"{language.code}/{key}",
        "root": up if language.default else f"{up}../",
        "other": f"{up}fr/{key}" if language.default else f"{up}../{key}",
        "other_code": other.code,
        "other_name": other.name,
    }
    return (HEAD + body + TAIL).format(**values)


@pytest.fixture
def problems_after(tmp_path: Path) -> Change:
    """Return a function: replace `old` by `new` in one file of the site, and check the whole.

    `new=None` deletes the file; `address` is what the site is checked for.
    """

    def change(
        path: str = "", old: str = "", new: str | None = "", address: str = ADDRESS
    ) -> list[Problem]:
        files = sample_site()
        if path and new is None:
            del files[path]
        elif path:
            assert not old or old in files[path], f"the sample does not hold {old!r}"
            files[path] = files[path].replace(old, new) if old else new
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, encoding="utf-8")
        return list(check(load(tmp_path, LANGUAGES, address)))

    return change
