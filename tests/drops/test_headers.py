"""Headers that are cut, nested or none are parsed as far as they go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.drops import headers
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.drops.made_events import emit_ip

ONE, TWO = Address.parse("10.0.0.1"), Address.parse("10.0.0.2")
UDP = Packet(ONE, TWO, protocols.UDP, 5353, 53, length=48, payload=20)


@given(st.sampled_from((headers.IPV4, headers.IPV6, headers.ARP)), st.binary(max_size=80))
def test_no_bytes_are_too_bad(ethertype: int, data: bytes) -> None:
    """Whatever a packet holds, it is parsed or said to be none."""
    found = headers.parse_packet(ethertype, data)

    assert found is None or found.family == (4 if ethertype == headers.IPV4 else 6)


def test_a_later_fragment_has_no_ports() -> None:
    """What stands where the ports would be is data."""
    found = headers.parse_packet(headers.IPV4, emit_ip(UDP._replace(fragment=True)))

    assert found is not None
    assert (found.fragment, found.sport, found.dport) == (True, 0, 0)


def test_an_error_quotes_its_packet() -> None:
    """The packet that an ICMP error speaks of is parsed too."""
    error = Packet(TWO, ONE, protocols.ICMP, icmp_type=3, icmp_code=3, length=56)
    found = headers.parse_packet(headers.IPV4, emit_ip(error) + emit_ip(UDP))

    assert found is not None
    assert found.quoted is not None
    assert (found.quoted.dst, found.quoted.dport) == (TWO, 53)


def test_extension_headers_of_ipv6_are_passed() -> None:
    """The transport header behind hop-by-hop options is found."""
    six = Packet(
        Address.parse("fd00::1"), Address.parse("fd00::2"), protocols.UDP, 1024, 53, length=56
    )
    whole = emit_ip(six)
    options = bytes((protocols.UDP, 0)) + bytes(6)
    found = headers.parse_packet(
        headers.IPV6, whole[:6] + b"\0" + whole[7:40] + options + whole[40:]
    )

    assert found is not None
    assert (found.protocol, found.sport, found.dport) == (protocols.UDP, 1024, 53)


def test_tags_in_the_frame_are_passed() -> None:
    """Behind VLAN tags stands the packet's own type."""
    tagged = b"\x00\x64\x08\x00" + emit_ip(UDP)

    assert headers.skip_tags(headers.VLAN, tagged) == (headers.IPV4, emit_ip(UDP))
    assert headers.skip_tags(headers.VLAN, b"\0") == (headers.VLAN, b"\0")


def test_zeros_are_no_macs() -> None:
    """What the host sends to itself has no MACs, and a short header none either."""
    assert headers.parse_macs(bytes(14)) is None
    assert headers.parse_macs(b"\2") is None
    assert headers.parse_macs(bytes.fromhex("020000000002020000000001") + b"\x08\x00") == (
        "02:00:00:00:00:02",
        "02:00:00:00:00:01",
    )
