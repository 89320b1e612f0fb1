"""What the matching of captures says, as plain values: who passed where, rewritten how, and what
did not arrive.

Every packet is named by its point, file and number, counted from 1 as Wireshark counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from podpath.net.addresses import Address


class SeenPacket(NamedTuple):
    """A packet at a capture point."""

    point: int
    """The number of the point (`Matching.points`)."""
    file: str
    number: int
    """Of the packet in its file, from 1."""
    time: int
    """Nanoseconds since the epoch, by the clock of its point."""


class FiveTuple(NamedTuple):
    """Who speaks to whom, as one point shows it."""

    protocol: int
    src: Address
    sport: int
    """Of ICMP echo, the identifier in both places."""
    dst: Address
    dport: int


class Tunnel(NamedTuple):
    """The tunnel that packets are in."""

    src: Address
    dst: Address
    network: int
    """The network identifier of VXLAN and Geneve, the key of GRE; 0 for tunnels without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Packets of one direction of a connection at one point, with one pair of ends: before and
    after NAT are two passages.
    """

    point: int
    ends: FiveTuple
    tunnel: Tunnel | None
    """None outside of tunnels."""
    ttl: int
    """The smallest that was seen."""
    packets: int
    payload: int
    """Bytes that TCP or UDP carried past it, repeated ones counted again."""
    first: SeenPacket
    last: SeenPacket


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """Where ends were rewritten: between two passages of a way that follow each other."""

    after: int
    """The last point that shows the original ends."""
    before: int
    """The first point that shows the translated ends; the same one, where a device shows both."""
    original: FiveTuple
    translated: FiveTuple

    @property
    def kind(self) -> str:
        """Say which end was rewritten: `source`, `destination` or `both`."""
        if self.original[1:3] == self.translated[1:3]:
            return "destination"
        if self.original[3:] == self.translated[3:]:
            return "source"
        return "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionDirection:
    """One direction of a connection."""

    passages: tuple[Passage, ...]
    """In the order in which packets pass: the first shows where they were first seen, the last
    where last.
    """
    translations: tuple[Translation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedConnection:
    """One connection (or exchange of UDP or ICMP echo) as all points show it."""

    number: int
    protocol: int
    client_isn: int | None
    """The initial sequence number of who opened it; None where no point shows the handshake, and
    for what is no TCP.
    """
    server_isn: int | None
    forward: ConnectionDirection
    """From who opened it; where nobody saw that, from who spoke first."""
    backward: ConnectionDirection


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketLoss:
    """A packet, or bytes of one, that passed one point and did not come to the next that was
    capturing before and after.
    """

    connection: int
    forward: bool
    what: str
    """`SYN`, `SYN-ACK`, `ACK`, `FIN`, `RST`, `data 1:1449` (relative to the initial sequence
    number), `UDP 40`, `echo 3`.
    """
    begin: int
    """The first lost byte, relative to the initial sequence number (to the first one seen, where
    that is not known); 0 for what is no data.
    """
    end: int
    """One past the last lost byte; `begin` for what is no data."""
    seen: tuple[SeenPacket, ...]
    """Each point that it passed, in order; the last is where it was last seen."""
    missing_at: int
    """The point where it should have been seen next."""
    before: SeenPacket
    """What shows that the missing point was capturing: the last packet there before it should have
    come, of the same direction where there is one, else any.
    """
    after: SeenPacket
    """The same, the first one after it."""
    basis: str
    """Why it should have come there: `same direction` passed there, the `reverse direction` did, or
    `neighbours` (other connections with the same server) do.
    """
    repeated: bool
    """True where the same bytes, or the same SYN, passed that point in another copy."""
    resent: bool = False
    """True where its sender sent the same bytes, SYN or FIN again: it got no acknowledgment."""

    @property
    def last_seen(self) -> SeenPacket:
        """Return the packet where it was last seen."""
        return self.seen[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """Packets of one direction that a later point does not show, though nothing says that they were
    lost.
    """

    connection: int
    forward: bool
    packets: int
    first: SeenPacket
    """The first of them, where it was last seen."""
    last: SeenPacket
    missing_at: int
    why: str
    """Why no loss is claimed: `the capture there had not begun`, `the other side acknowledged
    it`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What did not arrive."""

    lost: tuple[PacketLoss, ...]
    """In the order of connections, then of time."""
    unseen: tuple[Unseen, ...]
    leaking: frozenset[str] = frozenset()
    """Files that leave out packets which did pass where they were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """How far one host's clock is ahead of the first host's."""

    host: str
    nanoseconds: int | None
    """Half of (shortest time forward - shortest time backward); None where no connection passed
    both in both directions.
    """
    within: int
    """The true offset differs by at most this: half of the shortest round trip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """One packet across the points; with segmentation offload one large packet and the small ones
    that it becomes.
    """

    connection: int
    forward: bool
    what: str
    time: int
    """When it was first seen, in nanoseconds by the first host's clock."""
    seen: tuple[tuple[SeenPacket, ...], ...]
    """For each passage of its way (`ConnectionDirection.passages`) the packets there, in the order
    of the file; none where it was not seen.
    """
    lost: tuple[PacketLoss, ...]
    """It, or parts of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderPoint:
    """A column of a ladder: a device, with what it makes of the connection."""

    name: str
    """File and device."""
    ends: FiveTuple | None
    """Of the client's packets there; None for a point that shows none of the connection."""
    tunnel: Tunnel | None
    clock: ClockOffset


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderStep:
    """A row of a ladder: one packet."""

    forward: bool
    what: str
    time: int
    """Nanoseconds after the ladder's first packet, by the first host's clock."""
    packets: tuple[tuple[int, ...], ...]
    """For each post the numbers of its packets there; none where it was not seen."""
    lost: tuple[tuple[int, int, str], ...]
    """What was lost (`data 1:1449`), between which two posts: the one that shows it, and the next
    that should have.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """One connection across its capture points, ready to be drawn."""

    connection: MatchedConnection
    posts: tuple[LadderPoint, ...]
    """In the order of the client's packets."""
    steps: tuple[LadderStep, ...]
    """In the order of time."""
