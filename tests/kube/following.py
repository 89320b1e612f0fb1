"""A list-watch that runs in a thread of a test, and what it heard; and a proxy that cuts
connections.
"""

from __future__ import annotations

import contextlib
import random
import selectors
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from podpath.kube import access
from podpath.kube.client import Client
from podpath_protect.cluster.listwatch import ListWatch
from podpath_protect.cluster.objects import KubePod

PATIENCE = 90.0


def until(condition: Callable[[], bool], what: str, *, seconds: float = PATIENCE) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come about in {seconds:g} s: {what}"
        time.sleep(0.02)


class Following:
    """Follows pods in a thread, and keeps what it hears."""

    def __init__(
        self,
        kubeconfig: Path,
        query: dict[str, str],
        *,
        silence_seconds: float = 90.0,
        expects_sync: bool = True,
    ) -> None:
        """Prepare; nothing runs before the `with`."""
        self._expects_sync = expects_sync
        self.client = Client(access.find(kubeconfig), silence_seconds=silence_seconds)
        self.heard: list[tuple[KubePod | None, KubePod | None]] = []
        self.watch = ListWatch(
            self.client,
            query,
            draw=random.Random(7).random,
            clock=time.monotonic,
            changed=lambda *change: self.heard.append(change),
        )
        self._thread = threading.Thread(target=self.watch.run, daemon=True)

    def __enter__(self) -> Self:
        """Begin, and wait for the first list."""
        self._thread.start()
        if self._expects_sync:
            until(
                lambda: self.watch.figures.synced and self.watch.figures.watching,
                "everything is listed and watched",
            )
        return self

    def __exit__(self, *_: object) -> None:
        """End, and see that the thread ends at once wherever it waits."""
        self.watch.stop()
        self._thread.join(30)
        assert not self._thread.is_alive()
        self.client.close()

    @property
    def names(self) -> set[str]:
        """Name the pods that are known now."""
        return {pod.metadata.name for pod in self.watch.pods()}

    @property
    def gone(self) -> list[str]:
        """Name the pods that it heard of as gone, in order."""
        return [
            before.metadata.name
            for before, after in self.heard
            if before is not None and after is None
        ]


class Proxy:
    """A TCP proxy on a port of its own that passes bytes on until it is told to cut."""

    def __init__(self, target: int) -> None:
        """Listen."""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.connections = 0
        self.refusing = False
        self._lock = threading.Lock()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._ended = False
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        """Return the proxy."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close everything."""
        self._ended = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(30)

    def cut(self) -> None:
        """Break every connection that is open."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self._ended:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._pairs.append((near, far))
            thread = threading.Thread(target=_pass, args=(near, far), daemon=True)
            self._threads.append(thread)
            thread.start()


def _pass(near: socket.socket, far: socket.socket) -> None:
    with near, far, selectors.DefaultSelector() as both, contextlib.suppress(OSError):
        both.register(near, selectors.EVENT_READ, far)
        both.register(far, selectors.EVENT_READ, near)
        while True:
            for key, _ in both.select():
                content = key.fileobj.recv(65536)  # type: ignore[union-attr]  # sockets are what was registered
                if not content:
                    return
                key.data.sendall(content)
