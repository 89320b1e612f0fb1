"""What readers give: typed, tolerant records, each with the span it was read from.

A record keeps what its line says and nothing else: a field that the text does not show is None (or
empty), never a default. Text and JSON forms of one command give the same records. `assembly` alone
turns them into the Node. Here is what shows connections, and what anybody says; what outputs list
of a node is in `node_records`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from podpath.net.addresses import Address, Family
from podpath.net.failures import Result
from podpath.net.packet import Packet
from podpath.net.probe import USUALLY, Sending
from podpath.net.provenance import Gap, Span

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.net.messages import MessageKind
    from podpath.net.settings import SettingsFile
    from podpath.net.statements import Statement

R = TypeVar("R", bound="Record")


class Reading(NamedTuple):
    """What one reader made of one source: together the spans cover every line that is not blank."""

    records: tuple[Record, ...]
    gaps: tuple[Gap, ...]

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of a type, in their order."""
        return [record for record in self.records if isinstance(record, kind)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all records."""

    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingRecord(Record):
    """A line that belongs to the format but states no fact: a heading, a column title, a separator,
    a trailer.
    """

    text: str = ""
    partial: bool = False
    """True where it says that lines are missing (`...`, `--` of a grep)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord(Record):
    """A line of a known kind, wherever it stands: a log, an event, the error of a command."""

    kind: MessageKind
    values: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    """How many lines of the source say the same."""
    speaker: str = ""
    """Who printed the line, by its name and number: `nginx[812]`; empty where it does not say."""
    again: tuple[int, ...] = ()
    """The numbers of other lines that say the same, the first hundreds of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRecord(Record):
    """Something that an output states of the host and that no walk asks for."""

    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsRecord(Record):
    """A configuration file, or a part of one, with what it sets."""

    file: SettingsFile


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord(Record):
    """A connection that somebody tried, and what came of it: a curl, a ping, a probe, a client's
    log line.
    """

    protocol: int
    dst: Address
    dport: int
    """0 for ICMP."""
    result: Result
    src: Address | None = None
    who: str = ""
    """`curl`, `ping`, `kubelet readiness probe`, `container log`, ..."""
    origin: str | None = None
    """Where it ran: `host`, `pod`, a namespace's name; None where the text does not say."""
    detail: str = ""
    """The message that says how it failed."""
    sending: Sending = USUALLY
    """How it was sent, where the typed command says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCommandRecord(Record):
    """A command that changes the node, as typed at a prompt (`modprobe br_netfilter`, `sysctl -w
    ...`, `ip route del ...`).
    """

    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRecord(Record):
    """One packet of tcpdump's text."""

    time: float | None
    """Seconds since midnight, or since the epoch where the date stands there too."""
    packet: Packet | None
    """None for what is not IP, and for ARP."""
    link: str | None = None
    direction: str | None = None
    relative: bool = True
    """True where sequence and acknowledgement numbers may be relative to the connection's first
    packet.
    """
    smac: str | None = None
    """As printed: MACs in articles are often replaced by words (`MGNT_MAC`)."""
    dmac: str | None = None
    arp: ArpRecord | None = None
    note: str = ""
    """What the printer said further: `HTTP: GET / HTTP/1.1`."""
    tunnel: str = ""
    """The tunnel that it was in: `VXLAN vni 1`."""
    mtu: int = 0
    """What an ICMP error says that fits; 0 where it names none."""
    wrong_sum: bool = False
    """True where the printer calls the checksum of its transport header wrong."""


class ArpRecord(NamedTuple):
    """The body of an ARP frame."""

    operation: str
    sender: Address | None
    target: Address | None
    sender_mac: str | None
    target_mac: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConntrackRecord(Record):
    """A line of `conntrack -L` or /proc/net/nf_conntrack."""

    family: Family
    protocol: int
    state: str | None
    timeout: int | None
    original: ConnTupleRecord
    reply: ConnTupleRecord | None
    unreplied: bool = False
    assured: bool = False
    offloaded: bool = False
    mark: int | None = None
    zone: int | None = None
    zone_original: int | None = None
    zone_reply: int | None = None
    id: int | None = None


class ConnTupleRecord(NamedTuple):
    """One direction of a conntrack line; None where digits were elided."""

    src: Address
    dst: Address
    sport: int | None
    dport: int | None
    icmp_type: int | None = None
    icmp_id: int | None = None
