"""Snapshots of this node, one at a time: taken by a process of their own that is bounded in time,
memory and output, and handed out again for some seconds.

So no number of requests makes the node take more than one snapshot per pause, and a taking that
hangs or swells ends without the agent.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple

from podpath.net.errors import PodpathError

_PIECE = 1 << 16
_LONGEST_COMPLAINT = 2000
_MEGABYTE = 1 << 20
NICE = 10
"""A snapshot gives way to whatever else the node does."""


class TakingError(PodpathError):
    """No snapshot could be taken. The message says why."""


class TakenSnapshot(NamedTuple):
    """A snapshot."""

    content: bytes
    """A bundle, packed."""
    seconds: float
    """How long the taking lasted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingLimits:
    """How much one taking may cost."""

    seconds: float
    most_bytes: int
    memory: int
    """Bytes of address space for each process."""


def command(node_netns: str = "") -> tuple[str, ...]:
    """Return the command that prints a snapshot without logs."""
    node = ("--node-netns", node_netns) if node_netns else ()
    return (sys.executable, "-P", "-m", "podpath", "snapshot", "--no-logs", *node, "-o", "-")


def take(arguments: Sequence[str], limits: TakingLimits) -> TakenSnapshot:
    """Run the command, and return what it prints; whatever of it still runs then is ended."""
    began = time.monotonic()
    try:
        running = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise TakingError(f"{arguments[0]}: {error.strerror}") from error
    with running:
        try:
            _hold_down(running.pid, limits)
            content, said = _read_all(running, began + limits.seconds, limits)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    if running.returncode != 0 or not content:
        raise TakingError(f"the snapshot failed: {said.decode('utf-8', 'replace').strip()}")
    return TakenSnapshot(content, time.monotonic() - began)


def _hold_down(process: int, limits: TakingLimits) -> None:
    """Bound a process, and those that it starts, before it has done anything that costs."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, process, max(NICE, os.getpriority(os.PRIO_PROCESS, 0)))
        resource.prlimit(process, resource.RLIMIT_AS, (limits.memory, limits.memory))


def _read_all(
    running: subprocess.Popen[bytes], until: float, limits: TakingLimits
) -> tuple[bytes, bytes]:
    """Read both of its outputs to their ends."""
    out, complaints = _required(running.stdout), _required(running.stderr)
    content, said = bytearray(), bytearray()
    poll = select.poll()
    for stream in (out, complaints):
        poll.register(stream, select.POLLIN)
    open_ends = {out.fileno(): content, complaints.fileno(): said}
    while open_ends:
        left = until - time.monotonic()
        ready = poll.poll(max(0.0, left) * 1000)
        if left <= 0 or not ready:
            raise TakingError(f"the snapshot was not taken within {limits.seconds:.0f} s")
        for descriptor, _ in ready:
            piece = os.read(descriptor, _PIECE)
            if not piece:
                poll.unregister(descriptor)
                del open_ends[descriptor]
            open_ends.get(descriptor, bytearray()).extend(piece)
        del said[:-_LONGEST_COMPLAINT]
        if len(content) > limits.most_bytes:
            raise TakingError(f"the snapshot is larger than {limits.most_bytes // _MEGABYTE} MB")
    running.wait()
    return bytes(content), bytes(said)


def _required(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("both outputs are pipes")
    return stream


class SnapshotStore:
    """The last snapshot, and the one place where the next is taken."""

    def __init__(
        self,
        taker: Callable[[], TakenSnapshot],
        pause: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep how one is taken, and for how long it serves."""
        self._taker, self._pause, self._clock = taker, pause, clock
        self._lock = threading.Lock()
        self._last: TakenSnapshot | TakingError | None = None
        self._ended = 0.0
        self.taken = 0
        """Snapshots that were taken."""

    def current(self) -> TakenSnapshot:
        """Return the snapshot, an earlier one where it is young enough; who comes while one is
        taken waits for it. A failure is repeated for as long, too.
        """
        with self._lock:
            if self._last is None or self._clock() - self._ended >= self._pause:
                self._last = None
                try:
                    self._last = self._taker()
                    self.taken += 1
                except TakingError as error:
                    self._last = error
                finally:
                    self._ended = self._clock()
            if isinstance(self._last, TakingError):
                raise TakingError(str(self._last)) from self._last
            return self._last

    def forget(self) -> None:
        """Let a snapshot go that serves nobody any more; nothing while one is taken."""
        if self._lock.acquire(blocking=False):
            try:
                if self._clock() - self._ended >= self._pause:
                    self._last = None
            finally:
                self._lock.release()
