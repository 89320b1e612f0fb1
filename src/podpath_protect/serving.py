"""An HTTP server that cannot be used up: a bounded number of connections, each in a thread of its
own, and whoever comes beyond them is hung up on. Over TLS its handshake is that thread's, too.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from podpath_protect.validate.sockets import SocketEnd

DAWDLE_SECONDS = 10.0
"""A client that neither sends nor takes anything for so long is left."""


class BoundedServer(ThreadingHTTPServer):
    """A server that takes no more connections at once than it is told."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 32

    def __init__(
        self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], *, most: int
    ) -> None:
        """Bind; `OSError` where the address is taken or not ours."""
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._places = threading.BoundedSemaphore(most)
        super().__init__(address, handler)

    def server_bind(self) -> None:
        """Bind without asking the name service for our own name, as the library would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = (
            str(self.server_address[0]),
            int(self.server_address[1]),
        )

    def process_request(self, request: object, client_address: object) -> None:
        """Serve in a thread of its own, or hang up where there are too many."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type]  # what the library gave us
            return
        super().process_request(request, client_address)  # type: ignore[arg-type]  # as above

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Serve one connection, and give its place free."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]  # as above
        finally:
            self._places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away: the library would print a traceback."""


class Certificate:
    """A certificate and its key, read again when their files change."""

    def __init__(self, certificate: str, key: str) -> None:
        """Read them; `OSError` where they are not there, or are none."""
        self._files = (certificate, key)
        self._lock = threading.Lock()
        self._stamps = self._stamp()
        self._context = self._load()

    def context(self) -> ssl.SSLContext:
        """Return what a handshake needs; the last good one where the files are halfway changed."""
        with self._lock:
            try:
                stamps = self._stamp()
                if stamps != self._stamps:
                    self._context = self._load()
                    self._stamps = stamps
            except OSError:
                pass
            return self._context

    def _stamp(self) -> tuple[int, ...]:
        return tuple(os.stat(name).st_mtime_ns for name in self._files)  # noqa: PTH116  # names, which need no Path

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*self._files)
        return context


class SecureServer(BoundedServer):
    """A server that does a connection's handshake in that connection's own thread."""

    def __init__(
        self,
        end: SocketEnd,
        handler: type[BaseHTTPRequestHandler],
        certificate: Certificate,
        *,
        most: int,
    ) -> None:
        """Bind; `OSError` where the address is taken or not ours."""
        self._certificate = certificate
        super().__init__((end.address, end.port), handler, most=most)

    def finish_request(self, request: object, client_address: object) -> None:
        """Shake hands, and serve."""
        if not isinstance(request, socket.socket):
            raise AssertionError("a stream's request is its socket")  # noqa: TRY004  # it cannot be
        request.settimeout(DAWDLE_SECONDS)
        context = self._certificate.context()
        with context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)


class ServerGroup:
    """An endpoint at every address that it has, served from threads."""

    def __init__(
        self, ends: tuple[SocketEnd, ...], listen: Callable[[SocketEnd], BoundedServer], name: str
    ) -> None:
        """Bind; `OSError` where an address is taken or not ours."""
        self._servers: list[BoundedServer] = []
        self._threads: list[threading.Thread] = []
        try:
            for end in ends:
                self._servers.append(listen(end))
        except OSError:
            self.close()
            raise
        self._threads = [
            threading.Thread(target=each.serve_forever, args=(0.5,), name=name, daemon=True)
            for each in self._servers
        ]
        for thread in self._threads:
            thread.start()

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports that it listens on."""
        return tuple(each.server_port for each in self._servers)

    def close(self) -> None:
        """Stop serving."""
        for server in self._servers:
            if self._threads:
                server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join(DAWDLE_SECONDS)
