"""Serves a built site as a static host does: under a path, with its 301, its 404 and gzip.

    python -m tools.host site /course/

`python -m http.server` would hide what breaks there: a link that misses its slash, a root link,
a 404 page whose style sheets are not found.
"""

import argparse
import gzip
import mimetypes
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import unquote, urlsplit

COMPRESSED = ("text/", "application/json", "application/xml", "image/svg", "application/javascript")
TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".webmanifest": "application/json"}


@lru_cache(maxsize=512)
def _body(path: Path, zipped: bool) -> bytes:
    data = path.read_bytes()
    return gzip.compress(data, 6) if zipped else data


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Path
    base: str

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if not path.startswith(self.base):
            return self._send(404, None)
        wanted = (self.site / path.removeprefix(self.base)).resolve()
        if not wanted.is_relative_to(self.site):
            return self._send(404, None)
        if wanted.is_dir():
            if not path.endswith("/"):
                return self._redirect(f"{path}/")
            wanted /= "index.html"
        if wanted.is_file():
            return self._send(200, wanted)
        return self._send(404, self.site / "404.html")

    do_HEAD = do_GET

    def _redirect(self, address: str) -> None:
        self.send_response(301)
        self.send_header("Location", address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, path: Path | None) -> None:
        suffix = path.suffix if path else ".txt"
        kind = TYPES.get(suffix) or mimetypes.guess_type(f"x{suffix}")[0] or "text/plain"
        zipped = kind.startswith(COMPRESSED) and "gzip" in self.headers.get("Accept-Encoding", "")
        found = path is not None and path.is_file()
        body = _body(path, zipped) if found else b"not found"
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if "text" in kind else kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        if zipped and found:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing: the tests watch the requests in the browser."""


class _Server(ThreadingHTTPServer):
    """Ends the connections that browsers keep open when it ends: a host that is gone is silent."""

    daemon_threads = True

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.open: set[socket.socket] = set()

    def process_request(self, request: socket.socket, client_address: object) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for request in list(self.open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)


@contextmanager
def served(site: Path, base: str = "/course/", port: int = 0) -> Iterator[str]:
    """Serve a folder under `base` on this machine only; give the address, ending in a slash."""
    handler = type("Handler", (_Handler,), {"site": site.resolve(), "base": base})
    server = _Server(("127.0.0.1", port), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{base}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> int:
    """Serve the folder named on the command line until Ctrl+C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("site"))
    parser.add_argument("base", nargs="?", default="/course/", help="the path it is served under")
    parser.add_argument("--port", type=int, default=8001)
    wanted = parser.parse_args()
    with served(wanted.folder, wanted.base, wanted.port) as address, suppress(KeyboardInterrupt):
        print(f"Serving {wanted.folder} at {address} (Ctrl+C ends it)", flush=True)
        Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
