"""What conntrack says of a packet."""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.netfilter import ConnTuple


@distinct
class BadChecksum(NamedTuple):
    """The packet's checksum is wrong."""


@distinct
class BadFlags(NamedTuple):
    """The TCP flags are a combination that TCP does not know."""


@distinct
class OfNoConnection(NamedTuple):
    """The segment belongs to no connection that conntrack has seen."""

    segment: str
    """`syn-ack`, `ack`, `rst`, ..."""


@distinct
class NotPickedUp(NamedTuple):
    """No connection is picked up in its middle: nf_conntrack_tcp_loose is 0."""


@distinct
class OutOfState(NamedTuple):
    """The segment does not fit the connection's state."""

    segment: str
    state: str
    reply: bool
    """True in the reply direction."""


@distinct
class ResetBehind(NamedTuple):
    """A reset's sequence number is behind what is acknowledged already."""

    seq: int
    acknowledged: int


@distinct
class UnseenData(NamedTuple):
    """The segment acknowledges data that conntrack has not seen."""

    ack: int
    seen: int


@distinct
class AnswersNoQuery(NamedTuple):
    """The ICMP message answers no query that conntrack has seen."""


@distinct
class QuoteUnknown(NamedTuple):
    """What packet the ICMP error quotes is not known."""


@distinct
class QuotesIcmp(NamedTuple):
    """The ICMP error is about an ICMP message that has no answer."""


@distinct
class QuotesNoConnection(NamedTuple):
    """The ICMP error is about a packet of no connection that conntrack has seen."""

    quoted: Packet


@distinct
class ErrorAstray(NamedTuple):
    """The ICMP error went to another address than that of the connection's sender."""

    address: Address
    sender: Address


InvalidReason = (
    BadChecksum | BadFlags | OfNoConnection | NotPickedUp | OutOfState | ResetBehind | UnseenData
    | AnswersNoQuery | QuoteUnknown | QuotesIcmp | QuotesNoConnection | ErrorAstray
)  # fmt: skip
"""Why conntrack calls a packet INVALID."""


@distinct
class OpenedAnew(NamedTuple):
    """The old entry is deleted, and the connection opened anew."""


@distinct
class LetThrough(NamedTuple):
    """The segment is let through without a change of state."""

    segment: str
    state: str


@distinct
class EndedByReset(NamedTuple):
    """A reset before any reply ends the entry."""


TrackingNote = OpenedAnew | LetThrough | EndedByReset
"""What the TCP tracker says of a segment that is valid."""


@distinct
class TrackedAs(NamedTuple):
    """The packet belongs to a connection, or opens it."""

    connection: ConnTuple
    new: bool
    reply: bool
    note: TrackingNote | None = None


@distinct
class ConntrackInvalid(NamedTuple):
    """Conntrack calls the packet INVALID."""

    why: InvalidReason
    connection: ConnTuple | None = None
    """The connection that it does not fit, where it is one's."""


@distinct
class RelatedError(NamedTuple):
    """The packet is an ICMP error about a connection."""

    connection: ConnTuple


@distinct
class ConntrackFull(NamedTuple):
    """The table is full, and no entry can be dropped early."""


@distinct
class TupleTaken(NamedTuple):
    """The new connection has a tuple that another one has already."""

    connection: ConnTuple


TrackingReason = TrackedAs | ConntrackInvalid | RelatedError | ConntrackFull | TupleTaken
