"""Each rule of the site check: one thing is broken in a good site, and the rule says so."""

import pytest

CHAPTER, FRENCH, HOME = "chapter/index.html", "fr/chapter/index.html", "fr/index.html"
SEARCH = "assets/search/fr.0a.json"
ARTICLE = '<article class="md-content__inner">\n'
NOINDEX = '<meta name="robots" content="noindex"><title>'


def test_the_good_site_has_no_problem(problems_after):
    assert problems_after() == []


CASES = {
    # parity
    "page only in one language": (HOME, "", None, "parity-pages"),
    "heading with another id": (FRENCH, 'h2 id="goals"', 'h2 id="buts"', "parity-headings"),
    "heading missing": (FRENCH, '<h2 id="goals">Chapitre</h2>', "", "parity-headings"),
    "term in one glossary only": (
        FRENCH,
        "<form>",
        '<div class="dabt-glossary"><h3 id="term-loss">perte</h3></div><form>',
        "parity-headings",
    ),
    "other code": (FRENCH, "rank = 8", "rang = 8", "parity-code"),
    "figure missing": (FRENCH, "figure-loss", "figure-perte", "parity-figures"),
    "row missing": (FRENCH, "<tr><td>1</td></tr>", "", "parity-tables"),
    "other right answer": (FRENCH, "data-right", "", "parity-questions"),
    "other question": (FRENCH, "adamw-bytes", "octets", "parity-questions"),
    # language and direction
    "wrong lang": (FRENCH, '<html lang="fr">', '<html lang="ar">', "page-language"),
    "no lang": (FRENCH, '<html lang="fr">', "<html>", "page-language"),
    "wrong dir": (FRENCH, '<body dir="ltr">', '<body dir="rtl">', "page-direction"),
    "no dir": (CHAPTER, '<body dir="rtl">', "<body>", "page-direction"),
    "Arabic run in French": (HOME, ARTICLE, ARTICLE + "<p>ضبط</p>", "run-language"),
    "404 without French": ("404.html", 'lang="fr" dir="ltr"', "", "not-found-language"),
    "404 in a wrong direction": ("404.html", '"fr" dir="ltr"', '"fr"', "not-found-language"),
    # markers
    "snippet": (HOME, ARTICLE, ARTICLE + '<p>--8&lt;-- "x.py"</p>', "left-over"),
    "directive": (HOME, ARTICLE, ARTICLE + "<p>::: quiz x</p>", "left-over"),
    "attributes": (HOME, ARTICLE, ARTICLE + "<p>Buts { #goals }</p>", "left-over"),
    "annotation outside code": (HOME, ARTICLE, ARTICLE + "<p>x (1)!</p>", "left-over"),
    "template": (HOME, ARTICLE, ARTICLE + "<p>{{ x }}</p>", "left-over"),
    "fence": (HOME, ARTICLE, ARTICLE + "<p>```python</p>", "left-over"),
    "admonition": (HOME, ARTICLE, ARTICLE + '<p>!!! note "x"</p>', "left-over"),
    "tab": (HOME, ARTICLE, ARTICLE + '<p>=== "Linux"</p>', "left-over"),
    "explanation missing": (FRENCH, "<ol><li>Chapitre</li></ol>", "", "annotations"),
    "one explanation too many": (FRENCH, "</li></ol>", "</li><li>x</li></ol>", "annotations"),
    # requests to others
    "foreign script": (HOME, "</body>", '<script src="//cdn.example/x.js"></script>', "foreign"),
    "foreign image": (HOME, ARTICLE, '<img src="https://x.example/a.png" alt="a">', "foreign"),
    "foreign srcset": (
        HOME,
        ARTICLE,
        ARTICLE + '<source srcset="../assets/card.png 1x, https://x.example/a.png 2x">',
        "foreign",
    ),
    "foreign frame": (HOME, "</body>", '<iframe src="https://x.example/"></iframe>', "foreign"),
    "foreign font": (
        HOME,
        "</head>",
        '<link rel="preconnect" href="https://fonts.example">',
        "foreign",
    ),
    "foreign style": (HOME, "<main>", '<main style="background:url(//x.example/a)">', "foreign"),
    "style element": (
        HOME,
        "</head>",
        '<style>@import "https://x.example/a.css";</style>',
        "foreign",
    ),
    "foreign in CSS": ("assets/site.css", "card.png", "https://x.example/a.woff2", "foreign"),
    "foreign icon in SVG": (
        HOME,
        ARTICLE,
        ARTICLE + '<svg><use href="https://x.example/#a"/></svg>',
        "foreign",
    ),
    # links
    "dead link": (HOME, "chapter/#goals", "chapitre/", "link-dead"),
    "dead image": (FRENCH, "../../assets/card.png", "card.png", "link-dead"),
    "wrong case": (HOME, "chapter/#goals", "Chapter/", "link-dead"),
    "dead section": (HOME, "chapter/#goals", "chapter/#buts", "link-fragment"),
    "slash missing": (HOME, "chapter/#goals", "chapter", "link-slash"),
    "root link": (HOME, "chapter/#goals", "/fr/chapter/", "link-outside"),
    "empty link": (HOME, "chapter/#goals", "", "link-empty"),
    "into the other language": (HOME, "chapter/#goals", "../chapter/", "link-crossing"),
    "dead script": (HOME, "</body>", '<script src="../assets/x.js"></script>', "link-dead"),
    "dead in srcset": (
        HOME,
        ARTICLE,
        ARTICLE + '<img srcset="../assets/card.png 1x, ../assets/card2.png 2x" alt="a">',
        "link-dead",
    ),
    "dead icon in SVG": (
        HOME,
        ARTICLE,
        ARTICLE + '<svg aria-hidden="true"><use xlink:href="../assets/x.svg#a"/></svg>',
        "link-dead",
    ),
    "dead section in SVG": (
        HOME,
        ARTICLE,
        ARTICLE + '<svg aria-hidden="true"><use href="#gone"/></svg>',
        "link-fragment",
    ),
    "dead in CSS": ("assets/site.css", "card.png", "../card.png", "link-dead"),
    "dead redirect": (
        HOME,
        "</head>",
        '<meta http-equiv="refresh" content="0; url=chapitre/"></head>',
        "link-dead",
    ),
    "percent-encoded Arabic": (HOME, "#goals", "#%D8%B6%D8%A8%D8%B7", "link-fragment"),
    "image in another case": (FRENCH, "/card.png", "/Card.png", "link-dead"),
    "page that nothing leads to": (HOME, "chapter/#goals", "#top", "orphan"),
    "label of nothing": (FRENCH, 'for="o1"', 'for="o2"', "reference"),
    # search engines
    "relative hreflang": (
        HOME,
        f'"fr" href="{"https://host.example/course/"}fr/',
        '"fr" href="./',
        "hreflang",
    ),
    "no x-default": (HOME, 'hreflang="x-default"', 'title="x"', "hreflang"),
    "canonical of another page": (
        HOME,
        'canonical" href="https://host.example/course/fr/',
        'canonical" href="https://host.example/course/',
        "canonical",
    ),
    "no picture": (HOME, "og:image", "og:type", "og-image"),
    "picture that is not there": (HOME, "assets/card.png", "assets/carte.png", "og-image"),
    "no search index": (SEARCH, "", None, "search"),
    "search leads nowhere": (SEARCH, '"goals"', '"but"', "search"),
    "search leads to a page that is not there": (SEARCH, "fr/chapter/", "fr/chapitre/", "search"),
    "search in another language": (SEARCH, "fr/chapter/", "chapter/", "search"),
    "excerpts that are not there": (SEARCH, "fr/all", "fr/tout", "search"),
    "page unknown to the search": (SEARCH, '"fr/", ', '"fr/chapter/", ', "search-missing"),
    "page unknown to the sitemap": (
        "sitemap.xml",
        "<url><loc>https://host.example/course/fr/</loc></url>",
        "",
        "sitemap-missing",
    ),
    "unlisted page in the search": (FRENCH, "<title>", NOINDEX, "search-unlisted"),
    "unlisted page in the sitemap": (FRENCH, "<title>", NOINDEX, "sitemap-unlisted"),
    "sitemap of another host": ("sitemap.xml", "course/fr/chapter/", "fr/chapter/", "sitemap"),
    # semantics
    "id twice": (FRENCH, 'id="o1"', 'id="top"', "duplicate-id"),
    "two first headings": (HOME, ARTICLE, ARTICLE + "<h1>x</h1>", "heading-first"),
    "level skipped": (FRENCH, "<figure", "<h4>x</h4><figure", "heading-level"),
    "image without alt": (FRENCH, ' alt="Chapitre"', "", "alt"),
    "alt is a file name": (FRENCH, 'alt="Chapitre"', 'alt="card.png"', "alt"),
    "drawing without a name": (FRENCH, ' aria-label="Chapitre"', "", "svg-name"),
    "table without headers": (
        FRENCH,
        '<th scope="col">colonne</th>',
        "<td>x</td>",
        "table-headers",
    ),
    "header without scope": (FRENCH, ' scope="col"', "", "table-scope"),
    "group without legend": (FRENCH, "<legend>Chapitre</legend>", "<p>x</p>", "legend"),
    "click on a paragraph": (HOME, "<p>", '<p onclick="x()">', "handler"),
    "order of Tab": (HOME, "<p>", '<p tabindex="2">', "tabindex"),
    "no title": (FRENCH, "<title>Chapitre</title>", "", "title"),
    "title twice": (FRENCH, "<title>Chapitre</title>", "<title>Accueil</title>", "title"),
}


