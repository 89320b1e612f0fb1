"""What the kernel says over netlink of the network namespace that this thread is in: its devices,
the numbers by which it knows other namespaces, and whether it holds any rules at all.

Programs print the same, but a process for each question is too much where a node has hundreds of
namespaces.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_LINK = struct.Struct("=BxHiII")
_INTEGER = struct.Struct("=i")
_REQUEST, _DUMP = 0x1, 0x300
_ERROR, _DONE = 2, 3
_RTM_NEWLINK, _RTM_GETLINK, _RTM_NEWNEIGH, _RTM_GETNEIGH, _RTM_GETNSID = 16, 18, 28, 30, 90
_RTM_NEWRULE, _RTM_GETRULE = 32, 34
_RTM_NEWQDISC, _RTM_GETQDISC = 36, 38
_RTM_NEWROUTE, _RTM_GETROUTE = 24, 26
_ROUTE = struct.Struct("=BBBBBBBBI")
_RTA_OIF, _RTA_GATEWAY, _RTA_MULTIPATH, _RTA_VIA = 4, 5, 9, 18
_NEXTHOP = struct.Struct("=HBBi")
"""A next hop of several: its length with its attributes, flags, weight, and device (rtnexthop)."""
_TRAFFIC = struct.Struct("=BxxxiIII")
_TCA_KIND = 1
_NEIGHBOR = struct.Struct("=BxxxiHBB")
_AF_BRIDGE, _NUD_PERMANENT, _NTF_SELF, _NDA_LLADDR = 7, 0x80, 0x02, 2
_MAC = 6
_IFLA_IFNAME, _IFLA_LINK, _IFLA_MASTER, _IFLA_LINKINFO, _IFLA_LINK_NETNSID = 3, 5, 10, 18, 37
_IFLA_INFO_KIND = 1
_NETNSA_NSID, _NETNSA_FD = 1, 3
_NETLINK_XFRM, _NETLINK_NETFILTER = 6, 12
_TYPE = 0x3FFF
"""What is left of an attribute's type without its flags (NLA_TYPE_MASK)."""
_WINDOW = 1 << 16


class NetlinkDevice(NamedTuple):
    """A network device, as far as it says where other devices are (rtnetlink(7))."""

    name: str
    ifindex: int
    kind: str
    """iproute2's kind; empty for hardware and loopback."""
    link: int | None
    """The index of the device that it belongs to (IFLA_LINK): a veth's other end, what it sits
    on.
    """
    identifier: int | None
    """The number of the namespace of `link` (IFLA_LINK_NETNSID); None where it is this one."""
    master: int | None


class NetlinkDump(NamedTuple):
    """A dump that is empty where a namespace holds nothing of its kind."""

    family: int
    """The netlink protocol."""
    message: int
    body: bytes = b""


NFTABLES = NetlinkDump(_NETLINK_NETFILTER, 10 << 8 | 1, bytes(4))
"""Tables of nftables, those of `iptables-nft` too (NFT_MSG_GETTABLE)."""
IPSETS = NetlinkDump(
    _NETLINK_NETFILTER, 6 << 8 | 7, bytes(4) + _ATTRIBUTE.pack(5, 1) + b"\x06\0\0\0"
)
"""Sets, asked for with protocol 6 (IPSET_CMD_LIST)."""
XFRM_POLICIES = NetlinkDump(_NETLINK_XFRM, 0x15)
"""Policies of IPsec (XFRM_MSG_GETPOLICY), those of single sockets too."""


class NetlinkQdisc(NamedTuple):
    """A queueing discipline that stands for itself (rtnetlink(7))."""

    ifindex: int
    kind: str
    handle: int
    parent: int
    references: int


