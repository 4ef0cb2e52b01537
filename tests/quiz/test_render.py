"""Quizzes as HTML: what a reader gets, with and without the script."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dabt.course import QuizRenderer, read_course
from dabt.directives import Place
from dabt.problems import DabtError, report
from dabt.quiz import formula
from dabt.quiz.inline import to_html
from dabt.quiz.order import ordered_items, ordered_options
from dabt.sitecheck.document import Document, Element, read

Render = Callable[..., Document]


@pytest.fixture
def render(course: Path) -> Render:
    def rendered(language: str = "fr", argument: str = "lora") -> Document:
        found, problems = read_course(course / "docs")
        assert not problems, report(problems)
        place = Place("x.md", 1, language, "quizzes/lora.md")
        return read(QuizRenderer(found)(argument, place))

    return rendered


def question(document: Document, name: str) -> Element:
    return next(q for q in document.with_class("dabt-q") if q.get("data-question") == name)


def inside(document: Document, element: Element, name: str) -> list[Element]:
    return [found for found in document.with_class(name) if element.holds(found)]


def texts(document: Document, element: Element, name: str) -> list[str]:
    return [document.text_of(found) for found in inside(document, element, name)]


@pytest.mark.parametrize(("language", "way"), [("fr", "ltr"), ("ar", "rtl")])
def test_section(render: Render, language: str, way: str) -> None:
    document = render(language)
    (section,) = document.with_class("dabt-quiz")
    assert (section.tag, section.index) == ("section", 0)
    assert (section.get("lang"), section.get("dir")) == (language, way)
    assert section.get("id") == "quiz-lora"
    assert section.get("data-part") == "false"
    assert section.get("aria-labelledby") in document.ids
    kinds = [q.get("data-type") for q in document.with_class("dabt-q")]
    assert kinds == ["single", "numeric", "truefalse", "order", "output", "multiple"]
    assert [document.text_of(n) for n in document.with_class("dabt-q__number")] == list("123456")


@pytest.mark.parametrize("language", ["fr", "ar"])
def test_no_id_and_no_field_name_twice(render: Render, language: str) -> None:
    document = render(language)
    ids = [element.get("id") for element in document.elements if element.get("id")]
    assert len(ids) == len(set(ids))
    names = {
        (element.get("name"), q.get("id"))
        for q in document.with_class("dabt-q")
        for element in document.all("input", "select")
        if q.holds(element)
    }
    assert len({name for name, _ in names}) == len(names)


def test_options_have_letters_of_the_language_and_the_order_is_the_same(render: Render) -> None:
    french, arabic = render("fr"), render("ar")
    shown = {}
    for document, letters in ((french, "ABC"), (arabic, "أبج")):
        q = question(document, "saved")
        options = inside(document, q, "dabt-q__option")
        assert [texts(document, option, "dabt-q__letter") for option in options] == [
            [letter] for letter in letters
        ]
        shown[letters] = [option.get("data-option") for option in options]
        right = {
            option.get("data-option") for option in options if "data-right" in option.attributes
        }
        assert right == {"1", "2"}
        boxes = [e for e in document.all("input") if q.holds(e)]
        assert {(e.get("type"), e.get("name")) for e in boxes} == {("checkbox", "q-saved")}
        assert [e.get("value") for e in boxes] == shown[letters]
    assert shown["ABC"] == shown["أبج"]


def test_answers_are_readable_without_a_script(render: Render) -> None:
    document = render("fr")
    answers = {
        q.get("data-question"): document.text_of(inside(document, q, "dabt-q__answer")[0])
        for q in document.with_class("dabt-q")
    }
    assert "Deux matrices" in answers["trained-weights"]
    assert "Il reste gelé." in answers["trained-weights"]
    assert "16 Go (à 0,5 près)" in answers["rank"]
    assert "Vrai" in answers["frozen"]
    assert answers["steps"].index("Passe avant") < answers["steps"].index("Mise à jour")
    assert "1.9" in answers["printed"]
    assert "Les matrices" in answers["saved"] and "La configuration" in answers["saved"]
    for element in document.with_class("dabt-q__answer"):
        assert element.tag == "details" and "data-search-exclude" in element.attributes
        assert "open" not in element.attributes
    for name in ("dabt-q__actions", "dabt-quiz__actions", "dabt-quiz__tools"):
        found = list(document.with_class(name))
        assert found and all("hidden" in element.attributes for element in found), name


def test_numeric_field(render: Render) -> None:
    for language, unit in (("fr", "Go"), ("ar", "GB")):
        document = render(language)
        (field,) = inside(document, question(document, "rank"), "dabt-q__number-input")
        assert (field.get("data-value"), field.get("data-tolerance")) == ("16", "0.5")
        assert (field.get("data-unit"), field.get("dir")) == (unit, "ltr")
        assert (field.get("type"), field.get("inputmode")) == ("text", "decimal")


def test_order_has_a_select_of_places_for_each_item(render: Render) -> None:
    document = render("fr")
    q = question(document, "steps")
    lists = inside(document, q, "dabt-q__order")
    items = list(document.children(lists[0]))
    assert sorted(item.get("data-position") for item in items) == ["1", "2", "3"]
    assert [item.get("data-position") for item in items] != ["1", "2", "3"]
    for item in items:
        (select,) = (e for e in document.children(item) if e.tag == "select")
        choices = [document.text_of(e) for e in document.children(select)]
        assert choices == ["Place", "1", "2", "3"]
        assert select.get("aria-label")


def test_review_link_and_title(render: Render) -> None:
    for language, title in (("fr", "L'idée de LoRA"), ("ar", "الفكرة")):
        document = render(language)
        q = question(document, "trained-weights")
        (line,) = inside(document, q, "dabt-q__review")
        (link,) = (e for e in document.all("a") if line.holds(e))
        assert (link.get("href"), document.text_of(link)) == ("../../peft/lora/#idea", title)
        assert not inside(document, question(document, "rank"), "dabt-q__review")


def test_bands_table(render: Render) -> None:
    document = render("fr")
    (table,) = document.with_class("dabt-quiz__bands")
    rows = [e for e in document.all("tr") if table.holds(e) and e.get("data-from")]
    assert [row.get("data-from") for row in rows] == ["80", "0"]
    cells = [[document.text_of(cell) for cell in document.children(row)] for row in rows]
    assert cells == [["80\u202f%", "de 5 à 6", "Bien"], ["0\u202f%", "de 0 à 4", "À revoir"]]


def test_a_band_that_no_result_reaches_says_so(course: Path, render: Render) -> None:
    path = course / "docs" / "_data" / "quizzes" / "lora.yml"
    text = path.read_text(encoding="utf-8")
    band = "  - {from: 99%, label: {fr: Presque, ar: تقريبًا}}\n"
    whole = band.replace("99", "100")
    path.write_text(text.replace("bands:\n", f"bands:\n{whole}{band}"), encoding="utf-8")
    document = render("fr")
    (table,) = document.with_class("dabt-quiz__bands")
    rows = [e for e in document.all("tr") if table.holds(e) and e.get("data-from")]
    cells = [document.text_of(list(document.children(row))[1]) for row in rows]
    assert cells == ["6", "–", "5", "de 0 à 4"]


def test_key_for_print(render: Render) -> None:
    document = render("ar")
    (table,) = document.with_class("dabt-quiz__key")
    assert "hidden" in table.attributes and "data-search-exclude" in table.attributes
    rows = [e for e in document.all("tr") if table.holds(e)][1:]
    cells = [[document.text_of(cell) for cell in document.children(row)] for row in rows]
    assert [cell[0] for cell in cells] == list("123456")
    assert cells[1][1] == "16"
    assert cells[3][1].startswith("التمرير الأمامي")
    assert set(cells[5][1].split()) < set("أبج")


def test_quick_check_shows_the_chosen_questions_in_their_order(render: Render) -> None:
    document = render("fr", "lora#rank,frozen")
    assert [q.get("id") for q in document.with_class("dabt-q")] == ["q-rank", "q-frozen"]
    (section,) = document.with_class("dabt-quiz")
    assert (section.get("data-part"), section.get("id")) == ("true", "quiz-lora-rank")
    for name in ("dabt-quiz__bands", "dabt-quiz__key", "dabt-quiz__tools", "dabt-quiz__submit"):
        assert not list(document.with_class(name)), name
    assert document.text_of(next(document.with_class("dabt-quiz__how"))).startswith("2 questions")


def test_strings_of_the_script_are_json_with_all_plural_forms(render: Render) -> None:
    document = render("ar")
    (template,) = document.with_class("dabt-quiz__strings")
    strings = json.loads(document.text_of(template))
    assert set(strings["score"]) == {"zero", "one", "two", "few", "many", "other"}
    assert strings["right"] == "إجابة صحيحة."
    assert "data-search-exclude" in template.attributes


TYPED = ["List<T>", "a < b && c", "</script>", "&amp;", "\"x\" 'y'", "<b>", "{{ x }}", "\\n"]


@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize("language", ["fr", "ar"])
def test_texts_come_out_as_typed(
    typed: str, language: str, render: Render, spoil: Callable[[str, str], None]
) -> None:
    quoted = "'" + typed.replace("'", "''") + "'"
    spoil("{fr: Tout le modèle, ar: النموذج كله}", f"{{fr: {quoted}, ar: {quoted}}}")
    spoil("{fr: Il reste gelé., ar: يبقى مجمّدًا.}", f"{{fr: {quoted}, ar: {quoted}}}")
    spoil("print(2.0 - 0.1)", f"print(2.0 - 0.1)  # {typed}")
    document = render(language)
    q = question(document, "trained-weights")
    assert typed in texts(document, q, "dabt-q__label")
    assert texts(document, q, "dabt-q__why") == [typed]
    (code,) = inside(document, question(document, "printed"), "dabt-q__code")
    assert document.text_of(code).strip() == f"print(2.0 - 0.1)  # {typed}"


def test_attributes_come_out_as_typed(
    course: Path, render: Render, spoil: Callable[[str, str], None]
) -> None:
    typed = '"a" < <b> &amp;'
    spoil("unit: {fr: Go, ar: GB}", f"unit: {{fr: '{typed}', ar: GB}}")
    spoil("{fr: Passe avant, ar:", f"{{fr: '{typed}', ar:")
    page = course / "docs" / "fr" / "peft" / "lora.md"
    text = page.read_text(encoding="utf-8").replace("L'idée de `LoRA`", typed)
    page.write_text(text, encoding="utf-8")
    document = render("fr")
    (field,) = document.with_class("dabt-q__number-input")
    assert field.get("data-unit") == typed
    assert f"Place de\u00a0: {typed}" in [e.get("aria-label") for e in document.all("select")]
    (line,) = inside(document, question(document, "trained-weights"), "dabt-q__review")
    assert typed in document.text_of(line)


def test_strings_of_the_script_cannot_leave_their_template(course: Path, render: Render) -> None:
    path = course / "docs" / "_data" / "ui.quiz.yml"
    text = path.read_text(encoding="utf-8")
    typed = "</template><b>&amp;"
    path.write_text(text.replace('fr: "Bonne réponse."', f"fr: '{typed}'"), encoding="utf-8")
    document = render("fr")
    (template,) = document.with_class("dabt-quiz__strings")
    assert json.loads(document.text_of(template))["right"] == typed


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a < b`", '<code dir="ltr">a &lt; b</code>'),
        ("``a ` b``", '<code dir="ltr">a ` b</code>'),
        ("**deux `x`**", '<strong>deux <code dir="ltr">x</code></strong>'),
        ("2 * 3 ** 4", "2 * 3 ** 4"),
        (r"\`x\` \*\*y\*\* \$5", "`x` **y** $5"),
        ("coûte 5$ ou $6", "coûte 5$ ou $6"),
        ("$x$", '<span class="dabt-math" dir="ltr">x</span>'),
        ("Combien : 10 000 % ?", "Combien\u00a0: 10\u202f000\u202f% ?".replace(" ?", "\u202f?")),
        ("« oui »", "«\u00a0oui\u00a0»"),
        ("`x : y ?`", '<code dir="ltr">x : y ?</code>'),
    ],
)  # fmt: skip
def test_inline_marks_in_french(text: str, html: str) -> None:
    assert str(to_html(text, "fr")) == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("x^2 + a_{ij}", "x<sup>2</sup> + a<sub>ij</sub>"),
        (r"W + \frac{\alpha}{r}BA", "W + (α/r)BA"),
        (r"\frac{N \cdot E}{s} \le \sqrt{2}", "(N · E)/s ≤ √2"),
        (r"\frac{1}{\sqrt{d + 1}}", "1/(√(d + 1))"),
        (r"\text{pas} < 10^{-4}", "pas &lt; 10<sup>-4</sup>"),
        (r"2^{x^{2}}", "2<sup>x<sup>2</sup></sup>"),
    ],
)
def test_formulas(source: str, html: str) -> None:
    assert str(formula.to_html(source)) == html


@pytest.mark.parametrize(
    ("text", "isolated"),
    [
        ("كم 16 GB؟", ["16 GB"]),
        ("و5 + 3 = 8.", ["5 + 3 = 8"]),
        ("2 × (1 - 0.05) = 1.9", ["2 × (1 - 0.05) = 1.9"]),
        ("نحو ~28GB", ["~28GB"]),
        ("لغة C++ وC#", ["C++", "C#"]),
        ("الخيار --strict هنا", ["--strict"]),
        ("معدل 3e-5 (LoRA)", ["3e-5 (LoRA)"]),
        ("من 84 GB = 78.2 GiB.", ["84 GB = 78.2 GiB"]),
        ("نموذج AdamW وفيه 8 أوزان", []),
    ],
)
def test_foreign_runs_are_isolated_in_arabic(text: str, isolated: list[str]) -> None:
    document = read(str(to_html(text, "ar")))
    found = list(document.all("bdi"))
    assert [document.text_of(run) for run in found] == isolated
    assert all(run.get("dir") == "ltr" for run in found)
    assert "".join(text.content for text in document.texts) == text


def test_unknown_quiz_and_question_are_refused(course: Path) -> None:
    renderer = QuizRenderer(read_course(course / "docs")[0])
    place = Place("docs/fr/x.md", 7, "fr", "x.md")
    for argument, message in (
        ("loar", "no quiz 'loar'"),
        ("", "which quiz?"),
        ("lora#rnak", "no question 'rnak' in 'lora'"),
        ("lora#", "no question '' in 'lora'"),
    ):
        with pytest.raises(DabtError) as caught:
            renderer(argument, place)
        (problem,) = caught.value.problems
        assert (problem.file, problem.line, problem.message) == ("docs/fr/x.md", 7, message)


def test_order_of_options(course: Path, spoil: Callable[[str, str], None]) -> None:
    def shown() -> list[int]:
        quiz = read_course(course / "docs")[0].quizzes["lora"]
        return [option.number for option in ordered_options(quiz, quiz.questions[5])]

    orders = set()
    for number in range(30):
        spoil(
            "bands:" if not number else f"shuffle: {number - 1}\nbands:",
            f"shuffle: {number}\nbands:",
        )
        first = shown()
        assert first == shown()
        orders.add(tuple(first))
    assert len(orders) == 6
    spoil("    type: multiple\n", "    type: multiple\n    keep-order: true\n")
    assert shown() == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ([("8 octets", "8 بايتات"), ("16 octets", "16 بايتًا"), ("4 octets", "4 بايتات")], True),
        ([("1e-5", "1e-5"), ("2e-4", "2e-4"), ("3e-3", "3e-3")], True),
        ([("8 octets", "8 بايتات"), ("16 bits", "16 بت"), ("aucun", "لا شيء")], False),
    ],
)
def test_numbers_keep_the_order_of_the_author(
    options: list[tuple[str, str]], kept: bool, course: Path, spoil: Callable[[str, str], None]
) -> None:
    for old, (french, arabic) in zip(
        (
            "Les matrices, ar: المصفوفات",
            "La configuration, ar: الإعدادات",
            "Les activations, ar: التنشيطات",
        ),
        options,
        strict=True,
    ):
        spoil(old, f"{french}, ar: {arabic}")
    orders = set()
    for number in range(12):
        spoil(
            "bands:" if not number else f"shuffle: {number - 1}\nbands:",
            f"shuffle: {number}\nbands:",
        )
        quiz = read_course(course / "docs")[0].quizzes["lora"]
        orders.add(tuple(o.number for o in ordered_options(quiz, quiz.questions[5])))
    assert (orders == {(1, 2, 3)}) == kept


def test_items_are_never_shown_in_the_right_order(
    course: Path, spoil: Callable[[str, str], None]
) -> None:
    for number in range(30):
        spoil(
            "bands:" if not number else f"shuffle: {number - 1}\nbands:",
            f"shuffle: {number}\nbands:",
        )
        quiz = read_course(course / "docs")[0].quizzes["lora"]
        places = ordered_items(quiz, quiz.questions[3])
        assert sorted(places) == [1, 2, 3] and places != (1, 2, 3)


def test_revision_changes_with_the_key_and_not_with_words(
    course: Path, spoil: Callable[[str, str], None]
) -> None:
    def revisions() -> list[str]:
        quiz = read_course(course / "docs")[0].quizzes["lora"]
        return [question.revision for question in quiz.questions]

    before = revisions()
    spoil("Deux matrices", "Deux petites matrices")
    spoil("Combien ?", "Combien donc ?")
    assert revisions() == before
    spoil("value: 16", "value: 17")
    spoil("answer: true", "answer: false")
    spoil("- wrong: {fr: Les activations", "- right: {fr: Les activations")
    spoil("- right: {fr: Les matrices", "- wrong: {fr: Les matrices")
    after = revisions()
    assert [a != b for a, b in zip(before, after, strict=True)] == [
        False, True, True, False, False, True,
    ]  # fmt: skip
    assert all(len(revision) == 8 for revision in after)
    spoil('      - wrong: "2.1"', '      - wrong: "2.2"\n      - wrong: "2.1"')
    spoil("      - {fr: Mise", "      - {fr: Autre chose, ar: شيء آخر}\n      - {fr: Mise")
    assert [a != b for a, b in zip(after, revisions(), strict=True)] == [
        False, False, False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("}{", "the braces of the formula do not match"),
        ("\\frac", "a part of the formula is empty"),
        ("\\frac{a}", "a part of the formula is empty"),
        ("a_", "a part of the formula is empty"),
        ("\\sqrt{}", "a part of the formula is empty"),
        ("{" * 5000 + "}" * 5000, "the formula is too long"),
        ("^" * 5000, "the formula is too long"),
        ("\\frac" * 5000, "the formula is too long"),
    ],
)
def test_a_formula_that_would_come_out_broken_is_a_fault(source: str, fault: str) -> None:
    assert formula.faults(source) == [fault]


def test_an_open_bracket_before_many_hyphens_takes_no_time() -> None:
    text = "نص (" + "-".join("ab" for _ in range(60)) + " و"
    assert 'dir="ltr"' in to_html(text, "ar")
