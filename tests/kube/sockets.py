"""A server that answers a WebSocket request by a script, as kubelets answer `exec`."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from typing import Self

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    RejectConnection,
    Request,
)


class ScriptedSocket:
    """Sends the same messages to everybody who connects, and then closes."""

    def __init__(self, messages: Iterable[bytes], *, refused: int = 0, stays: bool = False) -> None:
        """Listen; refuse with a code if there is one, and stay open at the end if asked to."""
        self._messages, self._refused, self._stays = tuple(messages), refused, stays
        self._server = socket.create_server(("127.0.0.1", 0))
        self.asked: list[str] = []
        """The targets that were asked for."""
        self.let = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Self:
        """Begin to serve one connection."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.let.set()
        self._thread.join(90)
        self._server.close()

    def _serve(self) -> None:
        self._server.settimeout(60)
        connected, _ = self._server.accept()
        with connected:
            connected.settimeout(60)
            protocol = WSConnection(ConnectionType.SERVER)
            protocol.receive_data(connected.recv(65536))
            request = next(event for event in protocol.events() if isinstance(event, Request))
            self.asked.append(request.target)
            if (b"accept", b"*/*") not in request.extra_headers:
                connected.sendall(protocol.send(RejectConnection(status_code=406)))
                return
            if self._refused:
                connected.sendall(protocol.send(RejectConnection(status_code=self._refused)))
                return
            accepted = AcceptConnection(subprotocol=request.subprotocols[0])
            connected.sendall(protocol.send(accepted))
            for message in self._messages:
                connected.sendall(protocol.send(BytesMessage(data=message)))
            if self._stays:
                self.let.wait(120)
            connected.sendall(protocol.send(CloseConnection(code=1000)))
            connected.settimeout(2)
            try:
                connected.recv(65536)
            except OSError:
                return
