"""A tracked connection (`struct nf_conn`), and the zone that keeps equal tuples apart."""

from __future__ import annotations

from typing import NamedTuple

from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.node.netfilter import ConnTuple

NO_ZONE_ID = 0


class Zone(NamedTuple):
    """A conntrack zone, and the directions in which it counts (`struct nf_conntrack_zone`)."""

    id: int = NO_ZONE_ID
    original: bool = True
    reply: bool = True
    from_mark: bool = False
    """`--zone mark`: the packet's mark is the id."""

    def in_direction(self, *, reply: bool) -> int:
        """Return the id that tells tuples of this direction apart (`nf_ct_zone_id`)."""
        counts = self.reply if reply else self.original
        return self.id if counts else NO_ZONE_ID


DEFAULT_ZONE = Zone()


class Template(NamedTuple):
    """What a CT target hung on a packet before conntrack saw it."""

    zone: Zone = DEFAULT_ZONE
    helper: str = ""


class TcpTracking:
    """What conntrack remembers of a TCP connection beyond its state (`struct ip_ct_tcp`)."""

    __slots__ = (
        "close_init",
        "ends",
        "last_kind",
        "last_reply",
        "liberal",
        "max_acks",
        "simultaneous",
    )

    def __init__(self) -> None:
        """Start with no packet seen."""
        self.ends: list[int | None] = [None, None]
        """By direction: the sequence number behind the last byte seen (`td_end`); None before the
        first.
        """
        self.max_acks: list[int | None] = [None, None]
        """By direction: the highest acknowledgement sent (`td_maxack`)."""
        self.last_kind = "none"
        self.last_reply = False
        self.close_init = False
        """True once either side began to close (IP_CT_TCP_FLAG_CLOSE_INIT)."""
        self.liberal = False
        """True for a connection picked up in its middle (IP_CT_TCP_FLAG_BE_LIBERAL)."""
        self.simultaneous = False
        """True once both sides sent a SYN (IP_CT_TCP_SIMULTANEOUS_OPEN)."""


class Connection:
    """One connection. Mutable while a walk is under way; a table belongs to one branch."""

    __slots__ = (
        "assured",
        "confirmed",
        "dst_nat",
        "dst_nat_done",
        "expected",
        "helper",
        "kind",
        "mark",
        "masquerade_link",
        "original",
        "port_at_random",
        "progress",
        "reply",
        "reply_kind",
        "seen_reply",
        "span",
        "src_nat",
        "src_nat_done",
        "state",
        "zone",
    )

    def __init__(
        self,
        original: ConnTuple,
        reply: ConnTuple,
        *,
        kind: int = 0,
        reply_kind: int = 0,
        zone: Zone = DEFAULT_ZONE,
    ) -> None:
        """Make an entry that no packet has confirmed yet."""
        self.original = original
        """The tuple of the direction in which the first packet went. For ICMP queries both ports
        are the identifier.
        """
        self.reply = reply
        """The tuple that replies are expected to have: NAT is where it is not the inverse of
        `original`.
        """
        self.kind = kind
        """ICMP type << 8 | code of the original direction; 0 for other protocols."""
        self.reply_kind = reply_kind
        self.zone = zone
        self.state = ""
        """TCP state as conntrack(8) spells it, e.g. `SYN_SENT`; empty for other protocols."""
        self.progress: TcpTracking | None = None
        """What the TCP tracker remembers beyond the state; None for other protocols and before its
        first segment.
        """
        self.mark = 0
        self.confirmed = False
        """True once the entry is in the table: the first packet got through."""
        self.seen_reply = False
        self.assured = False
        self.expected = False
        """True where a helper expected it: its first packet is RELATED."""
        self.src_nat = False
        self.dst_nat = False
        self.src_nat_done = False
        """NAT of the source is settled, if only by a null binding."""
        self.dst_nat_done = False
        self.port_at_random = False
        """The kernel draws the source port: the one in `reply` stands for any."""
        self.masquerade_link: str | None = None
        """The device whose address MASQUERADE took; the entry is dropped when it leaves by
        another.
        """
        self.helper = ""
        self.span: Span | None = None
        """The line of evidence that it was seeded from; None for one that the walk made."""


def _template_entry() -> Connection:
    nowhere = ConnTuple(Address(4, 0), Address(4, 0), 0)
    entry = Connection(nowhere, nowhere)
    entry.confirmed = True
    return entry


TEMPLATE_ENTRY = _template_entry()
"""What a CT target hangs on a packet until conntrack sees it: all zeros, and confirmed
(`xt_ct_tg_check`).
"""
