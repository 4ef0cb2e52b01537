"""The catalogue shows every element that the chapters use, so that its pictures show all of them."""

from collections.abc import Iterator

import pytest

from dabt.sitecheck import Site
from dabt.sitecheck.document import Document, Element

CATALOGUE = "contribute/catalogue/index.html"
# Pages of a kind of their own: tools/looks.py takes pictures of them, or they hold one thing only.
APART = ("index.html", "glossary/", "contribute/", "quizzes/", "progress/", "offline/")
# A list in a box is drawn otherwise than a list: what is around an element makes another kind.
AROUND = ("li", "td", "th", "dd", "summary", "figcaption", "blockquote", "h2", "h3")
INSIDE = ("a", "code", "em", "ol", "p", "pre", "strong", "table", "ul")
# Said by templates and by the state of translations; the names of the languages of code, which are drawn alike.
NO_KINDS = ("p.dabt-kicker", "p.dabt-lag", "form.dabt-finish", "p.dabt-notebook", "div.language-")


def kinds(document: Document) -> dict[str, Element]:
    """Return the kinds of elements of a page's text, each with its first element."""
    articles = [one for one in document.all("article") if "md-content__inner" in one.tokens("class")]
    found: dict[str, Element] = {}
    for element in document.elements:
        if any(article.holds(element) for article in articles):
            for name in names(document, element):
                found.setdefault(name, element)
    return found


def names(document: Document, element: Element) -> Iterator[str]:
    """Yield what an element is: its tag with each class, and its tag in what is around it."""
    around = list(document.ancestors(element.parent))
    # The colours of code are checked by tools/contrast.py.
    if element.tag == "span" and any(one.tag == "pre" for one in around):
        return
    yield element.tag
    yield from (f"{element.tag}.{name}" for name in element.tokens("class"))
    if element.tag in INSIDE:
        nearest = next((one for one in around if one.tag in AROUND), None)
        if nearest:
            yield f"{element.tag} in {nearest.tag}"
        if any(one.tag == "details" or "admonition" in one.tokens("class") for one in around):
            yield f"{element.tag} in a box"


@pytest.mark.parametrize("language", ["ar", "fr"])
def test_the_catalogue_holds_every_kind_of_element(site: Site, language):
    pages = [page for page in site.content_pages if page.language.code == language]
    (catalogue,) = (page for page in pages if page.key == CATALOGUE)
    shown = kinds(catalogue.document)
    missing = {
        name: f"{page.path}:{element.line}"
        for page in pages
        if not page.key.startswith(APART)
        for name, element in kinds(page.document).items()
        if name not in shown and not name.startswith(NO_KINDS)
    }
    assert not missing, "\n" + "\n".join(f"{name}: see {place}" for name, place in missing.items())
