"""What tcpdump prints of IP behind MPLS's labels, in ERSPAN, and where there are no MACs."""

from __future__ import annotations

import pytest

from podpath.evidence.records import PacketRecord
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import Source

HEADER = "(tos 0x0, ttl 63, id 7, offset 0, flags [DF], proto ICMP (1), length 84)"
ECHO = "10.1.0.10 > 10.3.0.10: ICMP echo request, id 4, seq 1, length 64"
MACS = "02:00:00:00:00:01 > 02:00:00:00:00:02"
LABEL = "MPLS (label 21, tc 0, [S], ttl 63)"
OUTER = (
    "    192.0.2.1 > 192.0.2.2: GREv0, Flags [none], length 106",
    "\terspan type1: IP (tos 0x0, ttl 63, id 7, offset 0, flags [DF], proto ICMP (1), length 84)",
)


def ends(*lines: str) -> list[tuple[str, str, int, str]]:
    """Return source, target, protocol and tunnel of each packet that is read."""
    source = Source(name="printed", lines=lines, command="tcpdump -n")
    reading = read_tcpdump(source)
    assert reading.gaps == ()
    return [
        (str(each.packet.src), str(each.packet.dst), each.packet.protocol, each.tunnel)
        for each in reading.records
        if isinstance(each, PacketRecord) and each.packet is not None
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (f"10:00:00.1 MPLS (label 21, tc 0, [S], ttl 63) IP {ECHO}",),
        (f"10:00:00.1 MPLS (label 21, tc 0, ttl 63) (label 9, tc 0, [S], ttl 63) IP {ECHO}",),
        ("10:00:00.1 MPLS (label 21, tc 0, [S], ttl 63)", f"\tIP {HEADER}", f"    {ECHO}"),
        (
            f"10:00:00.1 {MACS}, ethertype MPLS unicast (0x8847), length 130: {LABEL}",
            f"\t{HEADER}",
            f"    {ECHO}",
        ),
        (f"10:00:00.1 version 0, resource ID 20, family IPv4 (2), length 92: {ECHO}",),
        (f"10:00:00.1 IP (0x0021), length 88: {HEADER}", f"    {ECHO}"),
    ],
)
def test_packet_behind_what_is_no_ethernet_is_read(lines: tuple[str, ...]) -> None:
    """One label, two, on a line of its own, with an Ethernet header; NFLOG and PPP."""
    assert ends(*lines) == [("10.1.0.10", "10.3.0.10", 1, "")]


def test_label_before_no_ip_is_no_ip_packet() -> None:
    """What is cut behind the label, or is no IP, has no ends."""
    assert ends("10:00:00.1 MPLS (label 21, tc 0, [S], ttl 63)") == []


@pytest.mark.parametrize(
    "inner",
    [f"erspan type1: IP {ECHO}", f"erspan type2 session 9 cos 0 index 3: IP {ECHO}", f"IP {ECHO}"],
)
def test_frame_that_erspan_mirrors_is_read_in_its_tunnel(inner: str) -> None:
    """It stands on the line of the outer packet, as in plain GRE; also with its MACs."""
    outer = ("192.0.2.1", "192.0.2.2", 47, "")
    carried = ("10.1.0.10", "10.3.0.10", 1, "GRE")
    line = "10:00:00.1 IP 192.0.2.1 > 192.0.2.2: GREv0, length 106: "
    framed = inner.replace("IP 10", f"{MACS}, ethertype IPv4 (0x0800), length 98: 10")

    assert ends(line + inner) == [outer, carried]
    assert ends(line + framed) == [outer, carried]


def test_mirrored_frame_stands_on_lines_of_its_own_with_v() -> None:
    """The frame's header and its packet follow the outer packet's two lines."""
    first = (
        "10:00:00.1 IP (tos 0x0, ttl 32, id 0, offset 0, flags [none], proto GRE (47), length 126)"
    )
    assert ends(first, *OUTER, f"    {ECHO}") == [
        ("192.0.2.1", "192.0.2.2", 47, ""),
        ("10.1.0.10", "10.3.0.10", 1, "GRE"),
    ]
