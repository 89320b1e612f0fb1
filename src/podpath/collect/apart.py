"""Work in a process of its own, whose result alone comes back: whoever waits for it in a thread
keeps the other threads running, which no work of Python's beside them does.

The process is a copy of this one (fork(2)), so what the work needs is there. It yields to this one
where processors are few, holds none of its descriptors, and ends with the thread that waits for it,
however that ends.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, NamedTuple, NoReturn, TypeVar

from podpath.capture.workers import LostError
from podpath.net.errors import PodpathError

T = TypeVar("T")
NICE = 5
"""By how much the process yields: so that what is told meanwhile finds a processor free."""
_PR_SET_PDEATHSIG = 1
_FIRST_OWN = 3
"""The first descriptor that is none of the standard ones."""
_libc = ctypes.CDLL(None, use_errno=True)


class ApartResult(NamedTuple, Generic[T]):
    """What came of a piece of work."""

    found: T
    spent: float
    """Seconds of a processor that it took, with the programs that it ran."""


def run_apart(work: Callable[[], T], nice: int = NICE) -> ApartResult[T]:
    """Do a piece of work in a process of its own, and return what came of it; the process yields to
    others by `nice`.

    Raises what the work raised of `PodpathError` and `OSError`, and `LostError` where the process
    ended before it said anything.
    """
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        with warnings.catch_warnings():
            # the other threads' locks are none that the work asks for
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if child == 0:
        _be_apart(work, writing, parent, nice)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, _, used = os.wait4(child, 0)
    if not said:
        raise LostError("the process that worked beside ended early")
    done, result = pickle.loads(said)  # noqa: S301 - our own copy wrote it
    if not done:
        raise result
    return ApartResult(result, used.ru_utime + used.ru_stime)


def _be_apart(work: Callable[[], object], writing: int, parent: int, nice: int) -> NoReturn:
    """Do the work, say what came of it, and end: nothing of what the first process is to do at its
    end is done twice.
    """
    code = 1
    try:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the kernel was told
            os._exit(code)
        _close_all_but(writing)
        os.nice(nice)
        said = _try(work)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
        code = 0
    finally:
        os._exit(code)


def _close_all_but(kept: int) -> None:
    for number in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if number >= _FIRST_OWN and number != kept:
            with suppress(OSError):  # the listing's own is closed already
                os.close(number)


def _try(work: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps((True, work()), pickle.HIGHEST_PROTOCOL)
    except (PodpathError, OSError) as error:
        return pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
