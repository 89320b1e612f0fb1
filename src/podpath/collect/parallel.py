"""Work that is shared by processes: a fork for each core, memory that all of them see, and a place
where they meet.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple, TypeVar

from podpath.capture.workers import AllGather, LostError

T = TypeVar("T")
WORTH = 1 << 25
"""Bytes of a capture from which on a second process saves more than its start costs."""
MOST = 8
"""Processes that one capture is shared by: more wait for memory rather than for each other."""
POPULATE_READ = 22
"""MADV_POPULATE_READ (Linux 5.14), which Python has no name for."""
NORESERVE = 0x4000
"""MAP_NORESERVE: memory that is never touched is not held against the limit of what may be
promised.
"""


def count_workers(size: int) -> int:
    """Say how many processes should read a capture of so many bytes: one where a fork is not safe
    or does not pay.
    """
    if size < WORTH or sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return min(len(os.sched_getaffinity(0)), MOST)


def plan_workers(data: bytes | memoryview) -> ForkedWorkers | None:
    """Return those who should read a capture, as long as more than one should."""
    workers = count_workers(len(data))
    if workers < 2:
        return None
    return ForkedWorkers(workers, data if isinstance(data, memoryview) else None)


class ForkedWorkers:
    """Copies of this process that work beside it: it is the first of the workers itself."""

    def __init__(self, size: int, view: memoryview | None = None) -> None:
        """Plan for so many workers that read one mapped file."""
        self.size = size
        self._file = view.obj if view is not None else None

    @staticmethod
    def share(size: int) -> memoryview:
        """Return zeros that every worker sees; `LostError` where this process may not have so
        much.
        """
        try:
            return memoryview(
                mmap.mmap(-1, size, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | NORESERVE)
            )
        except OSError as error:
            raise LostError(f"no memory to share: {error}") from error

    def load(self, start: int, stop: int) -> None:
        """Map the pages of a stretch of the file at once, where the kernel can."""
        if isinstance(self._file, mmap.mmap):
            start -= start % mmap.PAGESIZE
            with suppress(OSError):
                self._file.madvise(POPULATE_READ, start, stop - start)

    def run(self, work: Callable[[int, AllGather], T]) -> list[T]:
        """Let each worker do its work; `LostError` where a process ended before it gave a
        result.
        """
        children: list[_Child] = []

        def meet(value: Any) -> list[Any]:  # noqa: ANN401 - whatever the work says
            values = [value, *(child.receive() for child in children)]
            for child in children:
                child.send(values)
            return values

        try:
            for number in range(1, self.size):
                children.append(_start(work, number, children))
            return [work(0, meet), *(child.receive() for child in children)]
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise LostError(f"a process that helped to read ended early: {error}") from error
        finally:
            for child in children:
                child.end()


class _Child(NamedTuple):
    """Another process, and the pipes to and from it. Local to this module."""

    pid: int
    to: BinaryIO
    back: BinaryIO

    def send(self, value: object) -> None:
        """Say something to it."""
        pickle.dump(value, self.to, pickle.HIGHEST_PROTOCOL)
        self.to.flush()

    def receive(self) -> Any:  # noqa: ANN401 - whatever the work says
        """Wait for what it says."""
        return pickle.load(self.back)  # noqa: S301 - our own copy wrote it

    def close(self) -> None:
        """Let go of the pipes."""
        for pipe in (self.to, self.back):
            with suppress(OSError):  # what is still to be written is for nobody
                pipe.close()

    def end(self) -> None:
        """End it: it has nothing left to say, or nobody to say it to."""
        self.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _start(work: Callable[[int, AllGather], object], number: int, others: list[_Child]) -> _Child:
    """Fork a worker."""
    there, here = os.pipe(), os.pipe()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # the threads are NumPy's, which are idle and know of forks
            pid = os.fork()
    except OSError:
        for end in (*there, *here):
            os.close(end)
        raise
    if pid == 0:
        code = 1
        try:
            for other in others:
                other.close()
            os.close(there[1])
            os.close(here[0])
            _serve(work, number, os.fdopen(there[0], "rb"), os.fdopen(here[1], "wb"))
            code = 0
        finally:
            os._exit(code)  # nothing of what the first process is to do at its end is done twice
    os.close(there[0])
    os.close(here[1])
    return _Child(pid, os.fdopen(there[1], "wb"), os.fdopen(here[0], "rb"))


def _serve(
    work: Callable[[int, AllGather], object], number: int, source: BinaryIO, target: BinaryIO
) -> None:
    """Do a worker's work in its own process, and say what came of it."""

    def say(value: object) -> None:
        pickle.dump(value, target, pickle.HIGHEST_PROTOCOL)
        target.flush()

    def meet(value: Any) -> list[Any]:  # noqa: ANN401 - whatever the work says
        say(value)
        met: list[Any] = pickle.load(source)  # noqa: S301 - the first process wrote it
        return met

    say(work(number, meet))
