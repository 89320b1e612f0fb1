"""Connections from the node to a pod while its validator waits for them: only what comes from
outside proves inbound redirection.

The repair controller is on the node's network, so it is the outside that the validator waits for
with `--await-inbound`. A pod that cannot be reached from the node (a policy, a namespace without a
link) is not waited for.
"""

from __future__ import annotations

import errno
import select
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from podpath_protect.validate.inbound import PORT
from podpath_protect.validate.sockets import SocketEnd, connect

REACH_SECONDS = 0.3
EVERY = 0.05


def find_reachable(addresses: Sequence[str], seconds: float = REACH_SECONDS) -> tuple[str, ...]:
    """Return the addresses that answer a connection, if only by refusing it; all are asked at
    once.
    """
    callers = {address: connect(SocketEnd(address, PORT)) for address in addresses}
    try:
        poll = select.poll()
        waiting = {
            caller.fileno(): address for address, (caller, code) in callers.items() if not code
        }
        answered = {address for address, (_, code) in callers.items() if code == errno.ECONNREFUSED}
        for descriptor in waiting:
            poll.register(descriptor, select.POLLOUT)
        over = len(waiting)
        while over > 0 and (ready := poll.poll(seconds * 1000)):
            for descriptor, _ in ready:
                poll.unregister(descriptor)
                over -= 1
                caller, address = callers[waiting[descriptor]][0], waiting[descriptor]
                if caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in {0, errno.ECONNREFUSED}:
                    answered.add(address)
        return tuple(address for address in addresses if address in answered)
    finally:
        for caller, _ in callers.values():
            caller.close()


@contextmanager
def knock(addresses: Sequence[str]) -> Iterator[None]:
    """Connect to each address again and again while the body runs."""
    over = threading.Event()
    thread = threading.Thread(
        target=_knock, args=(tuple(addresses), over), name="knock", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _knock(addresses: Sequence[str], over: threading.Event) -> None:
    while not over.is_set():
        callers = [connect(SocketEnd(address, PORT))[0] for address in addresses]
        over.wait(EVERY)
        for caller in callers:
            caller.close()
