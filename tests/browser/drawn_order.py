"""Where the letters of code stand on the screen.

The bidirectional algorithm draws `model.train()` as `()model.train` inside Arabic text, and
neither the HTML nor axe shows it.
"""

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


def scrambled(page: Page, selector: str) -> list[str]:
    """Return the code that is not drawn from left to right; code with Arabic letters may not be."""
    found = page.evaluate(SCRAMBLED, selector)
    return [text for text in found if not any("\u0600" <= letter <= "\u06ff" for letter in text)]
