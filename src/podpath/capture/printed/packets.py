"""Printed packets to columns, so that what was pasted is followed across points as captures are.

TCP's numbers are those of the wire again (`capture.printed.wire_numbers`). IP identifications are 0
but with `-v`; ARP and ICMP errors are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import (
    DIRECTIONS,
    SACK_OK,
    SIDE_TYPES,
    TIMESTAMPS,
    Arps,
    Columns,
    Packets,
    Quotes,
    empty_arrays,
)
from podpath.capture.files.index import Interface
from podpath.capture.flows.flows import number_flows
from podpath.capture.frames import F
from podpath.capture.printed.wire_numbers import restore_numbers
from podpath.capture.reading.read import Capture
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

_DIRECTIONS = {name: number for number, name in DIRECTIONS.items()}
_WORD, _HALF = 0xFFFFFFFF, 0xFFFF
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
_WINDOW = re.compile(
    r"\bFlags \[[^\]]*\],.*?\bwin (?P<window>\d+)(?:, urg \d+)?(?:, options \[(?P<options>[^\]]*)\])?"
)
_IDENT = re.compile(r"\(tos 0x[^()]*?, id (\d+), offset ")
_SEGMENT = re.compile(r"\bmss (?P<mss>\d+)")
_STAMPS = re.compile(r"\bTS val (?P<value>\d+) ecr (?P<echo>\d+)")


class Shown(NamedTuple):
    """What a printed packet says."""

    packet: Packet
    time: float
    direction: str | None
    tunnel: str
    text: str
    """Its lines."""


class Printed(NamedTuple):
    """A printed capture as columns."""

    capture: Capture
    devices: dict[int, str]
    """The names of the devices, by the index that they were given."""


def pack_frames(frames: Sequence[F]) -> Printed | None:
    """Make columns of printed frames, a row each; None where they have no times, by which points
    are put in order.
    """
    if not frames or any(seen.time is None for seen in frames):
        return None
    values = empty_arrays(len(frames))
    links = list(dict.fromkeys(seen.link for seen in frames if seen.link is not None))
    addresses: dict[int, int] = {}
    for row, seen in enumerate(frames):
        shown = Shown(seen.packet, seen.time or 0.0, seen.direction, seen.tunnel, seen.span.text)
        for name, value in row_of(shown, addresses).items():
            values[name][row] = value
        if len(links) > 1 and seen.link is not None:
            values["ifindex"][row] = links.index(seen.link) + 1
    arps, quotes = Arps(**empty_table(Arps)), Quotes(**empty_table(Quotes))
    packets = Packets(
        columns=Columns(**values), arps=arps, quotes=quotes, addresses=tuple(addresses)
    )
    restore_numbers(packets.columns, number_flows(packets.columns))
    interface = Interface(link_type=1, name=links[0] if len(links) == 1 else "")
    capture = Capture(packets=packets, interfaces=(interface,), damages=(), names={})
    return Printed(capture, dict(enumerate(links, 1)) if len(links) > 1 else {})


def row_of(seen: Shown, addresses: dict[int, int]) -> dict[str, int]:
    """Return the columns of one packet, its numbers as printed; `addresses` numbers those of IPv6."""
    packet = seen.packet
    row = {
        "time": round(seen.time * 1_000_000) * 1000,
        "caplen": packet.length + 14,
        "wirelen": packet.length + 14,
        "version": packet.family,
        "protocol": packet.protocol,
        "flags": packet.flags,
        "ttl": packet.ttl & 255,
        "direction": _DIRECTIONS.get((seen.direction or "").lower(), 0),
        "icmp_type": packet.icmp_type,
        "icmp_code": packet.icmp_code,
        "sport": packet.sport,
        "dport": packet.dport,
        "fragment": 0x2000 if packet.fragment else 0,
        "length": packet.length & _WORD,
        "payload": packet.payload & _WORD,
        "seq": packet.seq & _WORD,
        "ack": packet.ack & _WORD,
        "depth": 1 if seen.tunnel else 0,
        "src": _number(packet.src, addresses),
        "dst": _number(packet.dst, addresses),
        "smac": mac_number(packet.smac),
        "dmac": mac_number(packet.dmac),
    }
    if "(tos " in seen.text:
        found = _IDENT.findall(seen.text)
        row["ident"] = (
            int(found[-1 if seen.tunnel else 0]) & _HALF if found and packet.family == 4 else 0
        )
    return row | _segment(seen.text) if packet.protocol == protocols.TCP else row


def _segment(text: str) -> dict[str, int]:
    """Return what the text of a TCP packet says of its window and options."""
    found = _WINDOW.search(text)
    if found is None:
        return {}
    options = found["options"] or ""
    largest, stamps = _SEGMENT.search(options), _STAMPS.search(options)
    bits = (TIMESTAMPS if stamps is not None else 0) | (SACK_OK if "sackOK" in options else 0)
    row = {"window": min(int(found["window"]), _HALF), "options": bits}
    if largest is not None:
        row["mss"] = min(int(largest["mss"]), _HALF)
    return (
        row
        if stamps is None
        else row | {"tsval": int(stamps["value"]) & _WORD, "tsecr": int(stamps["echo"]) & _WORD}
    )


def mac_number(mac: str | None) -> int:
    """Return a MAC as a number; 0 for none, and for a word in its place."""
    return int(mac.replace(":", ""), 16) if mac is not None and _MAC.fullmatch(mac) else 0


def _number(address: Address, addresses: dict[int, int]) -> int:
    return (
        address.value
        if address.family == 4
        else addresses.setdefault(address.value, len(addresses))
    )


def empty_table(table: type[Arps | Quotes]) -> dict[str, NDArray[Any]]:
    """Make the columns of a side table without rows."""
    return {field.name: np.zeros(0, SIDE_TYPES[field.name]) for field in fields(table)}
