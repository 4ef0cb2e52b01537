"""What of a page is searched: sections and questions; never an answer, nothing that is hidden."""

from dabt.search.sections import Section, read_page

QUIZ = """<section class="dabt-quiz" id="lora" data-part="{part}"><p>Thirty questions</p>
<template>strings</template><form class="dabt-quiz__form">
<fieldset class="dabt-q" id="q-zero" data-question="zero">
<legend><span class="dabt-q__number">1</span> <span class="dabt-q__text">Why is <code>B</code>
zero?</span></legend><div class="dabt-q__body"><pre><code>print(1)</code></pre>
<ol><li>option</li></ol></div>
<details class="dabt-q__hint" data-search-exclude><p>hint</p></details>
<details class="dabt-q__answer" data-search-exclude><p>answer</p></details></fieldset>
</form></section>
"""


def sections(html: str, direction: str = "ltr") -> tuple[Section, ...]:
    return read_page(html, "a/b/", "a/b", "Title", direction).sections


def test_text_belongs_to_the_heading_above_it():
    html = (
        '<h1 id="b">Title<a class="headerlink">¶</a></h1><p>one</p><h2 id="c">More</h2><p>two</p>'
    )
    assert sections(html) == (Section("b", "Title", "one"), Section("c", "More", "two"))


def test_blocks_do_not_run_together():
    html = '<h1 id="b">T</h1><table><tr><td>one</td><td>two</td></tr></table><p>a<br>b</p>'
    assert sections(html)[0].text == "one two a b"


def test_code_is_found_and_not_quoted():
    html = '<h1 id="b">T</h1><div class="highlight"><span class="filename">train.py</span>'
    html += "<pre><code>model.train()</code></pre></div><p>then <code>loss</code></p>"
    assert sections(html)[0] == Section("b", "T", "then loss", "train.py model.train()")


def test_what_is_hidden_is_left_out():
    html = (
        '<h1 id="b">T</h1><div hidden>no</div><p data-search-exclude>no</p><svg>no</svg><p>yes</p>'
    )
    assert sections(html)[0].text == "yes"


def test_of_a_quiz_only_its_questions():
    found = sections(f'<h1 id="b">T</h1>{QUIZ.format(part="false")}<h2 id="c">After</h2>')
    assert found == (
        Section("q-zero", "Why is B zero?", kind="question"),
        Section("b", "T", "Thirty questions"),
        Section("c", "After"),
    )


def test_questions_that_a_chapter_repeats_are_those_of_the_quiz():
    assert sections(f'<h1 id="b">T</h1>{QUIZ.format(part="true")}') == (Section("b", "T"),)


def test_a_box_is_found_by_its_title_and_leads_to_its_section():
    box = "<details><summary>It fails</summary><p>why</p></details>"
    html = f'<h1 id="b">T</h1><h2 id="mistakes">Mistakes</h2>{box}{box}<p>more</p>'
    box = Section("mistakes", "It fails", "why", kind="box")
    assert sections(html)[1:] == (Section("mistakes", "Mistakes", "more"), box, box)


def test_code_keeps_its_own_direction_in_an_arabic_text():
    assert (
        sections('<h1 id="b">T</h1><p>ا <code>--x</code></p>', "rtl")[0].text == "ا \u2066--x\u2069"
    )
