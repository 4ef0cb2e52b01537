"""Latin names with hyphens are kept whole; code, links and long texts are left as they are."""

import pytest
from markdown import markdown

from dabt.names import WholeNamesExtension, titles_with_code, with_breaks


def render(text: str) -> str:
    return markdown(text, extensions=[WholeNamesExtension(), "attr_list"])


@pytest.mark.parametrize(
    "name", ["few-shot", "Qwen2.5-0.5B", "SmolLM2-135M", "pre-training", "CC-BY-SA-4.0", "T5-a-b"]
)
def test_a_name_is_wrapped(name: str) -> None:
    assert f'(<span class="dabt-name">{name}</span>)، ثم' in render(f"مثال ({name})، ثم")


def test_the_full_stop_after_a_name_is_not_part_of_it() -> None:
    assert '<span class="dabt-name">few-shot</span>.' in render("مثال few-shot.")


@pytest.mark.parametrize(
    "text",
    [
        "`few-shot`",
        "[نص](../few-shot/a-b.md)",
        "<https://few-shot.example/a-b>",
        "a - b",
        "2-3",
        "--tiny-model",
        "a/b-c",
        "x" * 20 + "-" + "y" * 20,
        '<b data-one="two-three">نص</b>',
    ],
)
def test_what_is_no_name_is_left(text: str) -> None:
    assert "dabt-name" not in render(text)


def test_a_heading_keeps_its_id() -> None:
    assert render("## عن few-shot { #about }").startswith('<h2 id="about">')


@pytest.mark.parametrize(
    "measure", ["16 GB", "7.4 GiB", "900 GB/s", "1,024 MB", "-100", "−3.5%", "2026-11-30"]
)
def test_a_number_keeps_its_unit_and_its_sign(measure: str) -> None:
    assert f'(<span class="dabt-name dabt-ltr">{measure}</span>)،' in render(f"نحو ({measure})، ثم")


@pytest.mark.parametrize("text", ["A100 80 GB", "3 أمثلة", "2026-11", "3-10", "1e-5", "`16 GB`"])
def test_other_numbers_are_left(text: str) -> None:
    assert "dabt-ltr" not in render(f"ثم {text} ثم")


def test_long_code_breaks_behind_its_signs_only() -> None:
    html = "<code>per_device_train_batch_size</code>"
    assert with_breaks(html) == "<code>per_<wbr>device_<wbr>train_<wbr>batch_<wbr>size</code>"


def test_an_option_keeps_its_hyphens() -> None:
    html = "<code>--model Qwen/Qwen3-4B-Base</code>"
    whole = '<span class="dabt-whole">--model</span>'
    assert with_breaks(html) == f"<code>{whole} Qwen/<wbr>Qwen3-<wbr>4B-<wbr>Base</code>"


@pytest.mark.parametrize(
    "html",
    [
        "<code>a.b.c</code>",
        "<code>levers0123456789.py</code>",
        "<code>16 × 0.494e9 + 7.9 GB</code>",
        '<code class="dabt-whole">torch.optim.AdamW(lr)</code>',
        "<code>&lt;|im_start|&gt;</code>",
        "<pre><code>torch.optim.AdamW(lr)</code></pre>",
        "torch.optim.AdamW",
        '<code class="dabt-whole">total / math.log(2) / size</code>',
        "<code>0.60 / 0.40 + 1.70 = 3.20</code>",
    ],
)
def test_other_code_has_no_breaks(html: str) -> None:
    assert with_breaks(html) == html


def test_a_title_in_the_contents_keeps_its_code_and_nothing_else() -> None:
    end = '<a class="headerlink" href="#x">¶</a>'
    html = (
        f'<h2 id="a">مع <em>الخيار</em> <code>--tiny</code>{end}</h2><h3 id="b">بلا شيفرة{end}</h3>'
    )
    assert titles_with_code(html) == {"a": "مع الخيار <code>--tiny</code>"}
