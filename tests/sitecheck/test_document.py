"""Reading HTML into flat lists."""

from dabt.sitecheck.document import read


def test_text_inside_an_element_and_not_after_it():
    document = read("<p>a<b>b</b>c</p>d<p>e</p>")
    first = next(document.all("p"))
    assert document.text_of(first) == "abc"
    assert document.text_of(next(document.all("b"))) == "b"


def test_void_elements_hold_nothing():
    document = read("<p><img src=a><br>text</p>")
    assert [one.parent for one in document.elements] == [-1, 0, 0]
    assert document.text_of(next(document.all("p"))) == "text"


def test_self_closed_tags_close_in_drawings_only():
    document = read("<svg><path/><path/></svg><div/><p>x</p>")
    paths = list(document.all("path"))
    assert [path.parent for path in paths] == [0, 0]
    assert next(document.all("p")).parent == next(document.all("div")).index


def test_unclosed_elements_end_with_what_is_around_them():
    document = read("<ul><li>a<li>b</ul><p>c</p>")
    assert next(document.all("p")).parent == -1


def test_places_count_from_one():
    document = read("<p>\n  <b>x</b></p>")
    bold = next(document.all("b"))
    assert (bold.line, bold.column) == (2, 3)


def test_scripts_are_text_not_tags():
    document = read("<script>if (a < b) { x('<p>') }</script>")
    assert [one.tag for one in document.elements] == ["script"]


def test_the_first_of_equal_attributes_counts():
    assert next(read('<p id="a" id="b">').all("p")).get("id") == "a"


def test_ancestors_from_the_inside_out():
    document = read("<main><p><b>x</b></p></main>")
    assert [one.tag for one in document.ancestors(2)] == ["b", "p", "main"]
