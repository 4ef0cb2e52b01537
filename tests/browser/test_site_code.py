"""Code among Arabic letters is drawn in the order in which it is typed.

The bidirectional algorithm draws `model.train()` as `()model.train` inside Arabic text, and
neither the HTML nor axe shows it: only where the letters stand on the screen does.
"""

import pytest
from playwright.sync_api import Page

# Words whose first letter is not the leftmost, on the line where they stand.
SCRAMBLED = """(selector) => [...document.querySelectorAll(selector)].filter((element) => {
  const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = null;
  while (text.nextNode()) {
    const node = text.currentNode;
    for (let i = 0; i < node.length; i++) {
      if (/\\s/.test(node.data[i])) continue;
      const range = document.createRange();
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      const sameLine = before && Math.abs(box.top - before.top) < box.height / 2;
      if (sameLine && box.left < before.left - 0.5) return true;
      before = box;
    }
  }
  return false;
}).map((element) => element.textContent)"""
LATIN = "article :not(pre) > code, article kbd, article samp"


def scrambled(page: Page, selector: str) -> list[str]:
    """Return the code that is not drawn from left to right; code with Arabic letters may not be."""
    found = page.evaluate(SCRAMBLED, selector)
    return [text for text in found if not any("\u0600" <= letter <= "\u06ff" for letter in text)]


def test_inline_code_is_drawn_in_the_order_it_is_typed(page: Page, any_page):
    page.goto(any_page)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    assert scrambled(page, LATIN) == []


def test_lines_of_code_are_drawn_in_the_order_they_are_typed(page: Page, any_page):
    page.goto(any_page)
    assert scrambled(page, "article pre code > span") == []


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


def test_blocks_of_code_stand_on_the_left(page: Page, any_page):
    page.goto(any_page)
    wrong = page.evaluate(
        """() => [...document.querySelectorAll("article pre")].filter((pre) => {
          const style = getComputedStyle(pre);
          return style.direction !== "ltr" || !["left", "start"].includes(style.textAlign);
        }).map((pre) => pre.textContent.slice(0, 40))"""
    )
    assert wrong == []