@pytest.mark.parametrize(("path", "old", "new", "code"), CASES.values(), ids=CASES)
def test_a_rule_sees_what_is_broken(problems_after, path, old, new, code):
    found = problems_after(path, old, new)
    assert [p for p in found if p.code.startswith(code)], [str(problem) for problem in found]
    assert all(problem.mend and problem.line >= 1 for problem in found)


GOOD = {
    "marker inside code": (
        HOME,
        ARTICLE,
        ARTICLE + "<p><code>--8&lt;--</code> <code>::: x</code></p>",
    ),
    "Arabic run that says so": (HOME, ARTICLE, ARTICLE + '<p lang="ar" dir="rtl">ضبط</p>'),
    "Arabic text in code": (HOME, ARTICLE, ARTICLE + "<p><code>ضبط</code></p>"),
    "link to another site": (HOME, ARTICLE, ARTICLE + '<a href="https://x.example/y">y</a>'),
    "percent-encoded Arabic": (
        HOME,
        '<h1 id="top"',
        '<p id="ضبط"><a href="#%D8%B6%D8%A8%D8%B7">x</a> <a href="#ضبط">y</a></p><h1 id="top"',
    ),
    "picture inside the style sheet": (
        "assets/site.css",
        "card.png",
        "data:image/png;base64,x",
    ),
    "mail": (HOME, ARTICLE, ARTICLE + '<a href="mailto:a@x.example">y</a>'),
    "own whole address": (HOME, "chapter/#goals", "https://host.example/course/fr/chapter/#goals"),
    "root link with the path": (HOME, "chapter/#goals", "/course/fr/chapter/"),
    "image that adds nothing": (FRENCH, 'alt="Chapitre"', 'alt=""'),
    "picture inside the page": (
        HOME,
        ARTICLE,
        ARTICLE + '<img src="data:image/png;base64,x" alt="x">',
    ),
}


