"""The head of a page, from its template: what a title or a description holds stays text."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from jinja2 import ChoiceLoader, DictLoader, Environment, FileSystemLoader

from dabt.sitecheck.document import Document, read

OVERRIDES = Path(__file__).parents[2] / "overrides"
BASE = "{% block site_meta %}{% endblock %}{% block htmltitle %}{% endblock %}"
LANGUAGE = SimpleNamespace(code="fr", direction="ltr", default=True)


def render_head(title: str, description: str) -> Document:
    """Render the head as MkDocs does: nothing is escaped unless the template says so."""
    loader = ChoiceLoader([DictLoader({"base.html": BASE}), FileSystemLoader(OVERRIDES)])
    environment = Environment(loader=loader)
    environment.filters["url"] = str
    page = SimpleNamespace(
        title=title,
        meta=SimpleNamespace(description=description),
        canonical_url="https://a.example/b/",
    )
    config = SimpleNamespace(site_url="https://a.example/", site_name=title, site_description="")
    html = environment.get_template("main.html").render(
        page=page,
        config=config,
        dabt_language=LANGUAGE,
        dabt_languages=[LANGUAGE],
        dabt_addresses={"fr": "b/"},
        text=lambda key, **_: f'"{key}" & <b>',
    )
    return read(html)


@pytest.mark.parametrize("words", ['Un "mot"', "a < b && c", "l'eau &quot;x", "«ضبط» <b>"])
def test_quotes_and_signs_end_no_attribute(words: str) -> None:
    document = render_head("T", words)
    metas = {
        one.get("name") or one.get("property"): one.get("content") for one in document.all("meta")
    }
    assert metas["description"] == metas["og:description"] == words
    assert metas["og:image:alt"] == '"site.card" & <b>'


def test_a_title_with_code_is_the_same_text_everywhere() -> None:
    document = render_head('Les "poids" &amp; <code>List&lt;T&gt;</code>', "d")
    (card,) = (one for one in document.all("meta") if one.get("property") == "og:title")
    (title,) = document.all("title")
    assert card.get("content") == 'Les "poids" & List<T>'
    assert document.text_of(title).startswith('Les "poids" & List<T> · ')
