"""A packet's header at a door, in a few lines."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.addresses import Address, Mac, unseen_mac
from podpath.net.packet import Packet
from podpath.report.drawings.path_drawing import Door, DrawnEnd, DrawnPacket, Stop
from podpath.report.drawings.path_header import Change, describe_header, list_headers

CLIENT, SERVICE, POD = (Address.parse(one) for one in ("10.0.0.2", "10.96.0.1", "10.0.0.3"))
SENT = Packet(CLIENT, SERVICE, protocols.TCP, 40000, 80)
ONE, OTHER = Mac("02:00:00:00:00:01"), Mac("02:00:00:00:00:02")
ETH0 = Door("host", "eth0")


def say(*stops: Stop, width: int = 32) -> list[list[tuple[str, Change]]]:
    """Return the parts of each stop's header."""
    packet = DrawnPacket("SYN", False, stops, DrawnEnd.ARRIVED, "delivered")
    return [
        [(part.text, part.change) for line in header for part in line.parts]
        for header in list_headers(packet, width)
    ]


def test_what_does_not_change_is_told_again_as_the_same() -> None:
    """Each stop has the header; the first one tells it for the first time."""
    socket, door = say(Stop(Door("pod", ""), SENT, SENT), Stop(ETH0, SENT, SENT))
    assert [text for text, _ in socket] == ["10.0.0.2:40000", "› 10.96.0.1:80", "TTL 64"]
    assert [text for text, _ in door] == [text for text, _ in socket]
    assert {change for _, change in socket} == {Change.FIRST}
    assert {change for _, change in door} == {Change.SAME}


def test_what_is_rewritten_stands_below_what_it_was() -> None:
    """Ends, TTL and MAC addresses, each by itself."""
    came = SENT._replace(smac=ONE, dmac=OTHER)
    left = came._replace(dst=POD, dport=8080, ttl=63, smac=OTHER, dmac=ONE)
    _, door = say(Stop(Door("pod", ""), SENT, SENT), Stop(ETH0, came, left))
    assert door == [
        ("10.0.0.2:40000", Change.SAME),
        ("› 10.96.0.1:80", Change.SAME),
        ("⇒ 10.0.0.3:8080", Change.REWRITTEN),
        ("TTL 63", Change.REWRITTEN),
        ("MAC 02:00:00:00:00:02›02:00:00:00:00:01", Change.REWRITTEN),
    ]


def test_a_mac_address_that_nobody_knows_is_a_question_mark() -> None:
    """Words that stand for one are no address; where neither is known, and at a socket, there is
    no line.
    """
    half = SENT._replace(smac=ONE, dmac=unseen_mac("eth0 in pod"))
    none = SENT._replace(smac=unseen_mac("10.0.0.9"), dmac=None)
    assert say(Stop(ETH0, SENT, half))[0][-1] == ("MAC 02:00:00:00:00:01›?", Change.FIRST)
    assert not any(text.startswith("MAC") for text, _ in say(Stop(ETH0, none, none))[0])
    assert not any(text.startswith("MAC") for text, _ in say(Stop(Door("p", ""), half, half))[0])


def test_long_ends_have_the_line_to_themselves() -> None:
    """The TTL stands beside the destination where there is room."""
    stop = Stop(ETH0, SENT, SENT)
    packet = DrawnPacket("SYN", False, (stop,), DrawnEnd.ARRIVED, "delivered")
    assert [[len(line.parts) for line in list_headers(packet, width)[0]] for width in (32, 18)] == [
        [1, 2],
        [1, 1, 1],
    ]


def test_what_carries_it_through_a_tunnel_is_told() -> None:
    """The outer packet's ends, behind its own."""
    outer = Packet(Address.parse("192.0.2.1"), Address.parse("192.0.2.2"), protocols.UDP, 5, 4789)
    stop = Stop(ETH0, SENT, SENT, outer)
    assert [text for text, _ in say(stop)[0]][-2:] == ["in 192.0.2.1:5", "› 192.0.2.2:4789"]
    assert describe_header(stop).endswith("; in udp 192.0.2.1:5 > 192.0.2.2:4789, TTL 64")


def test_an_end_that_no_line_holds_is_broken_behind_a_colon() -> None:
    """An IPv6 address is told in full, and its rest is as new as its beginning."""
    long = Address.parse("2001:db8:1234:5678:9abc:def0:1234:5678")
    came = Packet(long, Address.parse("2001:db8::1"), protocols.TCP, 40000, 80)
    (told,) = say(Stop(ETH0, came, came._replace(dst=long)))
    assert told == [
        ("[2001:db8:1234:5678:9abc:def0:", Change.FIRST),
        ("  1234:5678]:40000", Change.FIRST),
        ("› [2001:db8::1]:80", Change.FIRST),
        ("⇒ [2001:db8:1234:5678:9abc:def0:", Change.REWRITTEN),
        ("  1234:5678]:80", Change.REWRITTEN),
        ("TTL 64", Change.FIRST),
    ]
    assert all(len(text) <= 32 for text, _ in told)