@pytest.mark.parametrize(("path", "old", "new"), GOOD.values(), ids=GOOD)
def test_a_rule_lets_good_pages_pass(problems_after, path, old, new):
    assert problems_after(path, old, new) == []


MOVED = """<!doctype html><html lang="fr" dir="ltr"><head><title>Déplacée</title>
<meta name="robots" content="noindex"><meta http-equiv="refresh" content="0; url=../chapter/">
</head><body><h1>Déplacée</h1><a href="../chapter/">Chapitre</a></body></html>"""


def test_a_redirect_is_not_a_page_of_the_course(problems_after):
    assert problems_after("fr/old/index.html", "", MOVED) == []


def test_a_problem_names_file_and_line(problems_after):
    found = problems_after(HOME, "chapter/#goals", "chapitre/")
    [problem] = [one for one in found if one.code == "link-dead"]
    assert problem.file.endswith("/fr/index.html")
    assert problem.line == 15
    assert "chapitre/" in problem.message


def test_without_an_address_nothing_may_pretend_to_have_one(problems_after):
    codes = {problem.code for problem in problems_after(address="")}
    assert codes == {"hreflang", "canonical", "og-image", "link-dead"}


LAG = '</h2>\n<p class="dabt-lag" data-section="goals">…</p>'


def test_what_lags_may_be_built_otherwise(problems_after):
    body = "<p>Chapitre <code>model.train()</code>"
    late = problems_after(FRENCH, f"</h2>\n{body}", f"{LAG}<figure></figure>{body}")
    assert late == []


def test_only_what_lags_may_be_built_otherwise(problems_after):
    changed = problems_after(FRENCH, "</h1>", f"</h1><figure></figure>{LAG[5:]}")
    assert {one.code for one in changed} == {"parity-figures"}


def test_a_section_that_is_said_to_be_missing_may_be_missing(problems_after):
    said = LAG.replace("goals", "extra")
    assert problems_after(FRENCH, "</form>", f'</form><h2 id="extra">Neuf{said}') == []
    assert problems_after(FRENCH, "</form>", '</form><h2 id="extra">Neuf</h2>') != []
