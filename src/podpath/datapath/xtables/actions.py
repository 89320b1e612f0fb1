"""What a target of iptables does to a packet, done to the walk in the name of its rule
(`xtables.seen.RuleActions`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.datapath.conntrack.connection import Connection, Template, Zone
from podpath.datapath.conntrack.tuples import packet_tuple
from podpath.datapath.nat.binding import bind_destination, bind_source
from podpath.datapath.netfilter.state import Decision, HookState
from podpath.datapath.reasons.rules import (
    HandedToProxy,
    KeptFromConntrack,
    MarkSet,
    MarksSet,
    MssLowered,
    NoProxyListens,
    QueueTaken,
    RuleReason,
    RuleRejected,
    TosSet,
    TtlSet,
    ZoneSet,
)
from podpath.datapath.reasons.translation import (
    NoAddressToMasquerade,
    NoAddressToRedirect,
    TranslationReason,
)
from podpath.datapath.routing import PathMss, lower_mss, path_mss, select_source
from podpath.datapath.vocabulary import CtInfo, GivenSocket, Hook, StepDecision
from podpath.datapath.walk.learned import SocketKey
from podpath.datapath.walk.offload import compute_checksums
from podpath.datapath.walk.skb import Skb, is_untouched
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Option
from podpath.node.netfilter import Rule
from podpath.node.node import Socket
from podpath.xtables.nat_ranges import NatRange
from podpath.xtables.seen import ZoneWanted
from podpath.xtables.verdicts import DROP, Reject, Verdict


class Actions:
    """One rule at work on one packet."""

    __slots__ = ("rule", "state")

    def __init__(self, state: HookState, rule: Rule) -> None:
        """Act on the packet of a hook, for a rule."""
        self.state = state
        self.rule = rule

    @property
    def skb(self) -> Skb:
        """The packet."""
        return self.state.skb

    @property
    def hook(self) -> Hook:
        """The hook."""
        return self.state.hook

    @property
    def in_name(self) -> str:
        """The input device's name."""
        return self.state.in_name

    @property
    def out_name(self) -> str:
        """The output device's name."""
        return self.state.out_name

    @property
    def attached(self) -> Connection | None:
        """The entry that hangs on the packet."""
        return self.state.attached

    @property
    def has_link_header(self) -> bool:
        """True where the packet came in by a device that has Ethernet addresses."""
        return self.state.has_link_header

    @property
    def next_hop(self) -> Address | None:
        """The gateway of the packet's route."""
        destination = self.skb.destination
        if destination is not None:
            return destination.gateway
        return None

    def address_type(self, address: Address, side: str) -> str:
        """Return what kind of address the local table has."""
        return self.state.address_type(address, side)

    def reverse_path(self, *, mark: int, loose: bool, accept_local: bool) -> bool:
        """Tell whether the way back to the source is the way the packet came."""
        return self.state.reverse_path(mark=mark, loose=loose, accept_local=accept_local)

    def sockets_at(self, port: int) -> Iterator[Socket]:
        """Return the sockets of the packet's protocol at a port."""
        return self.state.sockets_at(port)

    def shows_sockets(self) -> bool:
        """Tell whether every socket of the packet's protocol is known."""
        return self.state.shows_sockets()

    def select_source(self, toward: Address) -> Address | None:
        """Return the output device's address for a destination."""
        skb = self.skb
        if skb.oif is None:
            return None
        return select_source(self.state.walk, skb.netns, skb.oif, toward)

    def addresses_of_input(self) -> Iterator[Address]:
        """Yield the addresses of the input device, in the kernel's order."""
        for entry in self.skb.netns.addresses.items:
            if entry.link == self.in_name:
                yield entry.address

    def choose(self, fact: str, options: Sequence[Option[bool]], ask: str) -> bool:
        """Return what the walk takes an unknown fact to be."""
        return self.state.walk.choices.choose(fact, options, ask=ask)

    def _decide(self, word: StepDecision, reason: RuleReason | TranslationReason) -> None:
        self.state.decision = Decision(word, reason, self.rule.span)

    def set_mark(self, mark: int) -> None:
        """Set the packet's mark."""
        self.skb.mark = mark
        self._decide(StepDecision.MARK, MarkSet(self.rule, mark))

    def set_marks(self, mark: int, connection_mark: int) -> None:
        """Set the marks of the packet and of its connection."""
        skb = self.skb
        skb.mark = mark
        if skb.connection is not None:
            skb.connection.mark = connection_mark
        self._decide(StepDecision.MARK, MarksSet(self.rule, mark, connection_mark))

    def set_tos(self, tos: int) -> None:
        """Set the type-of-service byte."""
        self.skb.packet = self.skb.packet._replace(tos=tos)
        self._decide(StepDecision.TOS, TosSet(self.rule, tos))

    def set_ttl(self, ttl: int) -> None:
        """Set the time to live."""
        self.skb.packet = self.skb.packet._replace(ttl=ttl)
        self._decide(StepDecision.TTL, TtlSet(self.rule, ttl))

    def lower_mss(self, size: int | None) -> None:
        """Lower what a SYN offers as its MSS to a size, or to what fits its path."""
        skb = self.skb
        wanted = path_mss(self.state.walk, skb) if size is None else PathMss(size)
        before, skb.packet = skb.packet, lower_mss(skb.packet, wanted)
        if skb.packet != before:
            self._decide(StepDecision.REWRITE, MssLowered(self.rule, before.mss, skb.packet.mss))

    def compute_checksum(self) -> None:
        """Compute the checksum that was left to the device: NAT then leaves the outer one right."""
        compute_checksums(self.skb)

    def leave_untracked(self) -> None:
        """Keep the packet from conntrack, if nothing hangs on it yet."""
        if is_untouched(self.skb):
            self.skb.ctinfo = CtInfo.UNTRACKED
            self._decide(StepDecision.UNTRACKED, KeptFromConntrack(self.rule))

    def hang_template(self, zone: ZoneWanted, helper: str) -> None:
        """Say in what zone conntrack is to look, if nothing hangs on the packet yet."""
        skb = self.skb
        if is_untouched(skb):
            number = skb.mark & 0xFFFF if zone.from_mark else zone.id
            skb.ctinfo = CtInfo.NOT_SEEN
            skb.template = Template(Zone(number, zone.original, zone.reply, zone.from_mark), helper)
            self._decide(StepDecision.ZONE, ZoneSet(self.rule, number, helper))

    def bind_source(self, allowed: NatRange) -> Verdict:
        """Give the packet's connection a source in the range."""
        return bind_source(self.state, self.rule, allowed)

    def bind_destination(self, allowed: NatRange) -> Verdict:
        """Give the packet's connection a destination in the range."""
        return bind_destination(self.state, self.rule, allowed)

    def lack_source(self) -> Verdict:
        """Drop the packet: the output device has no address to take."""
        self._decide(StepDecision.DROP, NoAddressToMasquerade(self.rule, self.out_name))
        return DROP

    def lack_destination(self) -> Verdict:
        """Drop the packet: the input device has no address to take."""
        self._decide(StepDecision.DROP, NoAddressToRedirect(self.rule, self.in_name))
        return DROP

    def reject(self, answer: str, packet: Packet | None) -> Verdict:
        """Drop the packet and send the answer, None where none may be sent."""
        sent = packet is not None
        self._decide(StepDecision.REJECT, RuleRejected(self.rule, answer, sent))
        return Reject(answer if sent else "", packet)

    def take_queue(self, *, accepted: bool) -> None:
        """Record what a program on a queue is taken to say."""
        word = StepDecision.ACCEPT if accepted else StepDecision.DROP
        self._decide(word, QueueTaken(self.rule, word))

    def own_socket(self) -> bool | None:
        """Tell whether the socket of the packet's own connection is transparent; None where the
        host has none.
        """
        skb = self.skb
        return self.state.walk.learned.sockets.get(
            SocketKey(skb.netns.name, packet_tuple(skb.packet))
        )

    def hand_to_proxy(self, port: int, *, connected: bool) -> None:
        """Give the packet to a transparent socket: the listener at a port, or that of its own
        connection.
        """
        self.skb.given = GivenSocket.CONNECTED if connected else GivenSocket.LISTENER
        self._decide(StepDecision.TPROXY, HandedToProxy(self.rule, port, self.skb.mark))

    def lack_proxy(self, port: int) -> None:
        """Record that no transparent socket listens."""
        self._decide(StepDecision.DROP, NoProxyListens(self.rule, port))
