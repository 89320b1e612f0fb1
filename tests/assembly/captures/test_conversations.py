"""Frames put together to connections, and copies found of translated packets."""

from __future__ import annotations

from podpath.assembly.captures.conversations import gather_connections, is_copy
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.case import Sighting
from tests.assembly.evidence_text import address

SPAN = Span(Source(name="c", lines=("",)), 1, 1)


def _seen(
    time: float | None,
    src: str,
    dst: str,
    *,
    flags: int = protocols.SYN,
    seq: int = 5,
    link: str = "a",
) -> Sighting:
    (source, sport), (target, dport) = (text.split(":") for text in (src, dst))
    packet = Packet(
        address(source),
        address(target),
        protocols.TCP,
        int(sport),
        int(dport),
        flags=flags,
        seq=seq,
    )
    return Sighting(packet=packet, span=SPAN, time=time, link=link)


def test_two_directions() -> None:
    """Frames go to the side they were sent from; a connection whose SYN is not shown is left out."""
    answer = protocols.SYN | protocols.ACK
    (connection,) = gather_connections([
        _seen(1.0, "10.0.0.1:1000", "10.0.0.2:80"), _seen(1.1, "10.0.0.2:80", "10.0.0.1:1000", flags=answer),
        _seen(1.2, "10.0.0.1:1000", "10.0.0.2:80", flags=protocols.ACK),
        _seen(1.3, "10.0.0.9:7", "10.0.0.2:80", flags=protocols.ACK),
    ])  # fmt: skip
    assert (len(connection.forward), len(connection.backward)) == (2, 1)


def test_copy_is_joined() -> None:
    """The SYN with its source or its target rewritten, at once and with the same number, is the
    same connection.
    """
    first = _seen(1.0, "10.0.0.1:1000", "10.0.0.2:80")
    for copy in (
        _seen(1.001, "10.9.9.9:1000", "10.0.0.2:80"),
        _seen(1.001, "10.0.0.1:1000", "10.0.0.7:8080"),
    ):
        one, other = gather_connections([first, copy])
        assert one.copy is other
        assert other.original is one


def test_what_is_no_copy() -> None:
    """A later packet, another number, or both ends changed, is another connection."""
    first = _seen(1.0, "10.0.0.1:1000", "10.0.0.2:80")
    assert not is_copy(first, _seen(1.5, "10.9.9.9:1000", "10.0.0.2:80"))
    assert not is_copy(first, _seen(1.001, "10.9.9.9:1000", "10.0.0.2:80", seq=6))
    assert not is_copy(first, _seen(1.001, "10.9.9.9:1000", "10.0.0.7:80"))
    assert not is_copy(first, _seen(None, "10.9.9.9:1000", "10.0.0.2:80"))
    assert is_copy(first, _seen(1.001, "10.9.9.9:1000", "10.0.0.2:80", seq=6), numbered=False)
