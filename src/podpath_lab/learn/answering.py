"""Servers that answer a learner: a line of HTTP on every listening socket of the lesson's world.

They listen on the sockets that the lab's own probe uses, in between of its tries.
"""

from __future__ import annotations

import re
import selectors
import socket
from contextlib import suppress
from dataclasses import dataclass, field

from podpath_lab.conversation import ANSWER, Servers

_LENGTH = re.compile(rb"^content-length:\s*([0-9]{1,9})\s*$", re.IGNORECASE | re.MULTILINE)
_HEADER_END = b"\r\n\r\n"
_LONGEST = 1 << 20
"""Bytes of a request that are kept."""
HELLO = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"


@dataclass(slots=True)
class AnsweringServers:
    """The servers of a world while no try of ours is under way."""

    servers: Servers
    selector: selectors.BaseSelector
    _held: dict[socket.socket, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to listen."""
        for server in self.servers.tcp:
            self.selector.register(server, selectors.EVENT_READ, self.take)

    def take(self, ready: socket.socket) -> None:
        """Go on with a connection: a new one is taken, an old one read and answered."""
        if ready in self.servers.tcp:
            with suppress(OSError):
                connection, _ = ready.accept()
                connection.setblocking(False)
                self._held[connection] = b""
                self.selector.register(connection, selectors.EVENT_READ, self.take)
            return
        try:
            data = ready.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._held[ready] += data
        answer = choose_answer(self._held[ready], self.servers.request)
        if answer:
            with suppress(OSError):
                ready.sendall(answer)
        if answer or not data or len(self._held[ready]) > _LONGEST:
            self._close(ready)

    def hang_up(self) -> None:
        """End the connections that stand."""
        for connection in tuple(self._held):
            self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        del self._held[connection]
        connection.close()


def choose_answer(said: bytes, request: bytes) -> bytes:
    """Return the answer to what was said so far; empty while more is to come."""
    if said == request:
        return ANSWER
    head, end, body = said.partition(_HEADER_END)
    if end:
        length = _LENGTH.search(head)
        whole = length is None or len(body) >= int(length[1])
        return HELLO if whole else b""
    plain = said.endswith(b"\n") and b"HTTP/" not in said
    return b"hello\n" if plain else b""
