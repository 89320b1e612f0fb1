"""Servers that answer a learner."""

from __future__ import annotations

import selectors
import socket
import threading

import pytest

from podpath_lab.conversation import ANSWER, REQUEST, Servers
from podpath_lab.learn.answering import HELLO, AnsweringServers, choose_answer


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"", b""),
        (b"GET / HT", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b""),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", HELLO),
        (b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nabc", b""),
        (b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\nabcd", HELLO),
        (b"hello?\n", b"hello\n"),
        (REQUEST, ANSWER),
    ],
)
def test_an_answer_comes_once_the_request_is_whole(said: bytes, answer: bytes) -> None:
    """HTTP with its body, a line of text, and what the lab's own probe sends."""
    assert choose_answer(said, REQUEST) == answer


def test_a_connection_is_answered_and_closed() -> None:
    """A client gets its answer; one that only hangs up, and one that stands, are let go."""
    with socket.create_server(("127.0.0.1", 0)) as server, selectors.DefaultSelector() as selector:
        server.setblocking(False)
        answering = AnsweringServers(Servers(tcp=(server,), udp=()), selector)
        got: list[bytes] = []

        def ask() -> None:
            with socket.create_connection(server.getsockname(), timeout=20) as client:
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
                got.append(client.makefile("rb").read())

        asking = threading.Thread(target=ask)
        asking.start()
        socket.create_connection(server.getsockname(), timeout=20).close()
        while asking.is_alive() or len(selector.get_map()) > 1:
            for key, _ in selector.select(0.05):
                assert isinstance(key.fileobj, socket.socket)
                key.data(key.fileobj)
        assert got == [HELLO]
        with socket.create_connection(server.getsockname(), timeout=20):
            selector.select(20)
            answering.take(server)
            assert len(selector.get_map()) == 2
            answering.hang_up()
            assert len(selector.get_map()) == 1
