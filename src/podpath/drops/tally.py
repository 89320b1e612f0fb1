"""Drops counted by flow over turns: rates while it runs, and a summary at the end.

Clients choose their port anew for each connection, so what differs in such a port alone is one flow
here. There are at most so many flows as memory is set aside for; what comes beyond is counted, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from podpath.drops.events import DropKey
from podpath.net import protocols

EPHEMERAL = 32768
"""The first port that clients draw (net.ipv4.ip_local_port_range), and above NodePorts."""
MOST_FLOWS = 4096


class FlowCount(NamedTuple):
    """A flow with what was dropped of it."""

    key: DropKey
    packets: int
    size: int
    """Bytes."""


class TurnCount(NamedTuple):
    """What one turn came to."""

    flows: tuple[FlowCount, ...]
    """Those that lost packets in it, the most first."""
    daily: int
    """Packets that are left out as the daily life of a node, or by the filters."""


def group(key: DropKey) -> DropKey:
    """Return the flow that a drop is counted with: a client's port and the exact place of the code
    do not tell flows apart.
    """
    sport, dport = key.sport, key.dport
    if key.protocol in (protocols.TCP, protocols.UDP, protocols.SCTP):
        sport = 0 if sport >= EPHEMERAL > dport else sport
        dport = 0 if dport >= EPHEMERAL > sport > 0 else dport
    return key._replace(sport=sport, dport=dport)


class DropTally:
    """The counts of all turns. Mutable."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self.total = 0
        """Packets of all flows that are counted, those without a place of their own too."""
        self.daily = 0
        self.beyond = 0
        """Packets of flows for which there was no place."""
        self._flows: dict[DropKey, FlowCount] = {}
        self._turn: dict[DropKey, FlowCount] = {}
        self._left_out = 0
        """Of this turn."""

    def count(self, one: FlowCount) -> None:
        """Count a flow in this turn."""
        key = group(one.key)
        self._turn[key] = _add(self._turn.get(key), key, one)
        self.total += one.packets
        if key in self._flows or len(self._flows) < MOST_FLOWS:
            self._flows[key] = _add(self._flows.get(key), key, one)
        else:
            self.beyond += one.packets

    def leave_out(self, packets: int) -> None:
        """Count packets that are the daily life of a node, or that filters leave out."""
        self.daily += packets
        self._left_out += packets

    def end_turn(self) -> TurnCount:
        """Return what was counted since the last call, by flow."""
        turn, self._turn = self._turn, {}
        left_out, self._left_out = self._left_out, 0
        return TurnCount(_sort(turn.values()), left_out)

    def list_flows(self) -> Sequence[FlowCount]:
        """Return all flows, the one with the most drops first."""
        return _sort(self._flows.values())


def _add(before: FlowCount | None, key: DropKey, one: FlowCount) -> FlowCount:
    if before is None:
        return one._replace(key=key)
    return FlowCount(key, before.packets + one.packets, before.size + one.size)


def _sort(flows: Iterable[FlowCount]) -> tuple[FlowCount, ...]:
    return tuple(sorted(flows, key=lambda one: (-one.packets, one.key.location)))
