"""The server of the tests behaves as a static host does."""

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tools.host import served


@pytest.fixture
def ask(tmp_path):
    """Return a function: path → status, headers, body; a text file is served under /course/."""
    (tmp_path / "page").mkdir()
    (tmp_path / "index.html").write_text("home")
    (tmp_path / "page" / "index.html").write_text("ضبط" * 100)
    (tmp_path / "404.html").write_text("not here")
    with served(tmp_path) as address:
        connection = HTTPConnection(urlsplit(address).netloc)

        def get(path: str, **headers: str) -> tuple[int, dict, bytes]:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read()

        yield get


def test_pages_under_the_path(ask):
    assert ask("/course/")[::2] == (200, b"home")
    status, headers, body = ask("/course/page/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert body.decode() == "ضبط" * 100


def test_a_missing_slash_is_redirected(ask):
    status, headers, _ = ask("/course/page")
    assert (status, headers["Location"]) == (301, "/course/page/")


def test_what_is_not_there_gets_the_page_for_it(ask):
    assert ask("/course/nothing/")[::2] == (404, b"not here")
    assert ask("/course/Page/")[0] == 404


def test_outside_the_path_there_is_nothing(ask):
    assert ask("/")[::2] == (404, b"not found")
    assert ask("/course/../../etc/passwd")[0] == 404


def test_text_is_compressed_for_who_asks(ask):
    _, headers, body = ask("/course/page/", **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert len(body) < 100


def test_a_host_that_has_ended_answers_nobody(tmp_path):
    (tmp_path / "index.html").write_text("home")
    with served(tmp_path) as address:
        connection = HTTPConnection(urlsplit(address).netloc, timeout=5)
        connection.request("GET", "/course/")
        assert connection.getresponse().read() == b"home"
    with pytest.raises(OSError):
        connection.request("GET", "/course/")
        connection.getresponse()
