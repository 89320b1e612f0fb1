"""The watching process: `podpath watch --json`, held down in memory, and ended with whoever started
it: it ends when its input does, which the kernel closes with the agent.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO

from podpath.net.errors import PodpathError
from podpath_protect.drops.options import DropOptions

_PIECE = 1 << 16
LONGEST_LINE = 1 << 22
_LONGEST_COMPLAINT = 2000
_END_SECONDS = 3.0
_MEGABYTE = 1 << 20


class WatchingError(PodpathError):
    """Drops cannot be heard. The message says why."""


def command(options: DropOptions) -> tuple[str, ...]:
    """Return the command that prints the drops of this node."""
    node = ("--node-netns", options.node_netns) if options.node_netns else ()
    every = ("--every", f"{options.every:g}")
    words = (sys.executable, "-P", "-m", "podpath", "watch", "--json", "--until-eof")
    return (*words, *every, *node)


class WatchingProcess:
    """The process, and the lines that it has printed."""

    def __init__(self, arguments: Sequence[str], memory: int) -> None:
        """Start it; `WatchingError` where it cannot be."""
        self._complaints = os.memfd_create("complaints")
        try:
            self._running = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._complaints)
            raise WatchingError(f"{arguments[0]}: {error.strerror}") from error
        with contextlib.suppress(ProcessLookupError):
            bound = memory * _MEGABYTE
            resource.prlimit(self._running.pid, resource.RLIMIT_AS, (bound, bound))
        self._out = _required(self._running.stdout)
        os.set_blocking(self._out.fileno(), False)
        self._rest = bytearray()

    @property
    def pid(self) -> int:
        """The process."""
        return self._running.pid

    def fileno(self) -> int:
        """Return what is readable when there are lines, or it has ended."""
        return self._out.fileno()

    def read_lines(self) -> list[bytes]:
        """Return the whole lines that have come; `WatchingError` where it has ended."""
        found: list[bytes] = []
        while True:
            try:
                piece = os.read(self._out.fileno(), _PIECE)
            except BlockingIOError:
                return found
            if not piece:
                if found:
                    return found
                raise WatchingError(self._say_end())
            self._rest += piece
            *whole, last = self._rest.split(b"\n")
            self._rest = bytearray(last)
            if len(self._rest) > LONGEST_LINE:
                raise WatchingError(f"a line of more than {LONGEST_LINE // _MEGABYTE} MB")
            found += map(bytes, whole)

    def _say_end(self) -> str:
        said = os.pread(self._complaints, _LONGEST_COMPLAINT, 0).decode("utf-8", "replace")
        return f"the watching process ended: {said.strip() or 'it said nothing'}"

    def close(self) -> None:
        """End it: its program is detached by the kernel with it."""
        _required(self._running.stdin).close()
        until = time.monotonic() + _END_SECONDS
        while self._running.poll() is None and time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                os.read(self._out.fileno(), _PIECE)  # what it still says goes nowhere
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait()
        self._out.close()
        os.close(self._complaints)


def _required(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise AssertionError("its input and output are pipes")
    return stream
