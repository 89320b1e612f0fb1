"""The one-line spelling of a probe, both ways, and what its errors say."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import EPHEMERAL, Probe, Sending

PORTS = st.integers(1, 65535)
PLACES = st.sampled_from([(None, None), ("pod-a", None), (None, "lxc1234")])


@st.composite
def sendings(draw: st.DrawFn, *, socket: bool) -> Sending:
    """Make any way to send; without a socket's own options where none sends."""
    return Sending(
        size=draw(st.none() | st.integers(28, 65535)),
        dont_fragment=draw(st.none() | st.booleans()),
        uid=draw(st.integers(0, 70000)) if socket else 0,
        mark=draw(st.integers(0, 2**32 - 1)) if socket else 0,
        ttl=draw(st.none() | st.integers(1, 255)),
        dscp=draw(st.integers(0, 63)),
        device=draw(st.sampled_from(("", "eth0", "net1"))) if socket else "",
    )


@st.composite
def starts(draw: st.DrawFn) -> tuple[bool, int | None]:
    """Make any way in which a TCP probe begins: in its middle, or with flags of one segment."""
    midway = draw(st.booleans())
    return midway, None if midway else draw(st.none() | st.integers(0, 63))


@st.composite
def probes(draw: st.DrawFn) -> Probe:
    """Make any probe that has a spelling."""
    family = draw(st.sampled_from([4, 6]))
    bits = 32 if family == 4 else 128
    ends = [Address(4 if family == 4 else 6, draw(st.integers(0, 2**bits - 1))) for _ in range(2)]
    netns, device = draw(PLACES)
    sending = draw(sendings(socket=device is None))
    if draw(st.booleans()):
        echo = protocols.ICMP if family == 4 else protocols.ICMPV6
        return Probe(echo, ends[0], ends[1], EPHEMERAL, 0, netns, device, sending)
    protocol = draw(st.sampled_from([protocols.TCP, protocols.UDP]))
    if protocol == protocols.TCP:
        midway, flags = draw(starts())
        sending = sending._replace(midway=midway, flags=flags)
    return Probe(protocol, ends[0], ends[1], draw(PORTS), draw(PORTS), netns, device, sending)


@given(probes())
def test_a_probe_reads_back_what_it_spells(probe: Probe) -> None:
    """Spelling and parsing are inverse, for both families, all protocols and both kinds of
    place.
    """
    assert Probe.parse(str(probe)) == probe


def test_the_client_port_is_assumed() -> None:
    """Nobody needs to name the source port."""
    probe = Probe.parse("tcp 172.16.0.30 > 104.17.32.82:80")

    assert (probe.sport, probe.dport, probe.netns) == (EPHEMERAL, 80, None)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected PROTOCOL SOURCE > DESTINATION"),
        ("tcp 10.0.0.1", "expected PROTOCOL SOURCE > DESTINATION"),
        ("sctp 10.0.0.1 > 10.0.0.2:80", "expected PROTOCOL SOURCE > DESTINATION"),
        ("tcp 10.0.0.1 > 10.0.0.2", "expected a destination port"),
        ("tcp 10.0.0.1 > fd00::1", "different families"),
        ("tcp 10.0.0.1 > 10.0.0.2:99999", "port 99999 is above 65535"),
        ("tcp 10.0.0.1 > web:80", "expected ADDRESS"),
        ("tcp 10.0.0.999 > 10.0.0.2:80", "expected ADDRESS"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 size 12", "expected size 28 to 65535, saw '12'"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 ttl many", "expected ttl 1 to 255, saw 'many'"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 dscp ef", "expected dscp 0 to 63"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 in eth0 uid 7", "has no socket of this node"),
        ("udp 10.0.0.1 > 10.0.0.2:80 midway", "only TCP has flags and a middle"),
        ("icmp 10.0.0.1 > 10.0.0.2 flags ACK", "only TCP has flags and a middle"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 midway flags ACK", "expected midway or flags, not both"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 flags S", "expected flags such as SYN,ACK or NONE, saw 'S'"),
        ("tcp 10.0.0.1 > 10.0.0.2:80 speed 7", "expected PROTOCOL SOURCE > DESTINATION"),
    ],
)
def test_a_wrong_probe_says_what_is_wrong(text: str, complaint: str) -> None:
    """Every error is a usage error that names the part."""
    with pytest.raises(UsageError, match=complaint):
        Probe.parse(text)


@given(st.text(max_size=60))
def test_any_text_is_a_probe_or_a_usage_error(text: str) -> None:
    """Nothing that a person types makes it fail otherwise."""
    with contextlib.suppress(UsageError):
        Probe.parse(text)
