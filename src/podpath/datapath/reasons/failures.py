"""How a conversation fails: the packet that did not arrive, or arrived as something that its end
has no use for.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.distinct import distinct
from podpath.datapath.vocabulary import StepStage
from podpath.net.addresses import Address
from podpath.net.packet import Packet


class EndPlace(NamedTuple):
    """An end of a connection, as far as it is told of."""

    netns: str
    link: str | None
    """The device behind which the host is; None for a process of the namespace."""


@distinct
class PacketDropped(NamedTuple):
    """A packet ended without a word to its sender."""

    name: str
    netns: str
    stage: StepStage
    reason: Reason


@distinct
class PacketRejected(NamedTuple):
    """A packet ended, and its sender is told."""

    name: str
    netns: str
    stage: StepStage
    answer: str
    reason: Reason


@distinct
class PacketUndecided(NamedTuple):
    """The model cannot tell what becomes of a packet."""

    name: str
    netns: str
    stage: StepStage
    reason: Reason


@distinct
class FrameEnded(NamedTuple):
    """A frame that was injected reached nobody."""

    reason: Reason


@distinct
class NobodyListens(NamedTuple):
    """The first packet arrives where nobody listens."""

    name: str
    netns: str
    packet: Packet


@distinct
class OuterDelivered(NamedTuple):
    """A process was handed the packet that a tunnel put it into."""

    name: str


@distinct
class Misdelivered(NamedTuple):
    """A packet reached another end than the one that it was for."""

    name: str
    reached: EndPlace
    wanted: EndPlace
    reply: bool
    """True for an answer, which is for the client."""


@distinct
class CameByOther(NamedTuple):
    """The answer came in by another device than the client's socket is bound to."""

    name: str
    came: str
    bound: str


@distinct
class NotTranslatedBack(NamedTuple):
    """The answer reached the client with another source than it connected to."""

    name: str
    packet: Packet
    asked: Packet


@distinct
class StrayPacket(NamedTuple):
    """A later packet reached the server as part of no connection that it knows."""

    name: str
    packet: Packet
    seen: Packet
    """The first packet, as the server saw it."""


@distinct
class LeftForOwnPod(NamedTuple):
    """A packet left the node, though its destination is a pod of it."""

    name: str
    link: str
    address: Address


@distinct
class LeftForPodOf(NamedTuple):
    """A packet left its cluster, though its destination is a pod of another node."""

    name: str
    link: str
    address: Address
    node: str


@distinct
class LeftUntranslated(NamedTuple):
    """A packet left the node with a source that nobody out there answers."""

    name: str
    packet: Packet


Failure = (
    PacketDropped | PacketRejected | PacketUndecided | FrameEnded | NobodyListens | OuterDelivered
    | Misdelivered | CameByOther | NotTranslatedBack | StrayPacket | LeftForOwnPod | LeftForPodOf
    | LeftUntranslated
)  # fmt: skip
