"""Frames decoded as far as the model predicts them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.drops.headers import IPV4, parse_packet
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath_lab.frames import decode_bare, decode_frame

ETHERNET = bytes.fromhex("0200000001010200000001000800")
HEADER = bytes.fromhex("4510003400004000400600000a0100020a010003")
TCP = bytes.fromhex("9c40005000000001000000028018010000000000") + bytes(12)


def test_tcp_segment() -> None:
    """Addresses, ports, flags, TTL, TOS and MACs are read."""
    packet, arp = decode_frame(ETHERNET + HEADER + TCP)
    assert arp is None
    assert packet is not None
    assert (str(packet.src), str(packet.dst), packet.sport, packet.dport) == (
        "10.1.0.2",
        "10.1.0.3",
        40000,
        80,
    )
    assert packet.flags == protocols.PSH | protocols.ACK
    assert (packet.ttl, packet.tos, packet.payload, packet.smac) == (
        64,
        0x10,
        0,
        "02:00:00:00:01:00",
    )


def test_what_a_tunnel_of_ip_sends_has_no_frame() -> None:
    """It begins with the IP header, and has no MACs; what is no IP is left."""
    bare, framed = decode_bare(IPV4, HEADER + TCP), decode_frame(ETHERNET + HEADER + TCP)[0]

    assert bare is not None
    assert framed is not None
    assert bare == framed._replace(smac=None, dmac=None)
    assert decode_bare(0x0806, HEADER + TCP) is None


def test_the_mss_of_a_syn() -> None:
    """It stands behind options without a length; whatever is no SYN has none."""
    syn = TCP[:13] + b"\x02" + TCP[14:20] + bytes.fromhex("0101020405b4030307000000")

    found = [decode_frame(ETHERNET + HEADER + segment)[0] for segment in (syn, TCP)]
    assert [1460, 0] == [packet.mss for packet in found if packet is not None]


def test_an_option_without_end_is_no_mss() -> None:
    """Nonsense of a SYN ends the search."""
    syn = TCP[:13] + b"\x02" + TCP[14:20] + bytes.fromhex("fd00000000000000000000")
    packet, _ = decode_frame(ETHERNET + HEADER + syn)

    assert packet is not None
    assert packet.mss == 0


def test_arp_request() -> None:
    """Who asks for what, with the sender's MAC."""
    body = bytes.fromhex("000108000604000102000000010a0a010002000000000000a9fea9fe")
    _, arp = decode_frame(bytes.fromhex("ffffffffffff02000000010a0806") + body)
    assert arp is not None
    assert (arp.operation, arp.sender_mac, str(arp.sender), str(arp.target)) == (
        1,
        "02:00:00:00:01:0a",
        "10.1.0.2",
        "169.254.169.254",
    )


def test_icmp_error_holds_the_packet_that_it_is_about() -> None:
    """The quoted packet is decoded too."""
    error = bytes.fromhex("0301000000000000") + HEADER + TCP[:8]
    header = bytes.fromhex("45c00038000000004001" + "0000" + "0a010001" + "0a010002")
    packet = parse_packet(
        IPV4, header[:2] + (20 + len(error)).to_bytes(2, "big") + header[4:] + error
    )
    assert packet is not None
    assert packet.quoted is not None
    assert packet.quoted.dst == Address.parse("10.1.0.3")


@given(st.binary(max_size=120))
def test_any_bytes_are_decoded_or_left(data: bytes) -> None:
    """Damaged frames never raise."""
    decode_frame(ETHERNET + data)
    decode_frame(data)
