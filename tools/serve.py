"""Serves the course on this machine and follows each change of a source.

python -m tools.serve 127.0.0.1:8000
"""

import os
import socket
import sys
from contextlib import closing


def is_free(host: str, port: int) -> bool:
    """Tell whether a server can be started there."""
    with closing(socket.socket()) as probe:
        # As the server itself does: an address that was in use a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def main(argv: list[str]) -> int:
    """Start the server, which takes the place of this process; return 1 when it cannot start."""
    address = argv[0]
    host, _, port = address.rpartition(":")
    if not is_free(host, int(port)):
        other = f"{host}:{int(port) + 1}"
        print(f"error: {address} is in use\n  mend: make serve ADDRESS={other}", file=sys.stderr)
        return 1
    print(f"The course: http://{address}/ · French: http://{address}/fr/ · Ctrl+C ends", flush=True)
    # Here the course stands at the root, wherever it is published.
    os.environ["DABT_SITE_URL"] = ""
    command = ["-m", "mkdocs", "serve", "--livereload", "--dev-addr", address]
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
