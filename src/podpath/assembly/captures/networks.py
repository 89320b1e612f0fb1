"""Frames in tunnels whose directions have different networks: what is one place to their
connections becomes one.

VXLAN and Geneve name a network, and networks may have equal addresses. But Cilium writes the
sender's identity there, and fabrics that route on both sides number by the receiver: each direction
of a connection has another number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from podpath.net.addresses import Address
from podpath.node.case import Sighting

_NETWORK = " vni "
Way = tuple[int, str | None, str, Address, Address]
"""A capture, a device, a kind of tunnel, and who sends to whom."""


def join_networks(frames: Sequence[Sighting]) -> tuple[Sighting, ...]:
    """Return the frames, without the network where two hosts' directions have none in common."""
    ways: defaultdict[Way, set[str]] = defaultdict(set)
    for seen in frames:
        if _NETWORK in seen.tunnel:
            ways[_way(seen)].add(seen.tunnel)
    if not ways:
        return tuple(frames)
    return tuple(_join(seen, ways) for seen in frames)


def _join(seen: Sighting, ways: defaultdict[Way, set[str]]) -> Sighting:
    if _NETWORK not in seen.tunnel:
        return seen
    capture, link, kind, source, target = _way(seen)
    own, other = ways[_way(seen)], ways.get((capture, link, kind, target, source), set())
    if other and not own & other:
        return replace(seen, tunnel=kind)
    return seen


def _way(seen: Sighting) -> Way:
    kind = seen.tunnel.partition(_NETWORK)[0]
    return seen.capture, seen.link, kind, seen.packet.src, seen.packet.dst