class NetlinkSocket:
    """A netlink socket of the namespace that it was opened in."""

    def __init__(self, opened: socket.socket) -> None:
        """Take an open socket."""
        self._socket = opened

    def list_devices(self) -> tuple[NetlinkDevice, ...]:
        """Return all devices of the namespace."""
        replies = self._ask(_RTM_GETLINK, _REQUEST | _DUMP, _LINK.pack(0, 0, 0, 0, 0))
        return tuple(_read_device(body) for kind, body in replies if kind == _RTM_NEWLINK)

    def list_own_addresses(self) -> tuple[tuple[int, bytes], ...] | None:
        """Return the MAC addresses that devices listen for beside their own (`bridge fdb`), each
        with its device's index; None where an entry is anything else.
        """
        found: list[tuple[int, bytes]] = []
        asked = _NEIGHBOR.pack(_AF_BRIDGE, 0, 0, 0, 0)
        for kind, body in self._ask(_RTM_GETNEIGH, _REQUEST | _DUMP, asked):
            if kind != _RTM_NEWNEIGH:
                return None
            _, index, state, flags, _ = _NEIGHBOR.unpack_from(body)
            attributes = dict(_read_attributes(body[_NEIGHBOR.size :]))
            address = attributes.get(_NDA_LLADDR, b"")
            plain = attributes.keys() == {_NDA_LLADDR} and len(address) == _MAC
            if not plain or (state, flags) != (_NUD_PERMANENT, _NTF_SELF):
                return None
            found.append((index, address))
        return tuple(found)

    def list_rules(self, family: int) -> bytes | None:
        """Return the policy rules of a family as the kernel has them; None where it does not
        answer.
        """
        asked = bytes((family,)) + bytes(11)
        replies = list(self._ask(_RTM_GETRULE, _REQUEST | _DUMP, asked))
        if any(kind != _RTM_NEWRULE for kind, _ in replies):
            return None
        return b"".join(len(body).to_bytes(4, "little") + body for _, body in replies)

    def list_gateway_devices(self) -> frozenset[int]:
        """Return the indexes of the devices that routes with a gateway go over, in any table."""
        found: set[int] = set()
        for family in (socket.AF_INET, socket.AF_INET6):
            asked = _ROUTE.pack(family, 0, 0, 0, 0, 0, 0, 0, 0)
            for kind, body in self._ask(_RTM_GETROUTE, _REQUEST | _DUMP, asked):
                if kind == _RTM_NEWROUTE:
                    found.update(_list_gateway_devices(body[_ROUTE.size :]))
        return frozenset(found)

    def list_qdiscs(self) -> tuple[NetlinkQdisc, ...] | None:
        """Return the queueing disciplines of all devices; None where the kernel does not answer."""
        asked = _TRAFFIC.pack(0, 0, 0, 0, 0)
        replies = list(self._ask(_RTM_GETQDISC, _REQUEST | _DUMP, asked))
        if any(kind != _RTM_NEWQDISC for kind, _ in replies):
            return None
        return tuple(_read_qdisc(body) for _, body in replies)

    def find_identifier(self, descriptor: int) -> int | None:
        """Return the number by which the namespace knows another one; None where it knows it by
        none.
        """
        asked = bytes(4) + _ATTRIBUTE.pack(8, _NETNSA_FD) + _INTEGER.pack(descriptor)
        for kind, body in self._ask(_RTM_GETNSID, _REQUEST, asked):
            found = dict(_read_attributes(body[4:])).get(_NETNSA_NSID) if kind != _ERROR else None
            if found is not None:
                (number,) = _INTEGER.unpack(found)
                return int(number) if number >= 0 else None
        return None

    def is_empty(self, question: NetlinkDump) -> bool:
        """Tell whether a dump has nothing in it; False also where the kernel does not answer."""
        replies = self._ask(question.message, _REQUEST | _DUMP, question.body, most=1)
        return [kind for kind, _ in replies] == []

    def _ask(
        self, message: int, flags: int, body: bytes, *, most: int = 0
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the replies, each with its type; an error is one of type `NLMSG_ERROR`."""
        self._socket.send(_HEADER.pack(_HEADER.size + len(body), message, flags, 1, 0) + body)
        seen = 0
        while True:
            data = self._socket.recv(_WINDOW)
            place = 0
            while place + _HEADER.size <= len(data):
                length, kind, _, _, _ = _HEADER.unpack_from(data, place)
                if kind == _DONE:
                    return
                yield kind, data[place + _HEADER.size : place + length]
                seen += 1
                if kind == _ERROR or not flags & _DUMP or seen == most:
                    return
                place += length + 3 & ~3


@contextmanager
def open_routing() -> Iterator[NetlinkSocket]:
    """Ask this thread's namespace about devices and other namespaces."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as opened:
        yield NetlinkSocket(opened)


def list_rules(family: int) -> bytes | None:
    """Return the policy rules of this thread's namespace; None where the kernel does not answer."""
    try:
        with open_routing() as kernel:
            return kernel.list_rules(family)
    except OSError:
        return None


def is_known(question: NetlinkDump) -> bool:
    """Tell whether the kernel has the protocol of a question at all."""
    try:
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, question.family).close()
    except OSError as error:
        return error.errno != errno.EPROTONOSUPPORT
    return True


def is_empty(question: NetlinkDump) -> bool:
    """Tell whether this thread's namespace has nothing of a kind; False also where that is
    unknown.
    """
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, question.family) as opened:
            return NetlinkSocket(opened).is_empty(question)
    except OSError:
        return False


def _read_device(body: bytes) -> NetlinkDevice:
    _, _, index, _, _ = _LINK.unpack_from(body)
    attributes = dict(_read_attributes(body[_LINK.size :]))
    information = dict(_read_attributes(attributes.get(_IFLA_LINKINFO, b"")))
    return NetlinkDevice(
        name=_text(attributes.get(_IFLA_IFNAME, b"")),
        ifindex=index,
        kind=_text(information.get(_IFLA_INFO_KIND, b"")),
        link=_number(attributes.get(_IFLA_LINK)),
        identifier=_number(attributes.get(_IFLA_LINK_NETNSID)),
        master=_number(attributes.get(_IFLA_MASTER)),
    )


def _read_qdisc(body: bytes) -> NetlinkQdisc:
    _, index, handle, parent, references = _TRAFFIC.unpack_from(body)
    attributes = dict(_read_attributes(body[_TRAFFIC.size :]))
    return NetlinkQdisc(index, _text(attributes.get(_TCA_KIND, b"")), handle, parent, references)


def _list_gateway_devices(data: bytes) -> Iterator[int]:
    """Yield the devices of a route's next hops that have a gateway."""
    attributes = dict(_read_attributes(data))
    index = _number(attributes.get(_RTA_OIF))
    if index is not None and attributes.keys() & {_RTA_GATEWAY, _RTA_VIA}:
        yield index
    several = attributes.get(_RTA_MULTIPATH, b"")
    place = 0
    while place + _NEXTHOP.size <= len(several):
        length, _, _, index = _NEXTHOP.unpack_from(several, place)
        if length < _NEXTHOP.size:
            return
        own = dict(_read_attributes(several[place + _NEXTHOP.size : place + length]))
        if own.keys() & {_RTA_GATEWAY, _RTA_VIA}:
            yield index
        place += length + 3 & ~3


def _read_attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, place)
        if length < _ATTRIBUTE.size:
            return
        yield kind & _TYPE, data[place + _ATTRIBUTE.size : place + length]
        place += length + 3 & ~3


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode("utf-8", "replace")


def _number(data: bytes | None) -> int | None:
    if data is None:
        return None
    return int(_INTEGER.unpack_from(data)[0])
