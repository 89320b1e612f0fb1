"""What is left out by default is the daily life of a healthy node, and nothing else."""

from __future__ import annotations

import pytest

from podpath.drops.events import decode_key
from podpath.drops.noise import DAILY, is_daily
from podpath.drops.program import KEY
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.drops.made_events import emit_key

PACKET = Packet(
    Address.parse("10.0.0.1"), Address.parse("10.0.0.2"), protocols.TCP, 40000, 80, protocols.SYN
)


def daily(packet: Packet, reason: str) -> bool:
    """Tell whether a packet that is freed for a reason is left out."""
    return is_daily(decode_key(emit_key(packet, reason=1), {1: reason}))


@pytest.mark.parametrize(
    "reason", ["NETFILTER_DROP", "IP_RPFILTER", "NO_SOCKET", "NOT_SPECIFIED", "OTHERHOST"]
)
def test_a_connection_that_cannot_begin_is_shown(reason: str) -> None:
    """A SYN that is dropped is what is looked for, whatever ends it."""
    assert not daily(PACKET, reason)


@pytest.mark.parametrize("reason", sorted(DAILY))
def test_reasons_of_every_day_are_left_out(reason: str) -> None:
    """Each reason of the table is left out, of any packet."""
    assert daily(PACKET, reason)


def test_what_comes_after_the_end_is_left_out() -> None:
    """A packet of a connection that is closed finds no socket; a filtered one is still shown."""
    late = PACKET._replace(flags=protocols.ACK | protocols.FIN)

    assert daily(late, "NO_SOCKET")
    assert not daily(late, "NETFILTER_DROP")


def test_what_is_for_many_finds_some_without_use_for_it() -> None:
    """Multicast and broadcast that nobody wants is left out; a filter's drop of it is not."""
    for address in ("224.0.0.251", "255.255.255.255", "ff02::1"):
        many = PACKET._replace(
            src=Address(Address.parse(address).family, 9), dst=Address.parse(address), protocol=17
        )
        assert daily(many, "NO_SOCKET")
        assert not daily(many, "NETFILTER_DROP")


def test_an_answer_to_ping_is_left_out() -> None:
    """Ping's own socket took its copy; a request that finds nobody is shown."""
    answer = PACKET._replace(protocol=protocols.ICMP, icmp_type=0, flags=0)

    assert daily(answer, "NO_SOCKET")
    assert not daily(answer._replace(icmp_type=8), "NO_SOCKET")


def test_what_is_no_packet_is_left_out() -> None:
    """Buffers of local sockets pass the same tracepoint; a frame of a type that nobody handles is
    common, too.
    """
    local = decode_key(KEY.pack(1, 2, 0, 0, 0, b"\0\0", 0, 0, 0, 0, b"", b""), {2: "NOT_SPECIFIED"})
    frame = decode_key(
        KEY.pack(1, 2, 7, 1, 1, b"\x88\xcc", 0, 0, 0, 0, b"", b""), {2: "UNHANDLED_PROTO"}
    )

    assert is_daily(local)
    assert is_daily(frame)
