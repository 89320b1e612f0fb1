"""One packet at one hook (`struct nf_hook_state`): what matches look at, what targets change, what
the step will say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.neighbors.neighbour import WITHOUT_ARP
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.reasons.rules import RuleReason
from podpath.datapath.reasons.translation import TranslationReason
from podpath.datapath.routing import UNROUTED, address_type, address_type6, reverse_path
from podpath.datapath.tracing.trace import Assumption
from podpath.datapath.vocabulary import Hook, StepDecision
from podpath.datapath.walk.skb import Skb, attached
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.node.node import Socket
from podpath.xtables.seen import Answer, Doubt

__all__ = ["Act", "Answer", "Check", "Decision", "Doubt", "HookState"]

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule


class Decision(NamedTuple):
    """What one table decided about a packet: the body of its Step."""

    word: StepDecision
    reason: RuleReason | TranslationReason
    span: Span | None = None
    """The deciding rule's line, or the chain's where its policy decided."""


class HookState:
    """A packet under way through the entries of one hook. Mutable, and short-lived."""

    __slots__ = (
        "assumed",
        "decision",
        "forward_to",
        "hook",
        "in_name",
        "out_name",
        "reroute",
        "skb",
        "table",
        "walk",
    )

    def __init__(self, walk: Walk, skb: Skb, hook: Hook) -> None:
        """Look at a packet from one hook."""
        self.walk = walk
        self.skb = skb
        self.hook = hook
        self.in_name: str = skb.iif.name if skb.iif is not None else ""
        """The input device as rules see it; empty where there is none: the kernel compares with an
        empty name then.
        """
        self.out_name: str = skb.oif.name if skb.oif is not None else ""
        self.table = ""
        """The table that is being traversed."""
        self.decision: Decision | None = None
        """What the table has decided so far."""
        self.assumed: tuple[Assumption, ...] = ()
        """What was taken for granted in the table of rules that the evidence leaves out."""
        self.reroute = ""
        """Why a packet of OUTPUT has to be routed again."""
        self.forward_to = ""
        """The device that a rule at ingress or egress sends the packet out by."""

    @property
    def attached(self) -> Connection | None:
        """The entry that hangs on the packet."""
        return attached(self.skb)

    @property
    def has_link_header(self) -> bool:
        """True where the packet came in by a device that has Ethernet addresses."""
        link = self.skb.iif
        return link is not None and link.name != "lo" and link.kind not in WITHOUT_ARP

    def address_type(self, address: Address, side: str) -> str:
        """Return what kind of address the local table has, for the device of a side; of an IPv6
        address that no route leads to, `unreachable` (`xt_addrtype.c:match_lookup_rt6 v6.12`).
        """
        skb = self.skb
        link = {"in": skb.iif, "out": skb.oif}.get(side)
        if address.family == 4:
            return address_type(self.walk, skb.netns, address, link)
        flow = FlowKey(address, oif=link.name if link is not None else None)
        kind = address_type6(self.walk, skb.netns, flow, link)
        return "unreachable" if kind in UNROUTED else kind

    def reverse_path(self, *, mark: int, loose: bool, accept_local: bool) -> bool:
        """Tell whether the way back to the source is the way the packet came."""
        return reverse_path(self.walk, self.skb, mark=mark, loose=loose, accept_local=accept_local)

    def sockets_at(self, port: int) -> Iterator[Socket]:
        """Yield the sockets of the packet's protocol at a port."""
        protocol = self.skb.packet.protocol
        for entry in self.skb.netns.sockets.items:
            if entry.has_port(protocol, port):
                yield entry

    def shows_sockets(self) -> bool:
        """Tell whether every socket of the packet's protocol is known."""
        return self.skb.netns.shows_sockets(self.skb.packet.protocol)


Check = Callable[[HookState], Answer]
"""One condition of a rule, compiled."""
Act = Callable[[HookState, "CompiledRule"], Verdict | None]
"""What a target does, compiled: a final verdict, or None where evaluation goes on with the next
rule.
"""
