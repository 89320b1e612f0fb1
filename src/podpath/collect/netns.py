"""Being in another network namespace for a moment, and the numbers by which namespaces know each
other (rtnetlink(7)).
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from podpath.net.errors import PodpathError

_CLONE_NEWNET = 0x40000000
_RTM_GETNSID, _NLM_F_REQUEST, _NETNSA_NSID, _NETNSA_FD = 90, 1, 1, 3
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HHi")
_libc = ctypes.CDLL(None, use_errno=True)


class NetnsError(PodpathError):
    """A namespace cannot be entered. The message names it and says what the kernel said."""


@contextmanager
def inside(path: str) -> Iterator[None]:
    """Be in the namespace of a file (`/run/netns/NAME`, `/proc/PID/ns/net`) for a block: sockets
    and programs stay in it.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        _enter(path)
        yield
    finally:
        _libc.setns(home, _CLONE_NEWNET)
        os.close(home)


def _enter(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise NetnsError(f"expected a network namespace at {path}: {error.strerror}") from error
    try:
        if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
            raise NetnsError(
                f"expected to enter {path}, the kernel said: {os.strerror(ctypes.get_errno())}"
            )
    finally:
        os.close(descriptor)


def peer_identifier(path: str, other: str) -> int | None:
    """Return the `link-netnsid` by which one namespace knows another; None where it knows it by
    none (RTM_GETNSID).
    """
    with (
        inside(path),
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink,
    ):
        descriptor = os.open(other, os.O_RDONLY)
        try:
            body = struct.pack("=Bxxx", 0) + _ATTRIBUTE.pack(8, _NETNSA_FD, descriptor)
            netlink.send(_HEADER.pack(16 + len(body), _RTM_GETNSID, _NLM_F_REQUEST, 1, 0) + body)
            answer = netlink.recv(4096)
        finally:
            os.close(descriptor)
    if len(answer) < 28:
        return None
    _, kind, number = _ATTRIBUTE.unpack_from(answer, 20)
    return number if kind == _NETNSA_NSID and number >= 0 else None
