"""A packet's state before a table, so that the table can be tried and taken back."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.conntrack.connection import Connection, Template
from podpath.datapath.netfilter.state import Decision, HookState
from podpath.datapath.vocabulary import CtInfo
from podpath.net.packet import Packet
from podpath.node.netfilter import ConnTuple


class _Translation(NamedTuple):
    """What rules can change about a connection."""

    mark: int
    reply: ConnTuple
    src_nat: bool
    dst_nat: bool
    src_nat_done: bool
    dst_nat_done: bool
    port_at_random: bool
    masquerade_link: str | None


class HookSnapshot(NamedTuple):
    """Everything that a rule's target can change."""

    packet: Packet
    mark: int
    ctinfo: CtInfo
    template: Template | None
    connection: Connection | None
    translation: _Translation | None
    decision: Decision | None
    reroute: str
    matched: int
    """How many rules had matched."""

    def differs(self, other: HookSnapshot) -> bool:
        """Tell whether the packet itself is another one; what was decided and counted does not
        matter.
        """
        return self[:6] != other[:6]


def take(state: HookState) -> HookSnapshot:
    """Remember the packet's state."""
    skb = state.skb
    connection = skb.connection
    translation = None
    if connection is not None:
        translation = _Translation(*(getattr(connection, name) for name in _Translation._fields))
    return HookSnapshot(
        skb.packet,
        skb.mark,
        skb.ctinfo,
        skb.template,
        connection,
        translation,
        state.decision,
        state.reroute,
        len(state.walk.trace.matched),
    )


def restore(state: HookState, snapshot: HookSnapshot) -> None:
    """Put the packet back into a remembered state."""
    skb = state.skb
    skb.packet, skb.mark, skb.ctinfo, skb.template, skb.connection = snapshot[:5]
    if snapshot.connection is not None and snapshot.translation is not None:
        for name, value in zip(_Translation._fields, snapshot.translation, strict=True):
            setattr(snapshot.connection, name, value)
    state.decision, state.reroute = snapshot.decision, snapshot.reroute
    del state.walk.trace.matched[snapshot.matched :]
