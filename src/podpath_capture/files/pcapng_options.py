"""Options of pcapng blocks, and the blocks that tell of interfaces, names and counters
(draft-ietf-opsawg-pcapng).
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator

from podpath_capture.files.index import Interface

END, NAME, RESOLUTION, FILTER, OFFSET = 0, 2, 9, 11, 14
APPLICATION = 4
RECEIVED, DROPPED = 4, 5
FINEST = 28
"""Decimal places of a second from which on no number of ticks that a block can hold is more than a
nanosecond or two.
"""


def options(block: bytes, start: int, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the options of a block's body from an offset on; a list that is cut ends early."""
    place = start
    while place + 4 <= len(block):
        code, length = struct.unpack_from(f"{order}2H", block, place)
        if code == END:
            return
        yield code, block[place + 4 : place + 4 + length]
        place += 4 + (length + 3) // 4 * 4


def parse_application(block: bytes, order: str) -> str:
    """Read from the body of a section header block what wrote the section; empty where it does not
    say.
    """
    found = dict(options(block, 16, order)).get(APPLICATION, b"")
    return found.rstrip(b"\0").decode("utf-8", "replace")


def parse_interface(block: bytes, order: str, place: int = 0) -> Interface:
    """Read the body of an interface description block, which stands at a place of the file."""
    link_type, _, snaplen = struct.unpack_from(f"{order}2HI", block)
    interface = Interface(link_type=link_type, snaplen=snaplen, order=order, offset=place)
    for code, value in options(block, 8, order):
        if code == NAME:
            interface.name = value.rstrip(b"\0").decode("utf-8", "replace")
        elif code == RESOLUTION and value:
            interface.resolution = resolution(value[0])
        elif code == FILTER and value[:1] == b"\0":  # text as libpcap takes it
            interface.filter = value[1:].rstrip(b"\0").decode("utf-8", "replace")
        elif code == FILTER and value:  # 1 is bytecode
            interface.filter_unread = True
        elif code == OFFSET and len(value) >= 8:
            interface.shift = struct.unpack_from(f"{order}q", value)[0]
    return interface


def resolution(code: int) -> tuple[int, int]:
    """Return how many nanoseconds a tick has, as a fraction: powers of ten, or of two with the top
    bit.
    """
    ticks = 2 ** (code & 0x7F) if code & 0x80 else 10 ** min(code, FINEST)
    if 1_000_000_000 % ticks == 0:
        return 1_000_000_000 // ticks, 1
    if ticks % 1_000_000_000 == 0:
        return 1, ticks // 1_000_000_000
    return 1_000_000_000, ticks


def note_statistics(block: bytes, order: str, interface: Interface) -> None:
    """Keep what an interface statistics block counts; the last one of an interface holds."""
    interface.counted = True
    for code, value in options(block, 12, order):
        if code in {RECEIVED, DROPPED} and len(value) >= 8:
            count = int(struct.unpack_from(f"{order}Q", value)[0])
            if code == RECEIVED:
                interface.received = count
            else:
                interface.dropped = count


def parse_names(block: bytes, order: str) -> Iterator[tuple[str, str]]:
    """Yield address and name of each record of a name resolution block."""
    for code, value in options(block, 0, order):
        width = {1: 4, 2: 16}.get(code)
        if width is not None and len(value) > width:
            name = value[width:].partition(b"\0")[0].decode("utf-8", "replace")
            yield str(ipaddress.ip_address(value[:width])), name
