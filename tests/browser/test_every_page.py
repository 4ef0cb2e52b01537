"""Every page in Chromium: nothing is missing, nothing is asked of others, nothing sticks out,
the keyboard reaches it, and code stands as it was typed."""

from playwright.sync_api import Page, TimeoutError

from tests.browser.drawn_order import scrambled
from tests.browser.weights import weigh

# Bytes over everything, fonts included, as tests/browser/weights.py counts them.
FIRST_VISIT = 140_000
REQUESTS = 14
WIDTHS = (320, 390, 1280)

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"

# The way to the element without which the page would fit. Boxes would not do: what sticks out may
# be a pseudo-element, and what lies outside may be meant to (the menu that slides in).
TOO_WIDE = """() => {
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  const fitsWithout = (element) => {
    const before = element.getAttribute("style");
    element.style.setProperty("display", "none", "important");
    const answer = fits();
    before === null ? element.removeAttribute("style") : element.setAttribute("style", before);
    return answer;
  };
  const way = [];
  let at = document.body;
  while ((at = [...at.children].find(fitsWithout))) way.push(at);
  return way.map((e) => e.tagName.toLowerCase() + [...e.classList].map((c) => `.${c}`).join(""));
}"""

# Labels of a drawing that leave it: they are cut off, and no other check sees it.
CUT_LABELS = """() => [...document.querySelectorAll(".dabt-figure svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  }).map((text) => text.textContent);
})"""

LATIN = "article :not(pre) > code, article kbd, article samp"
LINES = "article pre code > span"
NOT_ON_THE_LEFT = """() => [...document.querySelectorAll("article pre")].filter((pre) => {
  const style = getComputedStyle(pre);
  return style.direction !== "ltr" || !["left", "start"].includes(style.textAlign);
}).map((pre) => pre.textContent.slice(0, 40))"""

QUALITIES = {
    "shown": "it is not shown",
    "marked": "nothing marks the focus",
    "forward": "Tab goes back in the page",
}
STEPS = 60
# What has the focus may show it on the label or the row around it. Order is judged step by step.
FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body || e === window.first) return null;
  window.first ??= e;
  const forward = !window.before || window.before.compareDocumentPosition(e) & 4;
  window.before = e;
  const around = [e, e.closest("label"), e.closest("li")].filter(Boolean).map(getComputedStyle);
  const box = e.getBoundingClientRect();
  return {
    name: `${e.tagName.toLowerCase()}.${e.className}#${e.id} ${e.textContent.trim().slice(0, 30)}`,
    marked: around.some((style) => style.boxShadow !== "none"
      || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)),
    shown: box.width > 0 && box.height > 0 && getComputedStyle(e).visibility === "visible",
    forward: Boolean(forward),
  };
}"""

MARKS_LEFT = "[...document.querySelectorAll('pre')].some(e => /\\(\\d+\\)!/.test(e.textContent))"
NOTES_ASTRAY = """[...document.querySelectorAll(".dabt-note")].filter(
  (e) => !e.ariaLabel || !e.popoverTargetElement?.textContent.trim()).length"""


def test_a_page_holds_together(page: Page, site_address, site_folder, any_page):
    """One visit, since a load costs more than all of these questions; each fault is told."""
    asked, failed, said = [], [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda r: failed.append((r.status, r.url)) if r.status >= 400 else None)
    page.on("console", lambda m: said.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.emulate_media(reduced_motion="reduce")
    answer = page.goto(any_page)
    assert answer and answer.status == 200
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_load_state("networkidle")
    foreign = [url for url in asked if is_foreign(url, site_address)]
    assert (foreign, failed, said) == ([], [], [])
    faults = [
        # The catalogue holds a quiz and the calculator: no reader's page does.
        *([] if "catalogue" in any_page else too_heavy(weigh(asked, site_address, site_folder))),
        *wrong_direction(page, any_page),
        *wrong_switch(page, any_page, site_address),
        *unfinished_annotations(page),
        *faults_of_code(page),
        *(fault for width in WIDTHS for fault in faults_of_layout(page, width)),
        *faults_of_focus(page),
    ]
    assert not faults, "\n" + "\n".join(faults)


def is_foreign(url: str, site_address: str) -> bool:
    return not url.startswith((site_address, "data:", "blob:"))


def too_heavy(weights: dict[str, int]) -> list[str]:
    """Compare a first visit, read to the end, with what it may cost."""
    total = sum(weights.values())
    return [
        *([f"{total} bytes, more than {FIRST_VISIT}: {weights}"] if total > FIRST_VISIT else []),
        *([f"{len(weights)} requests: {list(weights)}"] if len(weights) > REQUESTS else []),
    ]


def wrong_direction(page: Page, url: str) -> list[str]:
    wanted = ("fr", "ltr") if url.startswith("fr/") else ("ar", "rtl")
    direction = page.locator("article").evaluate("e => getComputedStyle(e).direction")
    found = (page.evaluate("document.documentElement.lang"), direction)
    return [] if found == wanted else [f"language and direction are {found}, not {wanted}"]


def unfinished_annotations(page: Page) -> list[str]:
    """The build turns `# (1)!` into buttons; one without its explanation is a defect."""
    astray = page.evaluate(NOTES_ASTRAY)
    return [
        *(
            ["a mark such as (1)! stayed text in a block of code"]
            if page.evaluate(MARKS_LEFT)
            else []
        ),
        *([f"{astray} buttons in code without a name or an explanation"] if astray else []),
    ]


def wrong_switch(page: Page, url: str, site_address: str) -> list[str]:
    """Compare the switch of languages with the address of the same page in the other one."""
    in_french = url.startswith("fr/")
    other = url.removeprefix("fr/") if in_french else f"fr/{url}"
    link = page.locator(f"header a[hreflang={'ar' if in_french else 'fr'}]")
    leads = link.evaluate("a => a.href")
    return [] if leads == site_address + other else [f"the switch of languages leads to {leads}"]


def faults_of_code(page: Page) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    return [
        *(f"inline code drawn in another order: {text}" for text in scrambled(page, LATIN)),
        *(f"line of code drawn in another order: {text}" for text in scrambled(page, LINES)),
        *(f"block of code not on the left: {text}" for text in page.evaluate(NOT_ON_THE_LEFT)),
    ]


def faults_of_focus(page: Page) -> list[str]:
    """Press Tab through the page; return where the focus goes back, is unseen or unmarked."""
    page.evaluate("() => { document.activeElement.blur(); window.scrollTo(0, 0); }")
    seen = []
    for _ in range(STEPS):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found is None:
            break
        seen.append(found)
    few = [f"Tab finds {len(seen)} elements only"] if len(seen) <= 5 else []
    lacks = [(one["name"], quality) for one in seen for quality in QUALITIES if not one[quality]]
    return [*few, *(f"focus on {name}: {QUALITIES[quality]}" for name, quality in lacks)]


def faults_of_layout(page: Page, width: int) -> list[str]:
    """Set a width; return what sticks out of the page and what is cut off in its drawings."""
    page.set_viewport_size({"width": width, "height": 800})
    faults = []
    try:
        page.wait_for_function(FITS, timeout=2000)
    except TimeoutError:
        faults.append(f"too wide at {width} px: {' > '.join(page.evaluate(TOO_WIDE))}")
    cut = page.evaluate(CUT_LABELS)
    return [*faults, *(f"label cut off at {width} px: {text}" for text in cut)]
