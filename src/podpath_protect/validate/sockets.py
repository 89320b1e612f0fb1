"""Sockets of the validator: listeners where the proxy will listen, connections that never wait, the
original destination.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import struct
from typing import NamedTuple

from podpath_protect.validate.addresses import Family

SO_ORIGINAL_DST = 80
"""SO_ORIGINAL_DST of IPv4 and IP6T_SO_ORIGINAL_DST of IPv6
(net/netfilter/nf_conntrack_proto.c:getorigdst v6.12).
"""
_SOL_IPV6 = 41
BACKLOG = 64
DOMAIN = {4: socket.AF_INET, 6: socket.AF_INET6}
ANY = {4: "0.0.0.0", 6: "::"}  # noqa: S104  # a REDIRECT in PREROUTING leads to the pod's address, one in OUTPUT to the loopback


class SocketEnd(NamedTuple):
    """An address and a port."""

    address: str
    port: int

    def __str__(self) -> str:
        """Spell it as URLs do, an IPv6 address in brackets."""
        if ":" in self.address:
            return f"[{self.address}]:{self.port}"
        return f"{self.address}:{self.port}"


def parse_end(text: str) -> SocketEnd:
    """Read `ADDRESS:PORT`, an IPv6 address in brackets; `ValueError` where it is none."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    address = ipaddress.ip_address(bare)
    if (
        not colon
        or (":" in bare) != host.startswith("[")
        or not port.isascii()
        or not port.isdigit()
        or int(port) > 65535
    ):
        raise ValueError(text)
    return SocketEnd(str(address), int(port))


def family_of(end: SocketEnd) -> Family:
    """Tell an end's family."""
    return 6 if ":" in end.address else 4


def listen(end: SocketEnd, *, dual: bool = False) -> socket.socket:
    """Listen without ever waiting; `dual` takes IPv4 on an IPv6 listener too, as servers in Rust
    and Go do.
    """
    listener = socket.socket(
        DOMAIN[family_of(end)], socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    )
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family_of(end) == 6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(not dual))
        listener.bind(tuple(end))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def connect(
    target: SocketEnd, *, source: str = "", hops: int | None = None
) -> tuple[socket.socket, int]:
    """Begin to connect and give the socket with the error so far, 0 for none; `hops` keeps the
    packet from going far.
    """
    family = family_of(target)
    caller = socket.socket(
        DOMAIN[family], socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    )
    try:
        if hops is not None and family == 4:
            caller.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
        elif hops is not None:
            caller.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
        if source:
            caller.bind((source, 0))
        code = caller.connect_ex(tuple(target))
    except OSError as error:
        return caller, error.errno or errno.EIO
    return caller, 0 if code == errno.EINPROGRESS else code


def original_destination(accepted: socket.socket) -> SocketEnd | None:
    """Return where the other side meant to connect to, before it was redirected; None where
    conntrack does not know.
    """
    plain = _unmapped(accepted.getsockname())
    try:
        if accepted.family == socket.AF_INET or ":" not in plain.address:
            raw = accepted.getsockopt(socket.IPPROTO_IP, SO_ORIGINAL_DST, 16)
            port, packed = struct.unpack_from("!2xH4s", raw)
        else:
            raw = accepted.getsockopt(_SOL_IPV6, SO_ORIGINAL_DST, 28)
            port, packed = struct.unpack_from("!2xH4x16s", raw)
    except OSError:
        return None
    return SocketEnd(str(ipaddress.ip_address(packed)), port)


def peer(accepted: socket.socket) -> SocketEnd | None:
    """Return the other side of a connection; None where it has gone already."""
    try:
        return _unmapped(accepted.getpeername())
    except OSError:
        return None


def local(one: socket.socket) -> SocketEnd:
    """Return our own side of a socket."""
    return _unmapped(one.getsockname())


def _unmapped(name: tuple[str, int]) -> SocketEnd:
    address = ipaddress.ip_address(name[0].partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return SocketEnd(str(mapped or address), name[1])
