"""Printed packets to columns, however they were read: so captures that were pasted are followed
across points as binary ones are.

A short text gives a value for each line, a long one gives columns for its usual lines and a value
for each other one; both become the same columns here. TCP's numbers are those of the wire again
(`capture.printed.wire_numbers`). IP identifications are 0 but with `-v`; ICMP errors quote nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from podpath.capture.frames import F
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath_capture.columns import (
    DIRECTIONS,
    SACK_OK,
    SIDE_TYPES,
    TIMESTAMPS,
    Arps,
    PacketColumns,
    Packets,
    Quotes,
    empty_arrays,
)
from podpath_capture.files.index import Interface, Offsets
from podpath_capture.flows.flows import Flows, number_flows
from podpath_capture.printed.wire_numbers import restore_numbers
from podpath_capture.reading.read import DecodedCapture
from podpath_capture.text.read import PrintedRows

_DIRECTIONS = {name: number for number, name in DIRECTIONS.items()}
_OPERATIONS = {"request": 1, "reply": 2}
_ARP_LENGTH, _ETHERNET = 28, 14
"""Bytes of an ARP frame, and of the header before it."""
_WORD, _HALF = 0xFFFFFFFF, 0xFFFF
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
_WINDOW = re.compile(
    r"\bFlags \[[^\]]*\],.*?\bwin (?P<window>\d+)(?:, urg \d+)?"
    r"(?:, options \[(?P<options>[^\]]*)\])?"
)
_IDENT = re.compile(r"\(tos 0x[^()]*?, id (\d+), offset ")
_SEGMENT = re.compile(r"\bmss (?P<mss>\d+)")
_STAMPS = re.compile(r"\bTS val (?P<value>\d+) ecr (?P<echo>\d+)")


class ArpBody(Protocol):
    """What a line says of an ARP frame."""

    @property
    def operation(self) -> str:
        """`request`, `reply`, or another by its number."""

    @property
    def sender(self) -> Address | None:
        """Whose frame it is."""

    @property
    def target(self) -> Address | None:
        """Whom it is about."""

    @property
    def sender_mac(self) -> str | None:
        """As printed."""

    @property
    def target_mac(self) -> str | None:
        """As printed."""


class PrintedPacket(NamedTuple):
    """What the lines of one packet say."""

    lines: tuple[int, int]
    """The first and the last line that show it, from 0."""
    time: float
    link: str | None
    direction: str | None
    tunnel: str
    text: str
    """Its lines."""
    packet: Packet | None
    """None for what is not IP."""
    arp: ArpBody | None = None
    macs: tuple[str | None, str | None] = (None, None)
    """As printed, for what is not IP."""


class PrintedCapture(NamedTuple):
    """A printed capture as columns, and which lines show each packet."""

    capture: DecodedCapture
    devices: dict[int, str]
    """The names of the devices, by the index that they were given."""
    first: Offsets
    """The first line of each packet, from 0."""
    last: Offsets
    flows: Flows


def pack_frames(frames: Sequence[F]) -> PrintedCapture | None:
    """Make columns of frames, a row each; None where they have no times, by which points are put in
    order.
    """
    packets: list[PrintedPacket] = []
    for number, seen in enumerate(frames):
        if seen.time is None:
            return None
        rows = (number, number)
        packet = PrintedPacket(
            rows, seen.time, seen.link, seen.direction, seen.tunnel, seen.span.text, seen.packet
        )
        packets.append(packet)
    return pack_printed(packets) if packets else None


def pack_printed(
    packets: Sequence[PrintedPacket], rows: PrintedRows | None = None, link: str = ""
) -> PrintedCapture:
    """Put packets and lines that were read as columns together, in the order of the lines; `link`
    is the device, where no line names one.

    The arrays of `rows` are taken away, so that nothing is there twice.
    """
    lines = np.array([packet.lines for packet in packets], np.int64).reshape(-1, 2)
    first, last = lines.T
    known = 0
    links: dict[str, int] = {}
    addresses: dict[int, int] = {}
    if rows is not None:
        known = len(rows.line)
        first, last = np.concatenate([rows.line, first]), np.concatenate([rows.last, last])
        links = {name: number for number, name in enumerate(rows.links, 1)}
        addresses = {value: number for number, value in enumerate(rows.addresses)}
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    values = empty_arrays(len(first))
    if rows is not None:
        _take_columns(values, rows, place[:known] if packets else None)
    mine = place[known:]
    _write_packets(values, mine, packets, links, addresses)
    columns = PacketColumns(**values)
    flows = number_flows(columns)
    restore_numbers(columns, flows)
    frames = Packets(
        columns=columns,
        arps=Arps(**_pack_arps(mine, packets)),
        quotes=Quotes(**_empty_table(Quotes)),
        addresses=tuple(addresses),
    )
    interface = Interface(link_type=1, name=_name_interface(links, link))
    return PrintedCapture(
        capture=DecodedCapture(packets=frames, interfaces=(interface,), damages=(), names={}),
        devices={number: name for name, number in links.items()} if len(links) > 1 else {},
        first=first[order],
        last=last[order],
        flows=flows,
    )


def _write_packets(
    values: dict[str, NDArray[Any]],
    mine: Offsets,
    packets: Sequence[PrintedPacket],
    links: dict[str, int],
    addresses: dict[int, int],
) -> None:
    """Write packets into their rows; devices and IPv6 addresses that they name get numbers. One
    device alone is no point of its own.
    """
    for row, packet in zip(mine.tolist(), packets, strict=True):
        for name, value in row_of(packet, addresses).items():
            values[name][row] = value
        if packet.link is not None:
            values["ifindex"][row] = links.setdefault(packet.link, len(links) + 1)
    values["caplen"] = values["wirelen"] = values["length"] + np.uint32(_ETHERNET)
    if len(links) < 2:
        values["ifindex"][:] = 0


def _take_columns(
    values: dict[str, NDArray[Any]], rows: PrintedRows, place: Offsets | None
) -> None:
    """Move columns to their places among all packets; None where they are all packets."""
    for name in list(rows.arrays):
        column = rows.arrays.pop(name)
        if place is None:
            values[name] = column
        else:
            values[name][place] = column


def _name_interface(links: Mapping[str, int], otherwise: str) -> str:
    """Return the one device that lines name; nothing where they name several."""
    if len(links) == 1:
        return next(iter(links))
    return "" if links else otherwise


def row_of(seen: PrintedPacket, addresses: dict[int, int]) -> dict[str, int]:
    """Return the columns of one packet, its numbers as printed; `addresses` numbers those of
    IPv6.
    """
    time, packet = round(seen.time * 1_000_000) * 1000, seen.packet
    if packet is None:
        smac, dmac = (_mac_number(mac) for mac in seen.macs)
        return {"time": time, "length": _ARP_LENGTH, "smac": smac, "dmac": dmac}
    row = {
        "time": time,
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
        "query": packet.query,
        "depth": 1 if seen.tunnel else 0,
        "src": _number(packet.src, addresses),
        "dst": _number(packet.dst, addresses),
        "smac": _mac_number(packet.smac),
        "dmac": _mac_number(packet.dmac),
    }
    if packet.family == 4 and "(tos " in seen.text:
        found = _IDENT.findall(seen.text)
        of_inner = -1 if seen.tunnel else 0
        row["ident"] = int(found[of_inner]) & _HALF if found else 0
    if packet.protocol == protocols.TCP:
        return row | _segment(seen.text)
    return row


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
    if stamps is None:
        return row
    return row | {"tsval": int(stamps["value"]) & _WORD, "tsecr": int(stamps["echo"]) & _WORD}


def _mac_number(mac: str | None) -> int:
    """Return a MAC as a number; 0 for none, and for a word in its place."""
    if mac is not None and _MAC.fullmatch(mac):
        return int(mac.replace(":", ""), 16)
    return 0


def _number(address: Address, addresses: dict[int, int]) -> int:
    if address.family == 4:
        return address.value
    return addresses.setdefault(address.value, len(addresses))


def _empty_table(table: type[Arps | Quotes]) -> dict[str, NDArray[Any]]:
    """Make the columns of a side table without rows."""
    return {field.name: np.zeros(0, SIDE_TYPES[field.name]) for field in fields(table)}


def _pack_arps(places: Offsets, packets: Sequence[PrintedPacket]) -> dict[str, NDArray[Any]]:
    """Make the table of ARP frames."""
    shown = [
        (row, packet.arp, packet.macs[0])
        for row, packet in zip(places.tolist(), packets, strict=True)
        if packet.arp is not None
    ]
    columns: dict[str, list[int]] = {
        "row": [row for row, _, _ in shown],
        "operation": [_OPERATIONS.get(arp.operation, 0) for _, arp, _ in shown],
        "sender": [_four(arp.sender) for _, arp, _ in shown],
        "target": [_four(arp.target) for _, arp, _ in shown],
        "sender_mac": [_mac_number(arp.sender_mac) or _mac_number(mac) for _, arp, mac in shown],
        "target_mac": [_mac_number(arp.target_mac) for _, arp, _ in shown],
    }
    return {name: np.array(values, SIDE_TYPES[name]) for name, values in columns.items()}


def _four(address: Address | None) -> int:
    if address is not None and address.family == 4:
        return address.value
    return 0
