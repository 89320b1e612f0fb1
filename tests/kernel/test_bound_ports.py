"""What keeps a TCP port from a listener beside another listener."""

from __future__ import annotations

import errno
import socket

import pytest

pytestmark = pytest.mark.kernel()

LOOPBACK = "127.0.0.1"


def _listen(port: int) -> int:
    """Listen on a port as servers do; return the kernel's error, 0 where there is none."""
    with socket.socket() as wanted:
        wanted.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            wanted.bind((LOOPBACK, port))
            wanted.listen()
        except OSError as error:
            return error.errno or 0
    return 0


def test_a_connection_has_its_own_port() -> None:
    """A client's own port is in use while its connection stands, and free afterwards."""
    with (
        socket.create_server((LOOPBACK, 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert _listen(client.getsockname()[1]) == errno.EADDRINUSE


def test_a_socket_that_is_bound_has_its_port() -> None:
    """It does not listen, so no listing of listening sockets shows it."""
    with socket.socket() as bound:
        bound.bind((LOOPBACK, 0))
        port = bound.getsockname()[1]
        assert _listen(port) == errno.EADDRINUSE
    assert _listen(port) == 0
