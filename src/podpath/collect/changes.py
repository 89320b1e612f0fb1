"""What a node's kernel announces of changes, in the node's own namespace and in those that it knows
by a number: rules and sets of nftables (those of `iptables-nft` too), devices, addresses, routes,
rules of the routing policy, queues, and forwarding, rp_filter and their like (netconf).

Not announced are iptables-legacy, ipset and other sysctls; neighbors and tracked connections change
all the time, and are not listened for.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import NamedTuple

from podpath.collect.netns import inside
from podpath.collect.netns_files import NetnsAspect

_SOL_NETLINK = 270
_ADD_MEMBERSHIP, _LISTEN_ALL_NSID = 1, 8
_NETLINK_NETFILTER = 12
_ROUTING = (1, 4, 5, 7, 8, 9, 11, 19, 24, 25)
"""RTNLGRP_LINK, _TC, _IPV4_IFADDR, _IPV4_ROUTE, _IPV4_RULE, _IPV6_IFADDR, _IPV6_ROUTE, _IPV6_RULE,
_IPV4_NETCONF and _IPV6_NETCONF (uapi/linux/rtnetlink.h).
"""
_NFTABLES = (7,)
"""NFNLGRP_NFTABLES (uapi/linux/netfilter/nfnetlink.h)."""
_HEADER, _NUMBER = struct.Struct("=IHHII"), struct.Struct("i")
_ROUTES = frozenset({24, 25, 32, 33})
"""RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWRULE and RTM_DELRULE."""
_WINDOW = 1 << 16
_MOST = 1000
"""Messages that one look takes; the rest waits for the next."""


class HeardChanges(NamedTuple):
    """What changed since the last look."""

    aspects: Mapping[int | None, NetnsAspect]
    """By what number the node's own namespace knows each namespace; None for itself."""
    lost: bool = False
    """True where more was announced than was kept, of whatever namespace."""


class ChangeListener:
    """Listens in a node's own namespace; one look costs a system call or two."""

    def __init__(self, path: str) -> None:
        """Listen from now on; `OSError` or `NetnsError` where that is not allowed. Without
        CAP_NET_BROADCAST only the node's own namespace is heard.
        """
        self._sockets: list[socket.socket] = []
        with ExitStack() as failed:
            failed.callback(self.close)
            with inside(path):
                self._open(socket.NETLINK_ROUTE, _ROUTING)
                with suppress(OSError):  # a kernel without nftables has none of its rules
                    self._open(_NETLINK_NETFILTER, _NFTABLES)
            failed.pop_all()

    def _open(self, protocol: int, groups: Iterable[int]) -> None:
        kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK
        opened = socket.socket(socket.AF_NETLINK, kind, protocol)
        self._sockets.append(opened)
        opened.bind((0, 0))  # what has no address of its own is heard by nobody
        with suppress(PermissionError):
            opened.setsockopt(_SOL_NETLINK, _LISTEN_ALL_NSID, 1)
        for group in groups:
            opened.setsockopt(_SOL_NETLINK, _ADD_MEMBERSHIP, group)

    def read(self) -> HeardChanges:
        """Return what changed since the last look, without waiting."""
        aspects: dict[int | None, NetnsAspect] = {}
        lost = False
        for opened in self._sockets:
            rules = opened.proto == _NETLINK_NETFILTER
            for _ in range(_MOST):
                try:
                    data, beside, _, _ = opened.recvmsg(_WINDOW, socket.CMSG_SPACE(_NUMBER.size))
                except BlockingIOError:
                    break
                except OSError as error:
                    if error.errno != errno.ENOBUFS:
                        raise
                    lost = True
                    continue
                number = _read_number(beside)
                aspect = NetnsAspect.RULES if rules else _aspect_of(data)
                aspects[number] = join_aspects(aspects.get(number), aspect)
        return HeardChanges(aspects, lost)

    def close(self) -> None:
        """Listen no more."""
        while self._sockets:
            self._sockets.pop().close()


def join_aspects(known: NetnsAspect | None, more: NetnsAspect) -> NetnsAspect:
    """Return what is to be taken where both changed."""
    if known in {None, more}:
        return more
    return NetnsAspect.WHOLE


def _aspect_of(data: bytes) -> NetnsAspect:
    _, kind, *_ = _HEADER.unpack_from(data)
    if kind in _ROUTES:
        return NetnsAspect.ROUTES
    return NetnsAspect.WHOLE


def _read_number(beside: Iterable[tuple[int, int, bytes]]) -> int | None:
    """Return the number of the namespace that a message is from; None for the listener's own
    (net/netlink/af_netlink.c:netlink_cmsg_listen_all_nsid v6.6).
    """
    for level, kind, data in beside:
        if (level, kind) == (_SOL_NETLINK, _LISTEN_ALL_NSID):
            return int(_NUMBER.unpack_from(data)[0])
    return None
