"""linkerd's way: a server that sends a token to every client, and a client that must get it from an
address that is not ours.

What comes in are the two addresses; what goes out is a `Reply`. The client connects once and reads
the token's length or to the end (linkerd2-proxy-init's validator does it so); other bytes, an early
end and silence are told apart.
"""

from __future__ import annotations

import secrets
import select
import socket
import string
import time
from typing import NamedTuple

from podpath_protect.validate.sockets import SocketEnd, connect, family_of, listen

LENGTH = 63
_LETTERS = string.ascii_letters + string.digits


class Reply(NamedTuple):
    """What the client got."""

    token: bytes
    got: bytes | None
    """The bytes that came before the end, at most the token's length; None where none came in
    time.
    """
    error: int = 0
    """The error of the connection, 0 for none."""

    @property
    def validated(self) -> bool:
        """Tell whether it was the token."""
        return not self.error and self.got == self.token


def make_token() -> bytes:
    """Draw a token: 63 letters and digits, and a line feed."""
    return "".join(secrets.choice(_LETTERS) for _ in range(LENGTH)).encode() + b"\n"


class TokenServer:
    """Says its token to every client and closes; it works while `serve` is asked for."""

    def __init__(self, end: SocketEnd, token: bytes) -> None:
        """Listen; `OSError` where the port is taken."""
        self.listener = listen(end, dual=family_of(end) == 6)
        self.token = token

    def close(self) -> None:
        """Stop listening."""
        self.listener.close()

    def serve(self) -> None:
        """Answer all who wait."""
        while True:
            try:
                accepted, _ = self.listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            with accepted:
                try:
                    accepted.sendall(
                        self.token
                    )  # 64 bytes fit into the buffer of a fresh connection: it does not wait
                except OSError:
                    continue  # the client has gone


def ask(server: TokenServer, target: SocketEnd, deadline: float) -> Reply:
    """Connect to the target, serve meanwhile, and give what came back before the deadline."""
    caller, code = connect(target)
    with caller:
        got = b""
        while not code and len(got) < len(server.token):
            poll = select.poll()
            poll.register(server.listener, select.POLLIN)
            poll.register(caller, select.POLLIN)
            left = deadline - time.monotonic()
            if left <= 0:
                return Reply(server.token, got or None)
            ready = dict(poll.poll(left * 1000 + 1))
            if server.listener.fileno() in ready:
                server.serve()
            if caller.fileno() in ready:
                part, code = _receive(caller, len(server.token) - len(got))
                if part == b"":
                    break
                got += part or b""
        return Reply(server.token, got, code)


def _receive(caller: socket.socket, size: int) -> tuple[bytes | None, int]:
    code = caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        return None, code
    try:
        return caller.recv(size), 0
    except BlockingIOError:
        return None, 0
    except OSError as error:
        return None, error.errno or 1
