"""Datagrams that go in fragments: how long each is, and when they are whole again.

A fragmented datagram is walked once, as a whole: what looks at single frames (rules where conntrack
has not put it together, devices) is shown each of its fragments, and one that is lost loses all.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.walk.skb import Skb
from podpath.net.packet import Packet

HEADER = 20
"""Bytes of an IPv4 header without options, which each fragment has."""
UNIT = 8
"""Offsets of fragments are counted in these bytes."""


def split(length: int, mtu: int) -> tuple[int, ...]:
    """Return the lengths of the fragments of a packet, in bytes with their headers; none where it
    fits (`ip_frag_next`).
    """
    data, room = length - HEADER, (mtu - HEADER) // UNIT * UNIT
    if length <= mtu or room <= 0:
        return ()
    rest = data % room
    return (*([room + HEADER] * (data // room)), *([rest + HEADER] if rest else []))


def send_in_pieces(skb: Skb, mtu: int) -> None:
    """Send a packet, or what is in fragments already, in fragments that fit; DF is off from there
    on. What came in fragments goes in none that are longer (`ip_do_fragment`).
    """
    limit = min(mtu, skb.longest) if skb.longest else mtu
    if skb.pieces:
        skb.pieces = tuple(piece for each in skb.pieces for piece in split(each, limit) or (each,))
    else:
        skb.pieces = split(skb.packet.length, limit)
    skb.longest = 0
    skb.packet = skb.packet._replace(dont_fragment=False)


def put_together(skb: Skb) -> None:
    """Make the datagram whole again (`ip_frag_reasm`)."""
    if skb.pieces:
        skb.longest, skb.pieces = max(skb.pieces), ()


def fragments(skb: Skb) -> Iterator[Packet]:
    """Yield the fragments that a rule could tell apart: the first, which alone has ports, and the
    others by their length.
    """
    packet = skb.packet
    header = packet.length - packet.payload - HEADER
    first, *others = skb.pieces
    yield packet._replace(length=first, payload=max(first - HEADER - header, 0))
    for length in dict.fromkeys(others):
        yield packet._replace(length=length, payload=length - HEADER, fragment=True)
