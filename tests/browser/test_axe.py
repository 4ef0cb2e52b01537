"""axe-core on every page in both languages: light on a phone, dark at a desk.

Pages of each kind (KINDS) are seen light and dark at both widths: what depends on the pair of
scheme and width is in the theme and in the parts of a kind, not in the text of a page.

axe takes joined Arabic letters for an icon font and skips their contrast: pale grey Arabic passes.
While it runs, `measureText` answers so that no text looks like a ligature; that the two languages
then have about as many nodes checked is a test too.

What is known and accepted stands in axe_baseline.yml, dated, with a reason. An entry that is no
longer needed fails, so that the list only gets shorter.
"""

from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path

import yaml
from playwright.sync_api import Page

from tests.browser.conftest import page_keys

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
BASELINE = Path(__file__).with_name("axe_baseline.yml")
VIEWS = (("light", 390), ("dark", 1280))
ALL_VIEWS = (*VIEWS, ("dark", 390), ("light", 1280))
KINDS = ("", "full/compute-requirements/", "quizzes/lora/", "glossary/")
# The pages of a pair hold the same elements, so about as many of them hold text.
ALIKE = 0.8
NEUTRAL = """() => { CanvasRenderingContext2D.prototype.measureText =
  (text) => ({width: 30 * text.length}); }"""
# Naming every node that passed costs a third of the time: only where they are counted.
RUN = """async (counted) => {
  const options = {rules: {"target-size": {enabled: true}}};
  if (!counted) options.resultTypes = ["violations"];
  const found = await axe.run(document, options);
  const nodes = (list) => list.filter((r) => r.id === "color-contrast").flatMap((r) => r.nodes);
  return {
    contrast: nodes(found.passes).length + nodes(found.violations).length,
    violations: found.violations.flatMap((rule) => rule.nodes.map((node) => ({
      rule: rule.id, target: node.target.flat().join(" "), summary: node.failureSummary,
    }))),
  };
}"""


@dataclass(frozen=True)
class Known:
    """An accepted violation: a page, a rule, and a part of the selector of the element."""

    page: str
    rule: str
    target: str

    def covers(self, page: str, violation: dict) -> bool:
        return (
            self.page == page
            and self.rule == violation["rule"]
            and self.target in violation["target"]
        )


def baseline() -> list[Known]:
    """Return the accepted violations; each must say since when and why."""
    entries = yaml.safe_load(BASELINE.read_text("utf-8")) or []
    for entry in entries:
        assert entry.get("since") and entry.get("reason"), f"no date or no reason: {entry}"
    return [Known(one["page"], one["rule"], one["target"]) for one in entries]


def test_axe_finds_nothing_new_and_nothing_is_accepted_in_vain(new_context, prefixes, any_key):
    known = [one for one in baseline() if one.page in {p + any_key for p in prefixes.values()}]
    used, fresh, contrast = set(), [], {}
    kind = any_key in KINDS
    views = ALL_VIEWS if kind else VIEWS
    for prefix, (scheme, width) in product(prefixes.values(), views):
        url = prefix + any_key
        found = run_axe(new_context, url, scheme, width, counted=kind)
        if kind:
            contrast.setdefault((scheme, width), []).append(found["contrast"])
        for violation in found["violations"]:
            covering = {one for one in known if one.covers(url, violation)}
            used |= covering
            if not covering:
                fresh.append(f"{url} {scheme} {width} px: {describe(violation)}")
    assert not fresh, "\n" + "\n".join(fresh)
    assert set(known) == used, "in axe_baseline.yml, but no longer needed: delete it"
    for where, counts in contrast.items():
        assert min(counts) >= ALIKE * max(counts), f"contrast checked at {where}: {counts} nodes"


def test_each_kind_is_a_page_of_the_course():
    assert set(KINDS) <= set(page_keys())


def test_axe_sees_pale_arabic_text(page: Page):
    page.goto("about/")
    page.evaluate(
        """() => {
          const pale = document.createElement("p");
          pale.id = "pale";
          pale.style.color = "#c8c8c8";
          pale.textContent = "هذا نص عربي باهت لا يكاد يُقرأ";
          document.querySelector("article").append(pale);
        }"""
    )
    found = [(one["rule"], one["target"]) for one in run_axe_on(page)["violations"]]
    assert ("color-contrast", "#pale") in found


def describe(violation: dict) -> str:
    return f"{violation['rule']}: {violation['target']}\n  {violation['summary']}"


def run_axe(new_context, url: str, scheme: str, width: int, counted: bool) -> dict:
    """Open a page, with everything that opens opened, and run axe on it."""
    page: Page = new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
    ).new_page()
    page.goto(url)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    found = run_axe_on(page, counted)
    page.context.close()
    return found


def run_axe_on(page: Page, counted: bool = True) -> dict:
    """Run axe on a page as it is; `counted`: the number of nodes whose contrast was judged too."""
    page.evaluate(NEUTRAL)
    page.evaluate(AXE)
    return page.evaluate(RUN, counted)
