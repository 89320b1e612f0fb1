"""Frames on every device of a namespace, as the kernel shows them to a packet socket (packet(7)).

One socket per namespace sees every device, in and out, with the kernel's own time, so frames of all
namespaces can be put in one order. Only what the datapath model predicts is decoded: Ethernet, ARP,
IPv4, IPv6, TCP, UDP, ICMP.
"""

from __future__ import annotations

import socket
import struct
import time
from threading import Thread
from typing import NamedTuple

from podpath.drops.headers import ARP, IPV4, IPV6, parse_packet
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath_lab.apply import inside

_ETH_P_ALL = 0x0003
_SO_TIMESTAMPNS = 35
_PACKET_OUTGOING = 4
_BARE = frozenset({768, 778})
"""Types of devices whose frames begin with the IP header: ARPHRD_TUNNEL and ARPHRD_IPGRE."""
_OF_ITSELF = frozenset({*range(130, 138), 143})
"""Types of ICMPv6 that discover listeners, routers and neighbors (RFC 4861, 2710, 3810)."""
_TIMESPEC = struct.Struct("qq")
_END_OF_OPTIONS, _NO_OPERATION, _MSS = 0, 1, 2


class Arp(NamedTuple):
    """The body of an ARP frame."""

    operation: int
    """1 request, 2 reply."""
    sender_mac: Mac
    sender: Address
    target: Address


class SeenFrame(NamedTuple):
    """One frame that a device of a namespace received or sent."""

    time: int
    """Nanoseconds of the kernel's clock."""
    netns: str
    link: str
    outgoing: bool
    packet: Packet | None
    """None for what is no IP, and for what IPv6 says of itself (neighbors, routers and groups) or
    tells of that as an error.
    """
    arp: Arp | None = None


class Tap:
    """A packet socket in each of some namespaces."""

    def __init__(self, namespaces: tuple[str, ...]) -> None:
        """Open the sockets; frames count from here on."""
        _keep_stamping()
        self._sockets: dict[str, socket.socket] = {}
        for netns in namespaces:
            with inside(netns):
                tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
            tap.setblocking(False)
            tap.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            self._sockets[netns] = tap

    @property
    def descriptors(self) -> tuple[socket.socket, ...]:
        """The sockets, to wait on."""
        return tuple(self._sockets.values())

    def read(self) -> list[SeenFrame]:
        """Return the frames seen since the last call, in the order of their time."""
        frames = [frame for netns, tap in self._sockets.items() for frame in _drain(netns, tap)]
        return sorted(frames, key=lambda frame: frame.time)

    def close(self) -> None:
        """Close the sockets, behind the caller's back: each waits for a grace period
        (packet_release, v6.12).
        """
        Thread(target=_close, args=(tuple(self._sockets.values()),)).start()


def _close(sockets: tuple[socket.socket, ...]) -> None:
    for each in sockets:
        each.close()


_stamping: list[socket.socket] = []


def _keep_stamping() -> None:
    """Have the kernel stamp frames from now on: it begins a moment after the first socket asks
    (net_enable_timestamp, v6.12).
    """
    if not _stamping:
        keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        keeper.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        _stamping.append(keeper)
        time.sleep(0.05)


def _drain(netns: str, tap: socket.socket) -> list[SeenFrame]:
    frames: list[SeenFrame] = []
    while True:
        try:
            data, ancillary, _, sender = tap.recvmsg(65536, 64)
        except BlockingIOError:
            return frames
        seconds, nanoseconds = _TIMESPEC.unpack_from(ancillary[0][2])
        link, _, packet_type = sender[0], sender[1], sender[2]
        packet, arp = (
            (decode_bare(sender[1], data), None) if sender[3] in _BARE else decode_frame(data)
        )
        frames.append(
            SeenFrame(
                seconds * 10**9 + nanoseconds,
                netns,
                link,
                packet_type == _PACKET_OUTGOING,
                packet,
                arp,
            )
        )


def decode_frame(data: bytes) -> tuple[Packet | None, Arp | None]:
    """Decode an Ethernet frame to an IPv4 packet or an ARP body; neither where it is something else
    or cut short.
    """
    if len(data) < 14:
        return None, None
    ethertype = int.from_bytes(data[12:14], "big")
    if ethertype == ARP and len(data) >= 42:
        body = data[14:]
        sender, target = (Address(4, int.from_bytes(body[i : i + 4], "big")) for i in (14, 24))
        return None, Arp(int.from_bytes(body[6:8], "big"), _mac(body[8:14]), sender, target)
    if ethertype not in (IPV4, IPV6) or len(data) < 34:
        return None, None
    packet = decode_bare(ethertype, data[14:])
    if packet is None:
        return None, None
    return packet._replace(dmac=_mac(data[:6]), smac=_mac(data[6:12])), None


def decode_bare(ethertype: int, data: bytes) -> Packet | None:
    """Decode an IP packet without a frame around it; None where it is none, or cut short."""
    packet = parse_packet(ethertype, data) if ethertype in (IPV4, IPV6) else None
    if packet is None or _is_of_itself(packet):
        return None
    return packet._replace(mss=_find_mss(packet, data))


def _find_mss(packet: Packet, data: bytes) -> int:
    """Return the MSS that a SYN offers (RFC 9293, 3.2); 0 where none stands in it."""
    if not packet.may_offer_mss:
        return 0
    header = 40 if packet.family == 6 else (data[0] & 15) * 4
    segment = data[header:]
    options = segment[20 : (segment[12] >> 4) * 4]
    while len(options) >= 4 and options[0] != _END_OF_OPTIONS:
        if options[0] == _MSS:
            return int.from_bytes(options[2:4], "big")
        options = options[1 if options[0] == _NO_OPERATION else max(options[1], 1) :]
    return 0


def _is_of_itself(packet: Packet) -> bool:
    """Tell whether IPv6 says it of itself, or an error is about that."""
    about = packet.quoted or packet
    return about.protocol == protocols.ICMPV6 and about.icmp_type in _OF_ITSELF


def _mac(data: bytes) -> Mac:
    return Mac(data.hex(":"))
