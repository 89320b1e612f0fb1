"""Printed packets to columns, so that what was pasted is followed across points as captures are.

tcpdump prints the numbers of TCP relative to a connection's first packet where it has seen that one, and no number at all for a
bare acknowledgement. Here all are counted from the SYN's again; a bare acknowledgement gets the number behind the SYN, which is
the same at every point. Not printed, and so 0: IP identifications, windows, timestamps. ARP and ICMP errors are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import SIDE_TYPES, Arps, Columns, Packets, Quotes, empty_arrays
from podpath.capture.index import Interface
from podpath.capture.observations import F, Frame, Talk, counted, gather_talks
from podpath.capture.read import Capture
from podpath.net import protocols
from podpath.net.addresses import Address

_DIRECTIONS = {"in": 1, "broadcast": 2, "multicast": 3, "promisc": 4, "out": 5}
_WORD = 0xFFFFFFFF


class Printed(NamedTuple):
    """A printed capture as columns."""

    capture: Capture
    devices: dict[int, str]
    """The names of the devices, by the index that they were given."""


class _Numbers(NamedTuple):
    """The sequence numbers of a packet, as on the wire."""

    seq: int
    ack: int


def pack_frames(frames: Sequence[F]) -> Printed | None:
    """Make columns of printed frames, a row each; None where they have no times, by which points are put in order."""
    if not frames or any(seen.time is None for seen in frames):
        return None
    values = empty_arrays(len(frames))
    numbers = _count_numbers(gather_talks(frames))
    links = list(dict.fromkeys(seen.link for seen in frames if seen.link is not None))
    addresses: dict[int, int] = {}
    for row, seen in enumerate(frames):
        for name, value in _fields(seen, numbers.get(id(seen)), addresses).items():
            values[name][row] = value
        if len(links) > 1 and seen.link is not None:
            values["ifindex"][row] = links.index(seen.link) + 1
    packets = Packets(
        columns=Columns(**values), arps=Arps(**_empty(Arps)), quotes=Quotes(**_empty(Quotes)), addresses=tuple(addresses)
    )
    interface = Interface(link_type=1, name=links[0] if len(links) == 1 else "")
    capture = Capture(packets=packets, interfaces=(interface,), damages=(), names={})
    return Printed(capture, dict(enumerate(links, 1)) if len(links) > 1 else {})


def _fields(seen: Frame, numbers: _Numbers | None, addresses: dict[int, int]) -> dict[str, int]:
    packet = seen.packet
    known = {
        "time": round((seen.time or 0.0) * 1_000_000) * 1000, "caplen": packet.length + 14, "wirelen": packet.length + 14,
        "version": packet.family, "protocol": packet.protocol, "flags": packet.flags, "ttl": packet.ttl,
        "direction": _DIRECTIONS.get(seen.direction or "", 0), "icmp_type": packet.icmp_type, "icmp_code": packet.icmp_code,
        "sport": packet.sport, "dport": packet.dport, "fragment": 0x2000 if packet.fragment else 0, "length": packet.length,
        "payload": packet.payload, "seq": packet.seq & _WORD, "ack": packet.ack & _WORD, "depth": 1 if seen.tunnel else 0,
        "src": _number(packet.src, addresses), "dst": _number(packet.dst, addresses),
    }  # fmt: skip
    return known if numbers is None else known | numbers._asdict()


def _number(address: Address, addresses: dict[int, int]) -> int:
    return address.value if address.family == 4 else addresses.setdefault(address.value, len(addresses))


def _count_numbers(talks: Sequence[Talk[F]]) -> dict[int, _Numbers]:
    """Give each packet of TCP its numbers as on the wire, by the identity of its frame."""
    found: dict[int, _Numbers] = {}
    for talk in talks:
        if talk.protocol != protocols.TCP:
            continue
        ours, theirs = (talk.first_number(frames) for frames in (talk.forward, talk.backward))
        for frames, mine, other in ((talk.forward, ours, theirs), (talk.backward, theirs, ours)):
            found |= {id(seen): _on_the_wire(seen, mine, other) for seen in frames}
    return found


def _on_the_wire(seen: Frame, mine: int | None, other: int | None) -> _Numbers:
    packet = seen.packet
    bare = not packet.payload and not packet.flags & (protocols.SYN | protocols.FIN | protocols.RST)
    relative = 1 if bare else counted(packet.seq, mine)
    seq = packet.seq if packet.flags & protocols.SYN else (mine or 0) + relative
    return _Numbers(seq & _WORD, ((other or 0) + counted(packet.ack, other)) & _WORD if packet.flags & protocols.ACK else 0)


def _empty(table: type[Arps | Quotes]) -> dict[str, NDArray[Any]]:
    return {field.name: np.zeros(0, SIDE_TYPES[field.name]) for field in fields(table)}
