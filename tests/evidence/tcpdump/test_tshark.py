"""Rows of tshark and of Wireshark's list are packets where they show ports, and are kept else."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.records import PacketRecord
from podpath.evidence.tcpdump.tshark import read_tshark
from podpath.net import protocols
from podpath.net.provenance import GapKind
from tests.evidence.consoles import block, uncovered

LIST = """
No.     Time           Source                Destination           Protocol Length Info
371 70.961626   3.2.253.177     172.30.31.151   TCP     66  52541 → 443 [SYN] Seq=0 Win=8192 Len=0
373 70.962516   172.30.31.151   3.2.253.177     TCP     66  443 → 52541 [SYN, ACK] Seq=0 Ack=1 Len=0
377 70.963248   3.2.253.177     172.30.31.151   TLSv1.2 571 Client Hello
395 70.968370   3.2.253.177     172.30.31.151   TCP     54  52541 → 443 [RST] Seq=526 Win=0 Len=0
"""
LINES = """
Capturing on 'eth0'
    1 0.000000000   10.244.0.7 → 10.96.0.10   DNS 85 Standard query 0x1a2b A web.default.svc
    2 5.005000000   10.244.0.7 -> 10.96.0.10   UDP 92 51234 -> 53 Len=50
    3 6.1   10.244.0.7 → 10.0.0.9 ICMP 98 Echo (ping) request  id=0x00ff, seq=1/256, ttl=64
    4 6.2   fd00::7 → fd00::9 TCP 94 [TCP Retransmission] 4000 → http [SYN] Seq=0 Win=64800 Len=0
4 packets captured
"""


def packets_of(text: str) -> list[str]:
    """Return the packets of a text as probes spell them."""
    reading = recognition.read(block(text, "tshark -i eth0"))
    assert reading is not None
    assert all(gap.kind is GapKind.SELECTED for gap in reading.gaps)
    return [str(one.packet) for one in reading.of(PacketRecord)]


def test_wireshark_s_list() -> None:
    """The rows with ports are packets with their flags; what TLS says is kept."""
    assert [
        "tcp 3.2.253.177:52541 > 172.30.31.151:443 [SYN]",
        "tcp 172.30.31.151:443 > 3.2.253.177:52541 [SYN,ACK]",
        "tcp 3.2.253.177:52541 > 172.30.31.151:443 [RST]",
    ] == packets_of(LIST)


def test_lines_of_tshark() -> None:
    """Arrows, retransmissions, echoes and names of ports are read; the command names the device."""
    assert [
        "udp 10.244.0.7:51234 > 10.96.0.10:53",
        "icmp 10.244.0.7 > 10.0.0.9 type 8 code 0",
        "tcp [fd00::7]:4000 > [fd00::9]:80 [SYN]",
    ] == packets_of(LINES)
    first = read_tshark(block(LINES, "tshark -i eth0")).of(PacketRecord)[0]
    assert ("eth0", 5.005) == (first.link, first.time)
    assert first.packet is not None
    assert (50, protocols.UDP) == (first.packet.payload, first.packet.protocol)


@pytest.mark.parametrize(
    "row",
    [
        "1 0.0 10.18x.1.2 → 10.0.0.9 TCP 66 4000 → 80 [SYN] Seq=0",
        "1 0.0 web → 10.0.0.9 TCP 66 4000 → 80 [SYN] Seq=0",
        "1 0.0 10.0.0.7 → fd00::9 TCP 66 4000 → 80 [SYN] Seq=0",
    ],
)
def test_an_end_that_is_no_address_is_a_gap(row: str) -> None:
    """A masked end, a name and ends of two families make no packet, and are not lost."""
    source = block(f"{LIST.strip()}\n{row}\n")
    reading = read_tshark(source)
    assert [row] == [gap.span.text for gap in reading.gaps if gap.kind is not GapKind.SELECTED]
    assert [] == uncovered(source, reading)


def test_a_port_that_is_none_makes_no_packet() -> None:
    """A number that is no port, and a name that is not well known, are kept as a row."""
    rows = (
        "1 0.0 10.0.0.7 → 10.0.0.9 TCP 66 4000 → 70000 [SYN] Seq=0\n"
        "2 0.1 10.0.0.7 → 10.0.0.9 TCP 66 4000 → nobodyknows [SYN] Seq=0\n"
    )
    reading = read_tshark(block(rows))
    assert [] == reading.of(PacketRecord)
    assert () == reading.gaps


def test_packets_that_a_display_filter_left_out_are_told() -> None:
    """The first row behind some of them says which; none is missed where a listing begins anew."""
    (gap,) = read_tshark(block(LIST)).gaps
    rows = LIST.strip().splitlines()
    anew = block("\n".join([*rows[:2], rows[0], rows[3]]))

    assert (GapKind.SELECTED, "packet 372 of the capture is not shown") == (gap.kind, gap.why)
    assert gap.span.text.startswith("373 ")
    assert () == read_tshark(anew).gaps
    assert () == read_tshark(block(LINES)).gaps
