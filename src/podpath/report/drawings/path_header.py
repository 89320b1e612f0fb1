"""A packet's header at a door, in the few lines that a drawing has room for: its two ends, its TTL
and its MAC addresses, each with whether it was rewritten there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from podpath.net.packet import Packet, endpoint
from podpath.report.drawings.path_drawing import DrawnPacket, Stop

UNKNOWN_MAC = "?"
"""Stands for a MAC address that the evidence does not tell."""
CONTINUED = "  "
"""Before the rest of an end that has more than one line."""
_MAC_SIGNS = 17


class Change(Enum):
    """What became of a part of the header since the stop before."""

    FIRST = "first"
    """It is told for the first time."""
    SAME = "same"
    REWRITTEN = "rewritten"


class HeaderPart(NamedTuple):
    """A part of the header, with what became of it."""

    text: str
    change: Change


class HeaderLine(NamedTuple):
    """A line of the header: one part, or two beside each other."""

    parts: tuple[HeaderPart, ...]
    small: bool = False
    """True for MAC addresses, which are long."""


def list_headers(packet: DrawnPacket, width: int) -> list[tuple[HeaderLine, ...]]:
    """Return the lines of each stop's header; `width` is how many characters a line may have."""
    headers: list[tuple[HeaderLine, ...]] = []
    before: Packet | None = None
    for stop in packet.stops:
        headers.append(tuple(_list_lines(stop, before, width)))
        before = stop.left
    return headers


def describe_header(stop: Stop) -> str:
    """Say the whole header in words, and what was rewritten at the door."""
    said = f"{stop.door.label} in {stop.door.netns}: {_describe(stop.came)}"
    if stop.left != stop.came:
        said = f"{said}; goes on as {_describe(stop.left)}"
    if stop.outer is not None:
        said = f"{said}; in {_describe(stop.outer)}"
    return said


def _describe(packet: Packet) -> str:
    macs = f", MAC {packet.smac} > {packet.dmac}" if packet.smac or packet.dmac else ""
    return f"{packet}, TTL {packet.ttl}{macs}"


def _list_lines(stop: Stop, before: Packet | None, width: int) -> Iterator[HeaderLine]:
    first = Change.FIRST if before is None else Change.SAME
    old, new = _spell_ends(stop.came), _spell_ends(stop.left)
    ends = [HeaderPart(old[0], first)]
    if new[0] != old[0]:
        ends.append(HeaderPart(f"⇒ {new[0]}", Change.REWRITTEN))
    ends.append(HeaderPart(f"› {old[1]}", first))
    if new[1] != old[1]:
        ends.append(HeaderPart(f"⇒ {new[1]}", Change.REWRITTEN))
    *lines, last = [part for end in ends for part in _break_end(end, width)]
    lived = stop.left.ttl != stop.came.ttl
    ttl = HeaderPart(f"TTL {stop.left.ttl}", Change.REWRITTEN if lived else first)
    yield from (HeaderLine((line,)) for line in lines)
    beside = len(last.text) + len(ttl.text) + 1 <= width
    yield from ([HeaderLine((last, ttl))] if beside else [HeaderLine((last,)), HeaderLine((ttl,))])
    yield from _list_macs(stop)
    if stop.outer is not None:
        source, destination = _spell_ends(stop.outer)
        for text in (f"in {source}", f"› {destination}"):
            outer = _break_end(HeaderPart(text, Change.FIRST), width)
            yield from (HeaderLine((part,)) for part in outer)


def _break_end(end: HeaderPart, width: int) -> Iterator[HeaderPart]:
    """Break an end that is too long for a line behind a colon of its IPv6 address."""
    text = end.text
    while len(text) > width:
        at = text.rfind(":", len(CONTINUED), width) + 1
        if at == 0:
            break
        yield HeaderPart(text[:at], end.change)
        text = f"{CONTINUED}{text[at:]}"
    yield HeaderPart(text, end.change)


def _list_macs(stop: Stop) -> Iterator[HeaderLine]:
    """Name the Ethernet addresses; a socket sees none."""
    came, left = (stop.came.smac, stop.came.dmac), (stop.left.smac, stop.left.dmac)
    spelled = tuple(_spell_mac(one) for one in left)
    if not stop.door.link or spelled == (UNKNOWN_MAC, UNKNOWN_MAC):
        return
    change = Change.SAME if left == came else Change.REWRITTEN
    if came == (None, None):
        change = Change.FIRST
    yield HeaderLine((HeaderPart(f"MAC {spelled[0]}›{spelled[1]}", change),), small=True)


def _spell_mac(mac: str | None) -> str:
    """Spell an address; words that stand for one that nobody knows are no address."""
    if mac and len(mac) == _MAC_SIGNS and mac.count(":") == 5:
        return mac
    return UNKNOWN_MAC


def _spell_ends(packet: Packet) -> tuple[str, str]:
    if not packet.has_ports:
        return str(packet.src), str(packet.dst)
    return endpoint(packet.src, packet.sport), endpoint(packet.dst, packet.dport)
