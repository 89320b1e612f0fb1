"""Frames of captures as plain values: what one packet says, where it was captured, how often it was
sent.

Nothing here needs NumPy, so that checks reason on captures that were read from text without it. A
frame is whatever has the attributes of `CapturedFrame`: what is known of one packet, and the line
or the packet number that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.provenance import Span

RESEND_AFTER = 0.15
"""Seconds: TCP_RTO_MIN is 200 ms (include/net/tcp.h:TCP_RTO_MIN v6.12); captures are off by less
than a quarter of it.
"""
SYN_ACK = protocols.SYN | protocols.ACK
_OPENING = protocols.SYN | protocols.ACK | protocols.RST | protocols.FIN


class CapturedFrame(Protocol):
    """One packet that a capture shows."""

    @property
    def packet(self) -> Packet:
        """Its headers; of TCP the numbers as printed."""

    @property
    def time(self) -> float | None:
        """Seconds on the capture's own clock; None where none is printed."""

    @property
    def span(self) -> Span:
        """The line that shows it."""

    @property
    def netns(self) -> str | None:
        """The namespace that it was captured in."""

    @property
    def link(self) -> str | None:
        """The device."""

    @property
    def direction(self) -> str | None:
        """`in` or `out`; None where the capture does not say."""

    @property
    def capture(self) -> int:
        """Which capture it belongs to."""

    @property
    def tunnel(self) -> str:
        """The tunnel that it was in; empty outside of tunnels."""

    @property
    def mtu(self) -> int:
        """The size that an ICMP error says would fit, or 0."""

    @property
    def wrong_sum(self) -> bool:
        """True where the capture calls its checksum wrong."""


F = TypeVar("F", bound=CapturedFrame)


class CapturePoint(NamedTuple):
    """Where frames were captured: a device within a capture; `-i any` has many."""

    capture: int
    netns: str | None
    link: str | None
    tunnel: str = ""
    """What is in a tunnel is seen at the tunnel's own point, though the device is the same."""

    def __str__(self) -> str:
        """Name the device, and the namespace where it is not the host's."""
        place = self.link or "the capture's device"
        if self.netns in (None, "host"):
            return place
        return f"{place} in netns {self.netns}"


def point_of(frame: CapturedFrame) -> CapturePoint:
    """Say where a frame was captured.

    GTP-U numbers each direction by itself: its two tunnels are one point.
    """
    tunnel = frame.tunnel
    if tunnel:
        tunnel, _, _ = tunnel.partition(" teid ")
    return CapturePoint(frame.capture, frame.netns, frame.link, tunnel)


def spell_point(point: CapturePoint, frame: CapturedFrame) -> str:
    """Name a point: its device, or the file of a frame that was captured there, where no device is
    known.
    """
    if point.link is not None:
        return str(point)
    return frame.span.source.name.rpartition("/")[2]


def opening(packet: Packet) -> int:
    """Return the flags that open, answer and close a connection; 0 for what is no TCP."""
    if packet.protocol == protocols.TCP:
        return packet.flags & _OPENING
    return 0


def opening_with(frames: Iterable[F], flags: int) -> list[F]:
    """Return the frames among those of a TCP connection that open, answer or close it with exactly
    these flags.
    """
    return [seen for seen in frames if seen.packet.flags & _OPENING == flags]


def is_error(packet: Packet) -> bool:
    """Tell whether it is an ICMP error, which speaks of another packet."""
    kinds = protocols.ICMP_ERRORS.get(packet.protocol)
    return kinds is not None and packet.icmp_type in kinds


def errors_about(frames: Iterable[F]) -> Iterator[F]:
    """Return the ICMP errors among frames."""
    kinds = protocols.ICMP_ERRORS
    return (seen for seen in frames if seen.packet.protocol in kinds and is_error(seen.packet))


def times_sent(same: Sequence[F]) -> list[F]:
    """Return the frames that were each sent anew, without copies of one that the same point shows
    on its way through.

    Where no time is printed, what stands there a third time was sent anew.
    """
    timed = [seen for seen in same if seen.time is not None]
    if not timed:
        return list(same) if len(same) > 2 else list(same[:1])
    sent = timed[:1]
    for seen in timed[1:]:
        if abs((seen.time or 0.0) - (sent[-1].time or 0.0)) >= RESEND_AFTER:
            sent.append(seen)
    return sent


def same_segments(frames: Iterable[F]) -> list[list[F]]:
    """Return the data segments of one direction, each with all frames that show the same bytes."""
    found: dict[tuple[int, int], list[F]] = {}
    for seen in frames:
        if seen.packet.payload and not seen.packet.flags & (protocols.SYN | protocols.RST):
            found.setdefault((seen.packet.seq, seen.packet.payload), []).append(seen)
    return list(found.values())


def repeated_data(frames: Iterable[F]) -> list[list[F]]:
    """Return the segments of one direction that were sent more than once, each with all times it
    was sent.
    """
    sent = [times_sent(copies) for copies in same_segments(frames)]
    return [copies for copies in sent if len(copies) > 1]


def counted(number: int, first: int | None) -> int:
    """Count a sequence number from that of the SYN: tcpdump prints both ways, the first of a
    connection as it is on the wire.
    """
    if first is None or number < first:
        return number
    if number - first < 1 << 31:
        return number - first
    return number


def seconds_between(one: CapturedFrame, other: CapturedFrame) -> float | None:
    """Return the time from one frame to another; None where one has none."""
    if one.time is None or other.time is None:
        return None
    return other.time - one.time


def clock(time: float) -> str:
    """Spell a time of a capture: the time of day, with the microsecond."""
    day = time % 86400
    return f"{int(day // 3600):02}:{int(day % 3600 // 60):02}:{day % 60:09.6f}"
