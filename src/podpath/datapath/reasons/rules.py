"""What rules and policies of netfilter decide, and what almost decided instead.

A rule of native nftables that does what a target of iptables does is given as the rule that stands
in for it.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.datapath.vocabulary import StepDecision
from podpath.net import nft
from podpath.node.netfilter import Rule
from podpath.node.nftables import NftRule


@distinct
class RuleDecided(NamedTuple):
    """A rule accepts the packet, or drops it."""

    rule: Rule | NftRule
    verdict: StepDecision
    """It accepts or drops."""


@distinct
class RuleRejected(NamedTuple):
    """A rule rejects the packet."""

    rule: Rule
    answer: str
    sent: bool
    """False where no answer may be sent."""


@distinct
class PolicyDecided(NamedTuple):
    """No rule of a base chain decides, and its policy drops the packet."""

    table: str
    chain: str
    native: bool
    """True for a chain of native nftables, whose table is named with its family."""


@distinct
class ChainTaken(NamedTuple):
    """A chain that the evidence does not show is taken to accept or drop the packet."""

    chain: str
    verdict: StepDecision


@distinct
class TargetTaken(NamedTuple):
    """A rule's unknown target is taken to accept or drop the packet."""

    rule: Rule
    verdict: StepDecision


@distinct
class StatementTaken(NamedTuple):
    """A rule's statement, which is not modeled, is taken to drop or accept the packet."""

    rule: NftRule
    verdict: StepDecision


@distinct
class QueueTaken(NamedTuple):
    """A rule queues the packet for a program, which is taken to accept or drop it."""

    rule: Rule
    verdict: StepDecision


@distinct
class TargetStops(NamedTuple):
    """A rule's target is known and not modeled: the walk stops."""

    rule: Rule
    target: str


@distinct
class StatementStops(NamedTuple):
    """A rule's statement changes the packet in a way that is not modeled: the walk stops."""

    rule: NftRule
    statement: str


@distinct
class SentByRule(NamedTuple):
    """A rule at ingress or egress sends the packet out by a device at once."""

    rule: NftRule
    link: str


@distinct
class KeptFromConntrack(NamedTuple):
    """A rule keeps the packet from conntrack."""

    rule: Rule | NftRule


@distinct
class ZoneSet(NamedTuple):
    """A rule says in what zone conntrack is to look the packet up, and with what helper."""

    rule: Rule
    zone: int
    helper: str
    """Empty where it names none."""


@distinct
class MarkSet(NamedTuple):
    """A rule sets the packet's mark."""

    rule: Rule
    mark: int


@distinct
class MarksSet(NamedTuple):
    """A rule copies a mark between the packet and its connection, or sets the connection's."""

    rule: Rule
    mark: int
    connection_mark: int


@distinct
class TosSet(NamedTuple):
    """A rule sets the TOS."""

    rule: Rule
    tos: int


@distinct
class TtlSet(NamedTuple):
    """A rule sets the TTL."""

    rule: Rule
    ttl: int


@distinct
class MssLowered(NamedTuple):
    """A rule lowers the MSS that a SYN offers, in bytes."""

    rule: Rule
    before: int
    """0 where nobody knows."""
    after: int
    """0 likewise."""


@distinct
class PacketChanged(NamedTuple):
    """A statement changes a field of the packet, its mark or its connection's."""

    rule: NftRule
    statement: nft.Statement


@distinct
class HandedToProxy(NamedTuple):
    """A rule hands the packet to a transparent socket."""

    rule: Rule
    port: int
    mark: int


@distinct
class NoProxyListens(NamedTuple):
    """A rule hands the packet to a port where nobody listens."""

    rule: Rule
    port: int


FieldReason = MarkSet | MarksSet | TosSet | TtlSet | MssLowered
"""A rule gave a field of the packet a value."""
RuleReason = (
    RuleDecided | RuleRejected | PolicyDecided | ChainTaken | TargetTaken | StatementTaken
    | QueueTaken | TargetStops | StatementStops | SentByRule | KeptFromConntrack | ZoneSet
    | FieldReason | PacketChanged | HandedToProxy | NoProxyListens
)  # fmt: skip
