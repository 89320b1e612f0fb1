"""What a walk gives back: steps with reasons, an outcome, and the assumptions that a branch rests
on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.failures import Failure
from podpath.datapath.reasons.near import NearReason
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.datapath.vocabulary import (
    ConversationFailure,
    Direction,
    GivenSocket,
    Reachability,
    StepDecision,
    StepStage,
)
from podpath.net.addresses import Family
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.net.provenance import Inferred, Span
from podpath.node.netfilter import ConntrackEntry, Rule
from podpath.node.nftables import NftRule


class Step(NamedTuple):
    """One decision on the way of a packet."""

    stage: StepStage
    netns: str
    function: str
    """The kernel function that decides, e.g. `net/ipv4/fib_frontend.c:fib_validate_source
    v6.12`.
    """
    before: Packet
    after: Packet
    """Equal to `before` where the stage changed nothing."""
    decision: StepDecision
    reason: Reason
    """What decided, as a value; `report.sentences` says it in words."""
    spans: tuple[Span, ...] = ()
    """The lines that decided, the deciding one first."""
    near: tuple[NearMiss, ...] = ()
    """What almost decided instead: a rule that missed by one match, a route beaten by its
    metric.
    """
    link: str | None = None
    """The device that the packet is on or goes to, where that is the point of the step."""
    rests_on: Inferred | None = None
    """How what decided is known, where no listing states it: a route, a neighbor, the other end of
    a veth pair.
    """
    assumed: tuple[Assumption, ...] = ()
    """What the stage took for granted on its way to this decision, though the evidence leaves it
    out: that no rule which an output does not show matches.
    """


class RuleHit(NamedTuple):
    """A rule that matched a packet on its way."""

    netns: str
    flavour: str
    """`legacy` or `nft` of iptables, or `native`."""
    hook: str
    rule: Rule | NftRule
    family: Family = 4
    """Of the table that it stands in; of a native rule 4, since its table says more."""


class NearMiss(NamedTuple):
    """A rule or route that did not decide, and what it missed by."""

    span: Span
    reason: NearReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """The packet reached a socket's door in a namespace of the node."""

    netns: str
    packet: Packet
    given: GivenSocket | None = None
    """The socket that a rule gave it to, whatever it is addressed to; None where the socket is
    found by its addresses.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmitted:
    """The packet left the node on a device."""

    netns: str
    link: str
    packet: Packet
    """What the far end sees; inside a tunnel's packet where `outer` is set."""
    outer: Packet | None = None
    """The packet that carries it through a tunnel, as it leaves on `link`."""
    tunnel: str | None = None
    """The tunnel device that wrapped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """The packet ended without a word to its sender."""

    netns: str
    reason: str
    """The kernel's drop reason without SKB_DROP_REASON_, e.g. `NETFILTER_DROP`, `IP_RPFILTER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The packet ended, and its sender is told (an ICMP error, a TCP reset, an error number)."""

    netns: str
    reason: str
    answer: str
    """What the sender gets: `icmp-port-unreachable`, `tcp-reset`, `EHOSTUNREACH`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """The walk met something that is not modeled or cannot be known."""

    netns: str
    reason: Reason
    ask: str
    """The command or look that would tell; empty where none would."""


Outcome = Delivered | Transmitted | Dropped | Rejected | Undecided


class Assumption(NamedTuple):
    """What a branch took for granted at one fork."""

    fact: str
    value: object
    meaning: str
    """The option's meaning, in words."""
    ask: str
    """The command that tells; empty where the kernel chooses at random."""
    rank: int
    """0 for the likeliest option, then up."""
    random: bool = False
    """True where the kernel chooses (`statistic`, ECMP hash), not the evidence."""
    span: Span | None = None
    """The line that speaks for this option, where outputs disagree."""
    unshown_rules: bool = False
    """True where it says what rules do that the evidence does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The way of one packet through the node."""

    name: str
    """Its part in the conversation: `SYN`, `SYN-ACK`, `ACK`, `data`, `echo request`."""
    direction: Direction
    start: str
    """The namespace it starts in."""
    packet: Packet
    """As its sender made it."""
    steps: tuple[Step, ...]
    outcome: Outcome
    matched: tuple[RuleHit, ...] = ()
    """Every rule that matched, in order, counters-only ones too."""

    @property
    def deciding(self) -> Step:
        """The step that led to the outcome: the last one."""
        return self.steps[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A conversation under one set of assumptions."""

    assumptions: tuple[Assumption, ...]
    traces: tuple[Trace, ...]
    works: bool | None
    """True: every packet arrived; False: one did not; None: undecided."""
    failure: Failure | None = None
    """Where it does not work: what became of the packet that failed."""
    kind: ConversationFailure = ConversationFailure.NONE
    answers: tuple[Trace, ...] = ()
    """The ways of the errors that the failing packet's sender is sent: an ICMP error, a reset."""
    tracked: Mapping[str, tuple[ConntrackEntry, ...]] = field(default_factory=dict)
    """The conntrack entries that its packets met or made, as they are left behind, by namespace."""
    discovery: tuple[RuleHit, ...] = ()
    """Rules that matched what IPv6's neighbor discovery sent for its packets."""
    drawn_ports: tuple[DrawnPort, ...] = ()
    """Ports in its packets that stand for any of a range: the kernel draws them at random."""

    @property
    def last(self) -> Trace:
        """The trace that ended the conversation: the failing one where it failed."""
        return self.traces[-1]

    @property
    def steps(self) -> list[Step]:
        """The steps of all its packets, in their order."""
        return [step for trace in self.traces for step in trace.steps]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All branches of one probe's connection."""

    probe: Probe
    branches: tuple[Branch, ...]
    """The one with the likeliest assumptions first."""
    verdict: Reachability
    """Undecided where the likeliest branch is."""
    truncated: bool = False
    """True where more branches exist than were walked."""
    pruned: bool = False
    """True where branches were left out that deviate from the likeliest in more facts than was
    asked for.
    """
