"""A case: the node, and what people and captures saw go wrong (or right) on it.

`checks` and `diagnosis` meet the world only through this: facts with spans, never records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from podpath.net.addresses import Address, Mac
from podpath.net.failures import Result, breaks_path, is_failure
from podpath.net.packet import Packet
from podpath.net.provenance import Gap, Span
from podpath.node.node import Node

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.net.clashes import Clash
    from podpath.net.complaints import Complaint, Told
    from podpath.net.messages import Message
    from podpath.net.probe import Probe
    from podpath.net.settings import SettingsFile
    from podpath.net.statements import Statement
    from podpath.net.technologies import Emphasis, Technology
    from podpath.node.objects import ApiObject
    from podpath.node.shifts import Shift
    from podpath.node.turns import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Somebody tried to connect: a curl, a ping, a readiness probe, a log line of a client."""

    probe: Probe
    result: Result
    span: Span
    who: str = ""
    """Who tried, in words: `kubelet's readiness probe`."""
    good: bool = False
    """True where the evidence says that it was tried on a good node or after the cure."""
    passed: bool = False
    """True where the line says that the first packet passed the host: conntrack lists only what it
    confirmed at the last hook, and a capture on the way out shows what is sent.
    """

    @property
    def failed(self) -> bool:
        """Tell whether it failed on the way, on the node and in the state in question."""
        return not self.good and breaks_path(self.result)

    @property
    def is_bad(self) -> bool:
        """Tell whether it failed in any way, on the node and in the state in question."""
        return not self.good and is_failure(self.result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplaced:
    """A connection failed, but one of its ends is not known: no walk can start."""

    target: str
    """Its destination as far as the evidence tells: `tcp 10.0.0.2:80`; empty where it shows a name
    alone.
    """
    result: Result | None
    """None where the text does not say how."""
    span: Span
    missing: str
    """What would have to be known, in words: `the address that it started from in
    pod/default/web-0`.
    """
    ask: str
    """The command that tells."""
    who: str = ""
    dst: Address | None = None
    """Its destination; None where the evidence shows a name alone."""
    dport: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A frame that a capture shows."""

    packet: Packet
    """Sequence numbers are as printed."""
    span: Span
    time: float | None
    """Seconds, within the capture's own clock; None where the text has no time."""
    netns: str | None = None
    link: str | None = None
    direction: str | None = None
    """`in`, `out`, `broadcast`, `multicast`, `promisc`; None where the capture does not say."""
    capture: int = 0
    """Which capture of the case it belongs to."""
    tunnel: str = ""
    """The tunnel that it was in: `VXLAN vni 1`; empty for one that was in none."""
    mtu: int = 0
    """The size that an ICMP error says would fit; 0 where it names none."""
    wrong_sum: bool = False
    """True where the capture says that the checksum of its transport header is wrong."""


class ArpOperation(StrEnum):
    """What an ARP frame does."""

    REQUEST = "request"
    REPLY = "reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArpSighting:
    """An ARP frame that a capture shows."""

    operation: ArpOperation
    sender: Address
    target: Address
    """0.0.0.0 where a reply stands there without the request that it answers."""
    sender_mac: Mac | None
    """From the ARP body where printed, else the Ethernet source."""
    target_mac: Mac | None
    span: Span
    time: float | None
    smac: Mac | None = None
    dmac: Mac | None = None
    netns: str | None = None
    link: str | None = None
    direction: str | None = None
    capture: int = 0


class ThinnedCapture(NamedTuple):
    """The packets of a long capture behind which others are left out, by their lines."""

    flows: frozenset[int] = frozenset()
    """The next one of its direction of a connection is."""
    pairs: frozenset[int] = frozenset()
    """The next one from its sender to its receiver is, of whatever connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedPoint:
    """A place where packets were captured: a file, one of its devices, a direction where the file
    tells it.
    """

    name: str
    packets: int
    first: float | None
    """Seconds, by its own clock; None where the capture shows no times."""
    last: float | None
    dropped: int = 0
    """Packets that the kernel dropped there by its own count, and the capture does not show."""
    span: Span | None = None
    """Its first line."""
    unnamed: bool = False
    """True where a capture of all devices knows only the index of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostPacket:
    """A packet, or bytes of one, that passed one capture point and did not come to the next."""

    connection: str
    """As its first point shows it: `tcp 10.0.0.1:1024 > 10.0.0.2:80`, from who opened it."""
    forward: bool
    """True on the way from who opened the connection."""
    what: str
    """`SYN`, `ACK`, `data 1:1449`, `UDP 40`, `echo 3`."""
    seen: tuple[tuple[str, Span], ...]
    """The points that it passed, by name and packet, in order; it was last seen at the last one."""
    missing_at: str
    """The point that should have been next."""
    before: Span
    """What shows that the missing point was capturing: a packet there before, and one after."""
    after: Span
    basis: str
    """Why it should have come there: `same direction` passed there, the `reverse direction` did, or
    `neighbours` do.
    """
    repeated: bool
    """True where the same bytes passed there in another copy."""
    doubtful: bool = False
    """True where a capture of all devices, which drops packets unasked, does not say how many it
    dropped, and nobody sent the packet again.
    """
    time: float | None = None
    """When it was last seen, in seconds by that capture's clock; None where it has no times."""


class FailureTally(NamedTuple):
    """How many of those that ask a server are refused, or get no answer, in a whole capture."""

    failed: int
    asked: int
    requests: int = 0
    """Name lookups or pings, each by itself, of clients that have an answer to some."""
    unheard: int = 0
    """Those of them that nothing answers."""
    lines: tuple[int, ...] = ()
    """Where the first of these stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two outputs in the evidence that cannot both hold at the same time."""

    fact: str
    spans: tuple[Span, ...]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCommand:
    """A command in the evidence that changes the node (`modprobe br_netfilter`): facts before and
    after it differ.
    """

    command: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What an output states of the host and no walk asks for, in the state in which things
    failed.
    """

    statement: Statement
    span: Span
    netns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredSysctl:
    """A line of a sysctl file: wanted, not necessarily in force."""

    key: str
    value: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """The node in another state that the evidence leaves possible, where the difference is no
    single `Fact` of the node.

    Two outputs show different routing tables, or none says how the host reaches a pod: `Case.node`
    has the likeliest, and each alternative has one other way, with all else the same. A diagnosis
    that rests on one names it as an assumption.
    """

    fact: str
    """What differs: `routes of table main in netns host`, `how the host reaches 10.244.3.136`."""
    meaning: str
    """What it is here, in words: `as at ticket.md:40 (On a good host:)`, `by another device than
    the pod's own`.
    """
    instead_of: str
    """The same for `Case.node`."""
    ask: str
    """The command whose output tells."""
    node: Node
    span: Span | None = None
    """The line that speaks for it; None where none does."""
    good: bool = False
    """True where the evidence says that things worked in this state: a good host, or after the
    cure.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One node's evidence, read and put together."""

    node: Node
    alternatives: tuple[Alternative, ...] = ()
    """The likeliest first. None is there for what is a `Fact` of the node: those fork a walk by
    themselves.
    """
    attempts: tuple[Attempt, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    """What failed as well, and cannot be walked."""
    sightings: tuple[Sighting, ...] = ()
    arps: tuple[ArpSighting, ...] = ()
    lost: tuple[LostPacket, ...] = ()
    """What captures of several points show to be lost between them."""
    thinned: Mapping[str, ThinnedCapture] = field(default_factory=lambda: MappingProxyType({}))
    """Sources of long captures, of which only packets that may tell of a failure are here."""
    tallies: Mapping[tuple[int, Address, int], FailureTally] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """What a long capture, of which not all packets are here, shows of those that ask a server: by
    protocol, address and port (0 of pings).
    """
    contradictions: tuple[Contradiction, ...] = ()
    change_commands: tuple[ChangeCommand, ...] = ()
    messages: tuple[Message, ...] = ()
    """What programs and the kernel said, in the order of the evidence."""
    stated: tuple[Stated, ...] = ()
    """What outputs state beside the node's facts, in the order of the evidence."""
    configured: tuple[ConfiguredSysctl, ...] = ()
    """What files in the evidence set sysctls to."""
    shifts: tuple[Shift, ...] = ()
    """What differs between outputs of two states."""
    turns: tuple[Turn, ...] = ()
    """What was tried twice with different results, and what was typed between."""
    clashes: tuple[Clash, ...] = ()
    """What two hosts of the evidence have alike, or apart, and must not."""
    files: tuple[SettingsFile, ...] = ()
    """Configuration files as the evidence shows them, in its order."""
    objects: tuple[ApiObject, ...] = ()
    """Objects of Kubernetes, its plugins and Docker as outputs and files state them, in the order
    of the evidence.
    """
    complaints: tuple[Complaint, ...] = ()
    """What the prose of the evidence says that fails or works: it says what to ask, and states
    nothing.
    """
    told: tuple[Told, ...] = ()
    """What the prose tells beside failures: it states nothing, and joins what is stated to them."""
    mentions: frozenset[Technology] = frozenset()
    """What the evidence speaks of, to decide what is worth asking for."""
    emphasis: tuple[Emphasis, ...] = ()
    """What each of its texts makes most of, for the same."""
    printed: tuple[str, ...] = ()
    """Commands whose outputs are here unfiltered, of the host and the state in question: what they
    print need not be asked for.
    """
    gaps: tuple[Gap, ...] = ()
