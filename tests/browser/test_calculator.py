"""The memory calculator: the same bytes as Python's, and a form that anybody can use."""

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from shutil import copytree

import pytest
from playwright.sync_api import Browser, Page, expect

from dabt.calculator import read_calculator, render_calculator
from dabt.directives import Place
from dabt.languages import direction, load_languages
from dabt.ui import load_ui
from memory import OPTIMIZERS, PRESETS, Budget, Run, Shape, predict
from memory.predict import METHODS, PRECISIONS
from tests.browser.test_axe import AXE, NEUTRAL, RUN
from tools.host import served
from tools.stages import ROOT

LANGUAGES = load_languages(ROOT / "docs/_data/languages.yml")
DATA = read_calculator(ROOT / "examples")
PAGE = """<!doctype html><html lang="{code}" dir="{direction}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>essai</title>
<link rel="stylesheet" href="assets/site.css"><link rel="stylesheet" href="assets/calculator.css">
<style>body {{ margin: 1em; background: var(--dabt-paper); color: var(--dabt-ink) }}</style></head>
<body><main class="md-typeset"><h1>essai</h1>{html}</main>
<script src="assets/calculator.js"></script></body></html>"""
SUMS = ("static", "at_loss", "at_step", "total")
both = pytest.mark.parametrize("language", [one.code for one in LANGUAGES])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site of two pages, each with the calculator and nothing else."""
    folder = tmp_path_factory.mktemp("calculator")
    copytree(ROOT / "docs/assets", folder / "assets")
    ui = load_ui(ROOT / "docs/_data", LANGUAGES)
    for one in LANGUAGES:
        html = render_calculator("memory", Place("page.md", 1, one.code), DATA, ui)
        text = PAGE.format(code=one.code, direction=direction(one.code), html=html)
        (folder / f"{one.code}.html").write_text(text, encoding="utf-8")
    with served(folder) as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(base_url=address, viewport={"width": 390, "height": 844})
    yield context.new_page()
    context.close()


def open_calculator(page: Page, language: str, query: str = "") -> None:
    page.goto(f"{language}.html{query}")
    page.locator(".dabt-calc form").wait_for()


def field(page: Page, name: str):
    return page.locator(f"#memory-{name}")


def answer(page: Page) -> str:
    return page.locator(".dabt-calc__answer").inner_text()


# The formulas


def cases(count: int = 400) -> list[tuple[dict, Run]]:
    """Settings drawn with a fixed seed; a third have a shape of their own."""
    draw = random.Random(0)
    found = []
    for at in range(count):
        gpus = draw.choice((1, 2, 3, 7, 8, 64, 1000))
        settings = {
            "method": draw.choice(METHODS),
            "precision": draw.choice(PRECISIONS),
            "optimizer": draw.choice(tuple(OPTIMIZERS)),
            "rows": draw.choice((1, 2, 5, 32)),
            "length": draw.choice((1, 17, 512, 2048, 32_768)),
            "recompute": draw.random() < 0.5,
            "accumulate": draw.random() < 0.5,
            "gpus": gpus,
            "shards": draw.randrange(4) if gpus > 1 else 0,
            "rank": draw.choice((1, 8, 16, 333)),
        }
        model = draw.choice(tuple(PRESETS))
        shape, asked = PRESETS[model], {"model": model}
        if at % 3 == 0:
            shape = draw_shape(draw)
            asked = {"model": "custom", **asdict(shape)}
        found.append((asked | settings, Run(shape, **settings)))
    return found


def draw_shape(draw: random.Random) -> Shape:
    key_heads = draw.choice((1, 2, 3, 8))
    sizes = [draw.randrange(1, 9000) for _ in range(2)]
    layers, size = draw.randrange(1, 90), draw.randrange(1, 300)
    return Shape(*sizes, layers, 3 * key_heads, key_heads, size, draw.randrange(1, 300_000),
                 tied=draw.random() < 0.5)  # fmt: skip


def expected(budget: Budget) -> dict[str, int]:
    parts = asdict(budget)
    del parts["accumulate"]
    return parts | {name: getattr(budget, name) for name in SUMS}


def test_the_bytes_are_those_of_python(page: Page) -> None:
    open_calculator(page, "fr")
    asked = cases()
    call = (
        "([data, all]) => all.map((one) => [dabtMemory.predict(data, one), "
        "Object.keys(dabtMemory.check(data, one)).length])"
    )
    found = page.evaluate(call, [DATA, [one for one, _ in asked]])
    for (settings, run), (bytes_, faults) in zip(asked, found, strict=True):
        assert faults == 0, settings
        assert bytes_ == expected(predict(run)), settings


def test_whole_numbers_stay_whole_where_division_rounds(page: Page) -> None:
    open_calculator(page, "fr")
    shape = replace(PRESETS["llama-3.1-8b"], layers=512, hidden=65_535, feed_forward=524_287)
    run = Run(shape, gpus=4093, shards=3, rows=1, length=511)
    settings = asdict(run) | {"model": "custom"} | asdict(shape)
    found = page.evaluate("([data, one]) => dabtMemory.predict(data, one)", [DATA, settings])
    assert found == expected(predict(run))


# The form


@both
def test_the_answer_follows_the_settings_and_so_does_the_address(page: Page, language) -> None:
    open_calculator(page, language)
    before = answer(page)
    field(page, "method").select_option("qlora")
    field(page, "rank").fill("64")
    page.wait_for_url("**?*method=qlora*rank=64*")
    after = answer(page)
    total = predict(Run(PRESETS["llama-3.1-8b"], method="qlora", rank=64)).total
    point = "," if language == "fr" else "."
    assert f"{total / 2**30:.1f}".replace(".", point) in after
    assert f"{total / 1e9:.1f}".replace(".", point) in after
    shared = page.locator(".dabt-calc__link").get_attribute("href")
    page.goto("about:blank")
    page.goto(shared)
    assert answer(page) == after and field(page, "rank").input_value() == "64"
    page.locator(".dabt-calc__reset").click()
    expect(page.locator(".dabt-calc__answer")).to_have_text(before)
    assert "?" not in page.url and field(page, "rank").is_hidden()


@both
def test_an_impossible_setting_is_explained_at_its_field(page: Page, language) -> None:
    open_calculator(page, language)
    field(page, "shards").select_option("3")
    fault = page.locator("#memory-shards-fault")
    expect(fault).to_be_visible()
    expect(field(page, "shards")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".dabt-calc__result")).to_be_hidden()
    field(page, "gpus").fill("2")
    expect(fault).to_be_hidden()
    expect(page.locator(".dabt-calc__sharding")).to_be_visible()
    field(page, "gpus").fill("")
    expect(page.locator("#memory-gpus-fault")).to_contain_text("4096")
    field(page, "gpus").fill("2")
    field(page, "model").select_option("custom")
    field(page, "key_heads").fill("3")
    expect(page.locator("#memory-key_heads-fault")).to_contain_text("32")


def test_a_strange_address_is_the_default(page: Page) -> None:
    open_calculator(page, "ar")
    plain = answer(page)
    query = "?model=%3Cb%3E&rows=-1&length=1e9&method=magic&recompute=yes&recompute=1&gpus="
    open_calculator(page, "ar", query)
    field(page, "recompute").check()
    expect(page.locator(".dabt-calc__answer")).to_have_text(plain)


def test_parts_add_up_and_are_told_in_words(page: Page) -> None:
    for query in ("", "?accumulate=0", "?accumulate=0&rows=8&length=4096"):
        open_calculator(page, "fr", query)
        rows = page.locator(".dabt-calc__parts tr")
        pieces = page.locator(".dabt-calc__bar > i")
        assert rows.count() == pieces.count() > 3
        percents = [int(one.split()[0].rstrip("%\u202f\u00a0")) for one in
                    page.locator(".dabt-calc__parts td:last-child").all_inner_texts()]  # fmt: skip
        assert abs(sum(percents) - 100) <= 3


@both
def test_by_keyboard_alone(page: Page, language: str) -> None:
    open_calculator(page, language)
    before = answer(page)
    field(page, "model").focus()
    reached = []
    for _ in range(12):
        reached.append(
            page.evaluate("document.activeElement.name ?? document.activeElement.className")
        )
        if reached[-1] == "rows":
            page.keyboard.press("ArrowUp")
        page.keyboard.press("Tab")
    assert reached[:3] == ["model", "method", "precision"]
    assert {"length", "rows", "recompute", "gpus", "shards"} <= set(reached)
    expect(page.locator(".dabt-calc__answer")).not_to_have_text(before)
    assert field(page, "rows").input_value() == "2"


@both
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_it_fits_and_axe_is_content(page: Page, language: str, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_calculator(page, language, "?model=custom&method=lora&gpus=8&shards=2")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(NEUTRAL)
    page.evaluate(AXE)
    assert page.evaluate(RUN, False)["violations"] == []


def test_without_a_script_the_table_is_there(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("ar.html")
    expect(page.locator(".dabt-calc form")).to_be_hidden()
    assert page.locator(".dabt-calc__table tbody tr:visible").count() == len(PRESETS)
    context.close()


def test_the_status_is_not_chatty(page: Page) -> None:
    """Typing four digits is told once."""
    open_calculator(page, "fr")
    page.evaluate(
        """() => { window.told = 0; new MutationObserver(() => { window.told += 1; })
        .observe(document.querySelector(".dabt-calc__answer"), {childList: true}); }"""
    )
    field(page, "length").fill("")
    field(page, "length").press_sequentially("2048")
    page.wait_for_url("**?*length=2048*")
    assert page.evaluate("window.told") == 1
