"""Code that no page has yet is drawn in the order in which it is typed, too."""

import pytest
from playwright.sync_api import Page

from tests.browser.drawn_order import scrambled


@pytest.mark.parametrize("code", ["model.train()", "--tiny", "(1 + 2) * 3", "C++", ".env"])
def test_any_code_in_an_arabic_sentence(page: Page, code):
    """The style sheet serves words that no page has yet; and this measure sees what it removes."""
    page.goto("about/")
    page.evaluate(
        """(code) => {
          const p = document.createElement("p");
          p.textContent = "نكتب ";
          const word = document.createElement("code");
          word.id = "tried";
          word.textContent = code;
          p.append(word, " في البرنامج");
          document.querySelector("article").append(p);
        }""",
        code,
    )
    assert scrambled(page, "#tried") == []
    page.add_style_tag(
        content="#tried { direction: inherit !important; unicode-bidi: normal !important }"
    )
    assert scrambled(page, "#tried") == [code]
