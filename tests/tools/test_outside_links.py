"""The weekly check of outside links, against a server that answers in every bad way."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dabt.languages import Language
from dabt.sitecheck import load
from tools import outside_links as outside
from tools.outside_links import FAILED, GOOD, MOVED, UNKNOWN, Answer, Failure, Manners

QUICK = Manners(interval="1ms", timeout=1, retries=0)
MONDAY, NEXT = "2026-01-05", "2026-01-12"
EXPECTED = {
    "200": GOOD,
    "200/mod%C3%A8le?a=1&b=(x)": GOOD,
    "": GOOD,
    "200/ضبط": GOOD,
    "301": MOVED,
    "302": GOOD,
    "404": FAILED,
    "410": FAILED,
    "429": UNKNOWN,
    "500": FAILED,
    "hang": UNKNOWN,
    "drop": FAILED,
    "loop": FAILED,
}


class Server(ThreadingHTTPServer):
    """Answers with the status that the path names; keeps what it was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.ended = threading.Event()

    def link(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}".removesuffix("/")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.strip("/").split("/")[0]
        self.server.asked.append(name)
        self.server.agents.add(self.headers["User-Agent"])
        self.close_connection = name in ("hang", "drop")
        if name == "hang":
            self.server.ended.wait(10)
        elif name != "drop":
            self._answer(301 if name == "loop" else int(name or 200), name)

    do_HEAD = do_GET

    def _answer(self, status: int, name: str) -> None:
        self.send_response(status)
        if status in (301, 302):
            self.send_header("Location", "/loop" if name == "loop" else "/200")
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server():
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield made
        made.ended.set()
        made.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def run(server, tmp_path_factory):
    """Return the answers by path, and the folder of the state, of one run over all paths."""
    folder = tmp_path_factory.mktemp("state")
    answers = outside.ask([server.link(path) for path in EXPECTED], folder, QUICK)
    return {path: answers[server.link(path)] for path in EXPECTED}, folder


@pytest.mark.parametrize("path", EXPECTED)
def test_each_kind_of_answer_is_told_apart(run, path):
    assert run[0][path].kind == EXPECTED[path], run[0][path]


def test_answers_say_why(run, server):
    answers, _ = run
    assert answers["301"].detail == server.link("200")
    assert "404" in answers["404"].detail and "500" in answers["500"].detail
    assert "without end" in answers["loop"].detail
    assert answers["drop"].detail and "http" not in answers["drop"].detail


def test_the_check_says_who_it_is(run, server):
    assert len(server.agents) == 1 and "dabt-links" in server.agents.pop()


def test_a_good_answer_is_not_asked_for_again_and_a_bad_one_is(run, server):
    server.asked.clear()
    again = outside.ask([server.link("200"), server.link("404")], run[1], QUICK)
    assert [one.kind for one in again.values()] == [GOOD, FAILED]
    assert server.asked == ["404"]


def test_nobody_there_is_a_failure(tmp_path):
    [answer] = outside.ask(["http://127.0.0.1:1/"], tmp_path, QUICK).values()
    assert answer.kind == FAILED


def test_a_host_that_takes_all_the_time_is_unknown(server, tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "HOST_LIMIT", 0.2)
    [answer] = outside.ask([server.link("hang")], tmp_path, QUICK).values()
    assert answer.kind == UNKNOWN


def test_a_link_is_reported_when_it_fails_on_a_second_day(server, tmp_path):
    pages = {server.link("200"): ["/"], server.link("404"): ["fr/peft/lora/", "peft/lora/"]}

    def asking(links, folder):
        return outside.ask(links, folder, QUICK)

    assert outside.check(pages, tmp_path, MONDAY, asking) == ""
    # By hand, on the same day: no second opinion.
    assert outside.check(pages, tmp_path, MONDAY, asking) == ""
    report = outside.check(pages, tmp_path, NEXT, asking)
    assert f"<{server.link('404')}>: 404 Not Found, since {MONDAY}" in report
    assert "`fr/peft/lora/`, `peft/lora/`" in report
    assert server.link("200") not in report


BAD, LATE, FINE = Answer(FAILED, "404"), Answer(UNKNOWN), Answer(GOOD)
OLD = {"x": Failure(MONDAY, "404")}


@pytest.mark.parametrize(
    ("before", "answers", "after"),
    [
        ({}, {"x": BAD, "y": FINE}, {"x": Failure(NEXT, "404")}),
        (OLD, {"x": Answer(FAILED, "410"), "y": FINE}, {"x": Failure(MONDAY, "410")}),
        (OLD, {"x": FINE}, {}),
        (OLD, {"x": Answer(MOVED, "z")}, {}),
        (OLD, {"x": LATE, "y": FINE}, OLD),
        ({}, {"x": LATE, "y": FINE}, {}),
        (OLD, {"y": FINE}, {}),
        # Nothing at all answers: the network of the check is down.
        (OLD, {"x": BAD, "y": BAD}, OLD),
    ],
)
def test_what_is_remembered(before, answers, after):
    assert outside.remember(before, answers, NEXT) == after


def test_links_that_moved_come_along_and_open_no_issue():
    answers = {"x": BAD, "y": Answer(MOVED, "https://new.example/")}
    pages = {"x": ["/"], "y": ["/"]}
    assert "<y> → <https://new.example/>" in outside.write_report(OLD, answers, pages, NEXT)
    assert outside.write_report({}, answers, pages, NEXT) == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}', '{"x": {"since": "y"}}'])
def test_a_broken_memory_is_no_memory(tmp_path, text):
    (tmp_path / "failing.json").write_text(text)
    assert outside.load_memory(tmp_path / "failing.json") == {}


def test_memory_is_kept(tmp_path):
    outside.save_memory(tmp_path / "deep/failing.json", OLD)
    assert outside.load_memory(tmp_path / "deep/failing.json") == OLD
    assert json.loads((tmp_path / "deep/failing.json").read_text())["x"]["since"] == MONDAY


def test_only_links_to_other_sites_are_asked_for(tmp_path):
    page = (
        '<a href="https://x.example/a#b">1</a><a href="https://x.example/a">2</a>'
        '<a href="https://host.example/course/fr/">3</a><a href="mailto:a@x.example">4</a>'
        '<a href="../">5</a><a>6</a><img src="https://x.example/i.png">'
    )
    (tmp_path / "fr").mkdir()
    for name in ("index.html", "fr/index.html"):
        (tmp_path / name).write_text(page)
    languages = (Language("ar", "العربية", "rtl", True), Language("fr", "Français", "ltr"))
    site = load(tmp_path, languages, "https://host.example/course/")
    assert outside.outside_links(site) == {"https://x.example/a": ["/", "fr/"]}
