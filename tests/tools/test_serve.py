"""Serving says which address is taken, instead of a traceback."""

import socket

from tools.serve import is_free, main


def test_an_address_in_use_is_said_with_another_one(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert not is_free("127.0.0.1", port)
        assert main([f"127.0.0.1:{port}"]) == 1
        assert f"make serve ADDRESS=127.0.0.1:{port + 1}" in capsys.readouterr().err
    assert is_free("127.0.0.1", port)
