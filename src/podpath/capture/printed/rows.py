"""A long printed capture as columns: the lines that were read as such, and between them what was
made of all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from podpath.capture.columns import SIDE_TYPES, Arps, Columns, Packets, Quotes, empty_arrays
from podpath.capture.files.index import Interface, Offsets
from podpath.capture.flows.flows import Flows, number_flows
from podpath.capture.printed.packets import Shown, empty_table, mac_number, row_of
from podpath.capture.printed.wire_numbers import restore_numbers
from podpath.capture.reading.read import Capture
from podpath.capture.text.read import PrintedRows
from podpath.net.addresses import Address

_OPERATIONS = {"request": 1, "reply": 2}


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


class OtherLine(NamedTuple):
    """A packet that was not read as a column: the lines that show it, from 0, and what they say."""

    first: int
    last: int
    time: float
    link: str | None
    shown: Shown | None
    """None for what is not IP."""
    arp: ArpBody | None
    macs: tuple[str | None, str | None]
    """As printed, for what is not IP."""


class PackedText(NamedTuple):
    """A printed capture as columns, and which lines show each packet."""

    capture: Capture
    devices: dict[int, str]
    first: Offsets
    """The first line of each packet, from 0."""
    last: Offsets
    flows: Flows


def pack_rows(rows: PrintedRows, others: Sequence[OtherLine], link: str = "") -> PackedText:
    """Put both together in the order of the lines; `link` is the device, where no line names one.

    The arrays of `rows` are taken away, so that nothing is there twice.
    """
    line = np.concatenate([rows.line, np.array([other.first for other in others], np.int64)])
    order = np.argsort(line, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ours, theirs = place[: len(rows.line)], place[len(rows.line) :]
    values = empty_arrays(len(line))
    for name in list(rows.arrays):
        column = rows.arrays.pop(name)
        if others:
            values[name][ours] = column
        else:
            values[name] = column
    links = dict.fromkeys(rows.links)
    addresses = {value: number for number, value in enumerate(rows.addresses)}
    for row, other in zip(theirs.tolist(), others, strict=True):
        for name, value in _row(other, addresses).items():
            values[name][row] = value
        if other.link is not None:
            links.setdefault(other.link)
            values["ifindex"][row] = list(links).index(other.link) + 1
    values["caplen"] = values["wirelen"] = values["length"] + np.uint32(14)
    names = list(links)
    if len(names) < 2:
        values["ifindex"][:] = 0
    packets = Packets(
        columns=Columns(**values),
        arps=Arps(**_pack_arps(theirs, others)),
        quotes=Quotes(**empty_table(Quotes)),
        addresses=tuple(addresses),
    )
    flows = number_flows(packets.columns)
    restore_numbers(packets.columns, flows)
    interface = Interface(link_type=1, name=names[0] if len(names) == 1 else "" if names else link)
    capture = Capture(packets=packets, interfaces=(interface,), damages=(), names={})
    last = np.concatenate([rows.last, np.array([other.last for other in others], np.int64)])
    devices = dict(enumerate(names, 1)) if len(names) > 1 else {}
    return PackedText(capture, devices, line[order], last[order], flows)


def _row(other: OtherLine, addresses: dict[int, int]) -> dict[str, int]:
    if other.shown is not None:
        return row_of(other.shown, addresses)
    smac, dmac = other.macs
    return {
        "time": round(other.time * 1_000_000) * 1000,
        "length": 28,
        "smac": mac_number(smac),
        "dmac": mac_number(dmac),
    }


def _pack_arps(places: Offsets, others: Sequence[OtherLine]) -> dict[str, NDArray[Any]]:
    """Make the table of ARP frames."""
    shown = [
        (row, other, other.arp)
        for row, other in zip(places.tolist(), others, strict=True)
        if other.arp is not None
    ]
    if not shown:
        return empty_table(Arps)
    table: dict[str, list[int]] = {
        "row": [row for row, _, _ in shown],
        "operation": [_OPERATIONS.get(arp.operation, 0) for _, _, arp in shown],
        "sender": [_four(arp.sender) for _, _, arp in shown],
        "target": [_four(arp.target) for _, _, arp in shown],
        "sender_mac": [
            mac_number(arp.sender_mac) or mac_number(other.macs[0]) for _, other, arp in shown
        ],
        "target_mac": [mac_number(arp.target_mac) for _, _, arp in shown],
    }
    return {name: np.array(values, SIDE_TYPES[name]) for name, values in table.items()}


def _four(address: Address | None) -> int:
    return address.value if address is not None and address.family == 4 else 0
