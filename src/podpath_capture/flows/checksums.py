"""Whether the outer UDP checksum of tunnel packets that came in is right: one that is not, and not
zero, is dropped.

Only cooked captures tell what came in; what goes out is finished by the network card, after the
capture has seen it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from podpath.net import protocols
from podpath_capture.columns import Packets
from podpath_capture.files.index import Interface

RECEIVED = 1
"""Value of the column `direction` for what came in for this host."""
_HEADERS = {113: 16, 276: 20}
"""Bytes before the network layer: of the cooked captures, old and new."""


def find_wrong_sums(
    packets: Packets, data: bytes | memoryview, interfaces: Sequence[Interface], rows: Iterable[int]
) -> frozenset[int]:
    """Return those of the rows that are tunnel packets which came in whole, with an outer UDP
    checksum that is wrong.
    """
    columns = packets.columns
    found = set()
    for row in rows:
        if (
            int(columns.direction[row]) != RECEIVED
            or int(columns.outer_protocol[row]) != protocols.UDP
        ):
            continue
        start = _HEADERS.get(interfaces[int(columns.interface[row])].link_type)
        size = int(columns.caplen[row])
        if start is None or size < int(columns.wirelen[row]):
            continue
        offset = int(columns.offset[row])
        if _is_wrong(bytes(data[offset + start : offset + size])):
            found.add(row)
    return frozenset(found)


def _is_wrong(packet: bytes) -> bool:
    """Tell whether an IP packet's UDP checksum is there and wrong; a damaged or fragmented packet
    is not judged.
    """
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= 20 and not struct.unpack(">H", packet[6:8])[0] & 0x3FFF:
        head, ends = (packet[0] & 15) * 4, packet[12:20]
    elif version == 6 and len(packet) >= 40 and packet[6] == protocols.UDP:
        head, ends = 40, packet[8:40]
    else:
        return False
    udp = packet[head:]
    if len(udp) < 8:
        return False
    length, sum_ = struct.unpack(">HH", udp[4:8])
    if not sum_ or not 8 <= length <= len(udp):
        return False
    return _add(ends + struct.pack(">HH", protocols.UDP, length) + udp[:length]) != 0xFFFF


def _add(data: bytes) -> int:
    """Add 16-bit words with the carry put back (RFC 1071)."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
