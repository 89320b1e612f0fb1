"""The packet under way: `struct sk_buff`, as far as the stages look at it, and the state of one
branch of a walk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from podpath.datapath.reasons import Reason
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.tracing.trace import NearMiss, RuleHit, Step
from podpath.datapath.walk.compiled import Engine
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Inferred, Span
from podpath.node.links import Link
from podpath.node.netfilter import ConnTuple
from podpath.node.node import Netns, Node

if TYPE_CHECKING:
    from podpath.datapath.conntrack import Connection, ConntrackTable
    from podpath.datapath.conntrack.connection import Template


class BpfTranslation(NamedTuple):
    """What a BPF program makes of one direction of a connection."""

    address: Address
    port: int
    link: Link | None = None
    """The device of the endpoint that the packet goes straight to."""


@dataclass(slots=True)
class Skb:
    """One packet on its way. Mutable: the stages of one walk hand it on."""

    packet: Packet
    netns: Netns
    link: Link | None = None
    """`skb->dev`: where it came in, later where it goes out."""
    iif: Link | None = None
    """The input device as netfilter and policy rules see it; None for local output."""
    oif: Link | None = None
    """The output device as netfilter sees it; None before routing."""
    mark: int = 0
    connection: Connection | None = None
    ctinfo: str = ""
    """Conntrack's verdict on this packet: `NEW`, `ESTABLISHED`, `RELATED`, `INVALID`, `UNTRACKED`;
    empty before.
    """
    reply: bool = False
    """`CTINFO2DIR`: the packet goes in the connection's reply direction."""
    template: Template | None = None
    """What a CT target wants conntrack to do with the packet (a zone); None without one."""
    destination: Destination | None = None
    physin: Link | None = None
    """`nf_bridge->physindev`: the bridge port it came in on; None where br_netfilter did not see
    it.
    """
    physout: Link | None = None
    bridged: bool = False
    """True while br_netfilter runs the IP hooks for a frame that the bridge forwards."""
    prerouted: bool = False
    """True after br_netfilter ran PREROUTING for it: `ip_sabotage_in` skips the second time."""
    pkt_type: str = "host"
    """`host`, `otherhost`, `broadcast`, `multicast`: from the destination MAC."""
    uid: int | None = None
    """The sending socket's owner; None for a forwarded packet."""
    by_kernel: bool = False
    """True for what the kernel sends by itself (an error, a reset, an echo reply): no process owns
    it.
    """
    hashed: object = None
    """What its hash is of, where it has one that lasts: the connected socket that sent it
    (`skb_set_hash_from_sk`), or headers with ports that were hashed once.
    """
    looped: bool = False
    """True for what the host sends to itself over `lo`: it keeps its route and connection."""
    port: Link | None = None
    """The bridge port that the frame leaves by, while a bridge has it."""
    vlan: int | None = None
    """The VLAN that a filtering bridge put the frame into."""
    inner: Packet | None = None
    """The packet inside a tunnel's outer one."""
    tunnel: Link | None = None
    """The tunnel device that wrapped `inner`."""
    wrapped: tuple[tuple[Packet, Link], ...] = ()
    """What is inside `inner`, where tunnels are nested: packets and the devices that wrapped them,
    the innermost first.
    """
    answer: Packet | None = None
    """The error that the packet's sender is sent, where it was rejected."""


@dataclass(slots=True)
class Walk:
    """One branch of a walk or conversation: the node, the answers taken so far, and the state that
    packets leave behind.
    """

    node: Node
    choices: Choices
    conntrack: dict[str, ConntrackTable] = field(default_factory=dict)
    """By namespace; made from the evidence's entries when first needed."""
    steps: list[Step] = field(default_factory=list)
    """Of the packet that is under way."""
    matched: list[RuleHit] = field(default_factory=list)
    """Every rule that matched the packet under way, in order, whether it decided anything or not."""
    translated: dict[tuple[str, ConnTuple], BpfTranslation] = field(default_factory=dict)
    """What Cilium's programs hold of connections: by the program, and the tuple that it knows a
    packet by.
    """
    learned: dict[tuple[str, str, Mac], Link] = field(default_factory=dict)
    """The port behind which a bridge saw a MAC, by namespace, bridge and MAC."""
    heard: dict[tuple[str, str, Address], Mac] = field(default_factory=dict)
    """What ARP requests taught those who answered them: by namespace and device of the listener,
    and the sender's address.
    """
    answered: dict[tuple[str, str, Address], Mac] = field(default_factory=dict)
    """What ARP requests of a namespace's own brought: by it, the device and the next hop."""
    resolved: set[tuple[str, str, Address]] = field(default_factory=set)
    """Next hops that were sent to before, by namespace and device: their Ethernet header is cached."""
    hashes: dict[object, int] = field(default_factory=dict)
    """The source port of a tunnel's outer packets by what they carry: a hash of it, and here a
    number for each.
    """
    packets: int = 0
    """How many packets were sent before the one under way."""
    draws: dict[str, int] = field(default_factory=dict)
    """For what the kernel draws anew for each packet, the number of the packet that it was drawn
    for first.
    """
    drawn: set[int] = field(default_factory=set)
    """Ports that stand for ones which the kernel draws: a tunnel's source port is a hash of what it
    carries.
    """
    engine: Engine = field(default=None)  # type: ignore[assignment]  # made from the node where the caller shares none
    """The compiled node; walks of one node share it."""

    def __post_init__(self) -> None:
        """Make an engine of its own where none is shared."""
        if self.engine is None:
            self.engine = Engine(self.node)  # type: ignore[unreachable]  # as above

    def drawn_for_packet(self, fact: str) -> str:
        """Return the name of what the kernel draws for the packet under way: each packet has a draw
        of its own.
        """
        later = self.packets - self.draws.setdefault(fact, self.packets)
        return f"{fact}, {later} packets later" if later else fact

    def step(  # noqa: PLR0913  # one call makes one Step: its fields are the arguments
        self,
        stage: str,
        skb: Skb,
        function: str,
        before: Packet,
        decision: str,
        reason: Reason,
        *,
        spans: tuple[Span, ...] = (),
        near: tuple[NearMiss, ...] = (),
        link: str | None = None,
        rests_on: Inferred | None = None,
    ) -> None:
        """Record a decision on the packet; `skb.packet` is what it is after it."""
        fields = (
            stage,
            skb.netns.name,
            function,
            before,
            skb.packet,
            decision,
            reason,
            spans,
            near,
            link,
            rests_on,
        )
        self.steps.append(
            tuple.__new__(Step, fields)
        )  # the constructor of a named tuple unpacks its arguments once more
