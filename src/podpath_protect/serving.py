"""An HTTP server that cannot be used up: a bounded number of connections, each in a thread of its
own, and whoever comes beyond them is hung up on.
"""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
