"""What surrounds a rule, as an extension may ask it: the packet with what hangs on it, and what the
host answers of its routes, sockets and addresses. The datapath offers it.

A match looks at `Surroundings` and answers; a target may also do what `RuleActions` has. Whatever a
target does is recorded by the datapath, with the rule that did it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Option
from podpath.xtables.nat_ranges import NatRange
from podpath.xtables.verdicts import Verdict


class PacketSeen(Protocol):
    """What a match may look at that the packet alone decides (`struct sk_buff`)."""

    @property
    def packet(self) -> Packet:
        """The packet itself."""

    @property
    def mark(self) -> int:
        """Its firewall mark."""

    @property
    def pkt_type(self) -> str:
        """What the link layer addressed it to: `host`, `otherhost`, `broadcast`, `multicast`."""


class LinkSeen(Protocol):
    """A device."""

    @property
    def name(self) -> str:
        """Its name."""


class TupleSeen(Protocol):
    """One direction of a connection."""

    @property
    def src(self) -> Address:
        """The source."""

    @property
    def dst(self) -> Address:
        """The destination."""

    @property
    def protocol(self) -> int:
        """The protocol's number."""

    @property
    def sport(self) -> int:
        """The source port."""

    @property
    def dport(self) -> int:
        """The destination port."""


class ConnectionSeen(Protocol):
    """A tracked connection (`struct nf_conn`)."""

    mark: int
    masquerade_link: str | None
    """The device whose address MASQUERADE took."""

    @property
    def original(self) -> TupleSeen:
        """The tuple of its first packet."""

    @property
    def reply(self) -> TupleSeen:
        """The tuple that replies have."""

    @property
    def src_nat(self) -> bool:
        """True where its source is translated."""

    @property
    def dst_nat(self) -> bool:
        """True where its destination is."""

    @property
    def expected(self) -> bool:
        """True where a helper expected it."""

    @property
    def seen_reply(self) -> bool:
        """True once a reply went by."""

    @property
    def assured(self) -> bool:
        """True where it is not dropped early."""

    @property
    def confirmed(self) -> bool:
        """True once its first packet got through."""


class TrackedPacket(PacketSeen, Protocol):
    """A packet with what hangs on it."""

    @property
    def to_many(self) -> bool:
        """Whether it is for more than one host, by its frame or its route: no error answers it."""

    @property
    def iif(self) -> LinkSeen | None:
        """The device that it came in by; None for local output."""

    @property
    def oif(self) -> LinkSeen | None:
        """The device that it goes out by; None before routing."""

    @property
    def physin(self) -> LinkSeen | None:
        """The bridge port that it came in by, where br_netfilter saw it."""

    @property
    def physout(self) -> LinkSeen | None:
        """The bridge port that it goes out by."""

    @property
    def uid(self) -> int | None:
        """The sending socket's owner, where it is known."""

    @property
    def by_kernel(self) -> bool:
        """True for what the kernel sends by itself: no process owns it."""

    @property
    def innermost(self) -> Packet:
        """What is inside all tunnels; the packet itself where there are none."""

    @property
    def ctinfo(self) -> str:
        """Conntrack's verdict on it; empty before."""

    @property
    def reply(self) -> bool:
        """True in the connection's reply direction."""

    @property
    def connection(self) -> ConnectionSeen | None:
        """Its connection."""

    @property
    def template(self) -> object | None:
        """What a CT target hung on it; None without one."""


class SocketSeen(Protocol):
    """A listening socket."""

    @property
    def local(self) -> Address | None:
        """The address it is bound to; None for any."""

    @property
    def transparent(self) -> bool | None:
        """Whether it takes what is for other hosts; None where no output shows it."""

    @property
    def is_listening(self) -> bool:
        """Whether it takes what comes from anybody."""

    def is_at(self, address: Address) -> bool:
        """Tell whether it is bound to an address, or to any of that family."""


