"""The validator's side of a reflector: asks it for connections back, proves that it is at its
address, hears what became of them.

Asked again and again until something comes; where nothing has come within a second nobody is there.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
from collections.abc import Sequence

from podpath_protect.reflect.messages import (
    LONGEST,
    Cookie,
    Fate,
    ReflectRequest,
    Report,
    emit,
    parse_answer,
)
from podpath_protect.validate.sockets import DOMAIN, SocketEnd, family_of

ASK_AGAIN = 0.2
PATIENCE = 1.0
"""Seconds without a sign of life after which nobody is there."""


class Reflection:
    """One request to one reflector. Mutable."""

    def __init__(self, reflector: SocketEnd, ports: Sequence[int]) -> None:
        """Open a socket; nothing is sent before `turn`."""
        self.reflector = reflector
        self.token = secrets.token_hex(16)
        self.fates: dict[int, Fate] = {}
        """What the reflector says became of its connections, by port; empty until it says so."""
        self._ask = ReflectRequest(self.token, tuple(ports))
        self._asked_at = self._began = float("-inf")
        self._heard = self._refused = False
        self.socket = socket.socket(
            DOMAIN[family_of(reflector)],
            socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC,
        )
        self._error = self.socket.connect_ex(tuple(reflector))

    def close(self) -> None:
        """Release the socket."""
        self.socket.close()

    def turn(self, now: float) -> None:
        """Hear what came, and ask where it is time to."""
        while (answer := self._receive()) is not None:
            match answer:
                case Cookie(token, cookie) if token == self.token and cookie != self._ask.cookie:
                    self._ask, self._asked_at, self._heard = (
                        self._ask._replace(cookie=cookie),
                        float("-inf"),
                        True,
                    )
                case Report(token, fates) if token == self.token:
                    self.fates, self._heard = fates, True
        if not self.fates and now - self._asked_at >= ASK_AGAIN:
            self._began = now if self._began == float("-inf") else self._began
            self._asked_at = now
            self._send()

    def why_silent(self, now: float) -> str:
        """Say why nobody is there; empty while somebody may be, or is."""
        if self._heard or now - self._began < PATIENCE:
            return ""
        why = "nobody listens there" if self._refused else "no answer"
        if self._error:
            why = os.strerror(self._error)
        return (
            f"no reflector answers at {self.reflector} ({why}): is [reflect] in the agent's "
            "configuration?"
        )

    def _send(self) -> None:
        try:
            self.socket.send(emit(self._ask))
        except ConnectionRefusedError:
            self._refused = True
        except OSError as error:
            self._error = error.errno or errno.EIO

    def _receive(self) -> Cookie | Report | None:
        for _ in range(16):
            try:
                answer = parse_answer(self.socket.recv(LONGEST + 1))
            except ConnectionRefusedError:
                self._refused = True
                continue
            except OSError:
                return None
            if answer is not None:
                return answer
        return None
