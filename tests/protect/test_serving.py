"""Tests of `protect.serving`: who comes beyond the places is hung up on, in both families."""

from __future__ import annotations

import http.client
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler

import pytest

from podpath_protect.serving import BoundedServer


class _Waiting(BaseHTTPRequestHandler):
    """Answers when it is let."""

    let = threading.Event()

    def do_GET(self) -> None:
        """Wait, and answer."""
        self.let.wait(20)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's signature
        """Say nothing."""


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_one_place_serves_one(host: str) -> None:
    """The second is hung up on while the first is served; then there is a place again."""
    _Waiting.let.clear()
    server = BoundedServer((host, 0), _Waiting, most=1)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        with closing(http.client.HTTPConnection(host, server.server_port, timeout=20)) as first:
            first.request("GET", "/")
            second = http.client.HTTPConnection(host, server.server_port, timeout=20)
            with closing(second):
                second.connect()
                assert second.sock.recv(1) == b""
            _Waiting.let.set()
            assert first.getresponse().status == 204
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)