class Surroundings(Protocol):
    """A packet at a hook, and what the host knows of it."""

    @property
    def skb(self) -> TrackedPacket:
        """The packet."""

    @property
    def hook(self) -> str:
        """The hook, `FORWARD`."""

    @property
    def in_name(self) -> str:
        """The input device's name; empty where there is none."""

    @property
    def out_name(self) -> str:
        """The output device's name."""

    @property
    def attached(self) -> ConnectionSeen | None:
        """The entry that hangs on the packet (`nf_ct_get`): its connection, or before conntrack
        what a CT target hung on it.
        """

    @property
    def has_link_header(self) -> bool:
        """True where it came in by a device that has Ethernet addresses."""

    def address_type(self, address: Address, side: str) -> str:
        """Return what kind of address the local table has, for the device of a side: `in`, `out`,
        or any where it is empty.
        """

    def reverse_path(self, *, mark: int, loose: bool, accept_local: bool) -> bool:
        """Tell whether the way back to the source is the way the packet came."""

    def sockets_at(self, port: int) -> Iterable[SocketSeen]:
        """Return the sockets of the packet's protocol at a port."""

    def shows_sockets(self) -> bool:
        """Tell whether every socket of the packet's protocol is known."""


class RuleActions(Surroundings, Protocol):
    """What a target may do to a packet, in the name of its rule."""

    @property
    def next_hop(self) -> Address | None:
        """The gateway of the packet's route; None without one."""

    def select_source(self, toward: Address) -> Address | None:
        """Return the output device's address for a destination (`inet_select_addr`)."""

    def addresses_of_input(self) -> Iterable[Address]:
        """Return the addresses of the input device, in the kernel's order."""

    def choose(self, fact: str, options: Sequence[Option[bool]], ask: str) -> bool:
        """Return what the walk takes an unknown fact to be."""

    def set_mark(self, mark: int) -> None:
        """Set the packet's mark."""

    def set_marks(self, mark: int, connection_mark: int) -> None:
        """Set the marks of the packet and of its connection."""

    def set_tos(self, tos: int) -> None:
        """Set the type-of-service byte."""

    def set_ttl(self, ttl: int) -> None:
        """Set the time to live."""

    def lower_mss(self, size: int | None) -> None:
        """Lower what a SYN offers as its MSS to a size, or to what fits its path where that is
        None.
        """

    def compute_checksum(self) -> None:
        """Compute the checksum that was left to the device."""

    def leave_untracked(self) -> None:
        """Keep the packet from conntrack, if nothing hangs on it yet."""

    def hang_template(self, zone: ZoneWanted, helper: str) -> None:
        """Say in what zone conntrack is to look, if nothing hangs on the packet yet."""

    def bind_source(self, allowed: NatRange) -> Verdict:
        """Give the packet's connection a source in the range."""

    def bind_destination(self, allowed: NatRange) -> Verdict:
        """Give the packet's connection a destination in the range."""

    def lack_source(self) -> Verdict:
        """Drop the packet: the output device has no address to take."""

    def lack_destination(self) -> Verdict:
        """Drop the packet: the input device has no address to take."""

    def reject(self, answer: str, packet: Packet | None) -> Verdict:
        """Drop the packet and send the answer, None where none may be sent."""

    def take_queue(self, *, accepted: bool) -> None:
        """Record what a program on a queue is taken to say."""

    def own_socket(self) -> bool | None:
        """Tell whether the socket of the packet's own connection is transparent; None where the
        host has none.
        """

    def hand_to_proxy(self, port: int, *, connected: bool) -> None:
        """Give the packet to a transparent socket: the listener at a port, or that of its own
        connection.
        """

    def lack_proxy(self, port: int) -> None:
        """Record that no transparent socket listens."""


class ZoneWanted(NamedTuple):
    """The zone that a CT target names."""

    id: int = 0
    original: bool = True
    reply: bool = True
    from_mark: bool = False
    """`--zone mark`: the packet's mark is the id."""


class Doubt(NamedTuple):
    """The third answer of a match: it depends on something that is not known, or that the kernel
    draws at random.
    """

    fact: str
    """A statement that is true or false, the same wherever it is asked: `the time is as "-m time
    --timestart 09:00" wants`.
    """
    likely: bool
    """Which of the two a walk takes first."""
    ask: str = ""
    """The command that tells; empty where none does."""
    random: bool = False
    """True where the kernel chooses for each packet."""
    negated: bool = False
    """True where the rule matches when the statement is false."""

    def options(self) -> tuple[Option[bool], Option[bool]]:
        """Return the two answers, the likelier first."""
        yes, no = Option(True, "yes"), Option(False, "no")
        return (yes, no) if self.likely else (no, yes)


Answer = bool | Doubt
Check = Callable[[Surroundings], Answer]
"""One condition of a rule, compiled."""
TargetAct = Callable[[RuleActions], Verdict | None]
"""What a target does, compiled: a final verdict, or None where evaluation goes on with the next
rule.
"""
