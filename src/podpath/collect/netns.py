"""Being in another network namespace for a moment (setns(2))."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from podpath.net.errors import PodpathError

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NetnsError(PodpathError):
    """A namespace cannot be entered. The message names it and says what the kernel said."""


@contextmanager
def inside(path: str | int) -> Iterator[None]:
    """Be in the namespace of a file (`/run/netns/NAME`, `/proc/PID/ns/net`, or one that is open)
    for a block: sockets and programs stay in it.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _enter(path)
        yield
    finally:
        _libc.setns(home, _CLONE_NEWNET)
        os.close(home)


def _enter(path: str | int) -> None:
    if isinstance(path, int):
        _join(path, f"descriptor {path}")
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise NetnsError(f"expected a network namespace at {path}: {error.strerror}") from error
    try:
        _join(descriptor, path)
    finally:
        os.close(descriptor)


def _join(descriptor: int, name: str) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise NetnsError(
            f"expected to enter {name}, the kernel said: {os.strerror(ctypes.get_errno())}"
        )
