"""tcpdump's text: each shape of a line that it prints, and what people make of it."""

from __future__ import annotations

import os
import pathlib

import pytest

from podpath.evidence.records import ArpRecord, HeadingRecord, PacketRecord
from podpath.evidence.tcpdump.output import read_tcpdump, recognise_tcpdump
from podpath.evidence.tcpdump.point import parse_point
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import GapKind, Source
from tests.evidence.consoles import FOLDER, block, load_console, uncovered

ORACLE = pathlib.Path(__file__).parents[3] / "shared" / "captures" / "tcpdump-tests"


def _packets(text: str, command: str | None = None) -> list[PacketRecord]:
    reading = read_tcpdump(block(text, command))
    assert [] == list(reading.gaps)
    return [record for record in reading.records if isinstance(record, PacketRecord)]


def _one(line: str, command: str | None = None) -> PacketRecord:
    (record,) = _packets(line, command)
    return record


def _packet(line: str) -> Packet:
    packet = _one(line).packet
    assert packet is not None
    return packet


TIMES = [
    ("22:13:20.124456 IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 80000.124456),
    ("IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", None),
    ("1700000000.124456 IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 1700000000.124456),
    ("    1   00:00:00.001000 IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 0.001),
    ("2023-11-14 22:13:20.124456 IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 1700000000.124456),
    ("22:13:20.124456929 IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 80000.124456929),
    ("22:13:20.xxxxxx IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", 80000.0),
]


@pytest.mark.parametrize(("line", "time"), TIMES)
def test_times(line: str, time: float | None) -> None:
    """All of tcpdump's time formats are read, also with elided digits."""
    record = _one(line)
    assert record.packet is not None
    assert time == (None if record.time is None else pytest.approx(record.time))


def test_a_syn() -> None:
    """A handshake's first packet keeps its absolute number, and the segment size that it offers."""
    record = _one(
        "22:13:20.1 veth1 In  IP 10.4.1.10.38378 > 10.9.0.100.80: Flags [S], seq 1967064836, win "
        "64860, options [mss 1410,sackOK,TS val 1116305199 ecr 0,nop,wscale 10], length 0"
    )
    assert record.packet == Packet(
        Address.parse("10.4.1.10"),
        Address.parse("10.9.0.100"),
        protocols.TCP,
        38378,
        80,
        protocols.SYN,
        seq=1967064836,
        mss=1410,
    )
    assert ("veth1", "in", False) == (record.link, record.direction, record.relative)


FLAGS = [
    ("[.], ack 1, win 8, length 0", protocols.ACK, 0, 1, 0),
    (
        "[P.], seq 1:19, ack 1, win 8, length 18: HTTP: GET / HTTP/1.1",
        protocols.PSH | protocols.ACK, 1, 1, 18,
    ),
    ("[R], seq 172474307, win 0, length 0", protocols.RST, 172474307, 0, 0),
    ("[R.], seq 1, ack 19, win 0", protocols.RST | protocols.ACK, 1, 19, 0),
    (
        "[FPU], seq 1, win 8, urg 3, length 0", protocols.FIN | protocols.PSH | protocols.URG, 1, 0,
        0,
    ),
    ("[SEW], seq 7, win 8, length 0", protocols.SYN | protocols.ECE | protocols.CWR, 7, 0, 0),
    ("[none], seq 1, win 8, length 0", 0, 1, 0, 0),
    ("[S.], cksum 0x16f0 (incorrect -> 0xa254), seq 5, ack 6, win 8, options [mss 1460], length 0",
     protocols.SYN | protocols.ACK, 5, 6, 0),
]  # fmt: skip


@pytest.mark.parametrize(("text", "flags", "seq", "ack", "payload"), FLAGS)
def test_tcp(text: str, flags: int, seq: int, ack: int, payload: int) -> None:
    """Flags, numbers and length are read; a checksum that offload left open is no damage."""
    packet = _packet(f"22:13:20.1 IP 10.0.0.1.1000 > 10.0.0.2.http: Flags {text}")
    assert (flags, seq, ack, payload, 80) == (
        packet.flags,
        packet.seq,
        packet.ack,
        packet.payload,
        packet.dport,
    )
    assert not packet.bad_checksum


def test_what_applications_say_is_a_note() -> None:
    """The tail behind the length is kept."""
    line = (
        "22:13:20.1 IP 10.0.0.1.1000 > 10.0.0.2.80: Flags [P.], seq 1:19, ack 1, win 8, length 18: "
        "HTTP: GET / HTTP/1.1"
    )
    assert "HTTP: GET / HTTP/1.1" == _one(line).note


ICMP = [
    ("ICMP echo request, id 7, seq 1, length 64", 8, 0, None),
    ("ICMP echo reply, id 7, seq 1, length 64", 0, 0, None),
    ("ICMP 10.9.9.9 tcp port 2222 unreachable, length 68", 3, 3, (protocols.TCP, 2222)),
    ("ICMP host 10.9.9.9 unreachable, length 92", 3, 1, (0, 0)),
    ("ICMP net 10.9.9.9 unreachable, length 92", 3, 0, (0, 0)),
    ("ICMP 10.9.9.9 unreachable - need to frag (mtu 1400), length 36", 3, 4, (0, 0)),
    ("ICMP host 10.9.9.9 unreachable - admin prohibited filter, length 36", 3, 13, (0, 0)),
    ("ICMP host 10.9.9.9 unreachable - admin prohibited, length 36", 3, 10, (0, 0)),
    ("ICMP time exceeded in-transit, length 36", 11, 0, None),
    ("ICMP redirect 10.9.9.9 to host 10.0.0.3, length 36", 5, 1, (0, 0)),
]


@pytest.mark.parametrize(("text", "kind", "code", "quoted"), ICMP)
def test_icmp(text: str, kind: int, code: int, quoted: tuple[int, int] | None) -> None:
    """Types and codes follow from the words; an error names whose packet it is about."""
    packet = _packet(f"22:13:20.1 IP 10.0.0.1 > 10.0.0.2: {text}")
    assert (protocols.ICMP, kind, code) == (packet.protocol, packet.icmp_type, packet.icmp_code)
    assert quoted == (
        None if packet.quoted is None else (packet.quoted.protocol, packet.quoted.dport)
    )
    if packet.quoted is not None:
        assert (packet.dst, Address.parse("10.9.9.9")) == (packet.quoted.src, packet.quoted.dst)


ICMP6 = [
    ("destination unreachable, unreachable route fd00::9, length 68", 1, 0, (0, 0)),
    ("destination unreachable,  unreachable prohibited fd00::9, length 68", 1, 1, (0, 0)),
    (
        "destination unreachable, beyond scope fd00::9, source address fd00::2, length 68",
        1,
        2,
        (0, 0),
    ),
    ("destination unreachable, unreachable address fd00::9, length 68", 1, 3, (0, 0)),
    (
        "destination unreachable, unreachable port, fd00::9 tcp port 80, length 68",
        1,
        4,
        (protocols.TCP, 80),
    ),
    (
        (
            "destination unreachable, unreachable port, fd00::9 protocol 132 port 80 unreachable, "
            "length 68"
        ),
        1,
        4,
        (132, 80),
    ),
    ("destination unreachable, unreachable port [|icmp6]", 1, 0, None),
    ("packet too big, mtu 1280, length 68", 2, 0, None),
    ("time exceeded in-transit for fd00::9, length 56", 3, 0, (0, 0)),
    ("time exceeded in-transit (reassembly), length 56", 3, 0, None),
]


@pytest.mark.parametrize(("text", "kind", "code", "quoted"), ICMP6)
def test_icmp6_errors(text: str, kind: int, code: int, quoted: tuple[int, int] | None) -> None:
    """Types and codes follow from the words of tcpdump 4.99; an error names whose packet it is
    about.
    """
    packet = _packet(f"22:13:20.1 IP6 fd00::1 > fd00::2: ICMP6, {text}")
    assert (protocols.ICMPV6, kind, code) == (packet.protocol, packet.icmp_type, packet.icmp_code)
    assert quoted == (
        None if packet.quoted is None else (packet.quoted.protocol, packet.quoted.dport)
    )
    if packet.quoted is not None:
        assert (packet.dst, Address.parse("fd00::9")) == (packet.quoted.src, packet.quoted.dst)


ARPS = [
    (
        "22:13:20.1 ARP, Request who-has 10.0.0.3 tell 10.0.0.2, length 28", "request", "10.0.0.2",
        "10.0.0.3", None,
    ),
    (("22:13:20.1 ARP, Ethernet (len 6), IPv4 (len 4), Reply 10.0.0.3 is-at 02:00:00:00:00:03, "
     "length 28"), "reply", "10.0.0.3",
     None, "02:00:00:00:00:03"),
    (("22:13:20.1 A_MAC > Broadcast,     ethertype ARP (0x0806), Request who-has 169.254.1.1 tell "
     "10.0.0.2"), "request", "10.0.0.2",
     "169.254.1.1", None),
    (
        "22:13:20.1 PEER > HOST,   ethertype ARP (0x0806), Reply 10.0.0.3 is-at <PEER MAC>",
        "reply", "10.0.0.3", None, "<PEER MAC>",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("line", "operation", "sender", "target", "mac"), ARPS)
def test_arp(line: str, operation: str, sender: str, target: str | None, mac: str | None) -> None:
    """Requests and replies are read, with `-e`, with `-v`, and with words in place of MACs."""
    expected = ArpRecord(
        operation, Address.parse(sender), Address.parse(target) if target else None, mac, None
    )
    assert expected == _one(line).arp


def test_words_in_place_of_macs() -> None:
    """Articles replace MACs by words: they are kept as printed, and the packet has none."""
    record = _one(
        "15:38:52.86 HOST_MAC > PEER_MAC,           ethertype IPv4 (0x0800), 10.6.1.6 > 10.6.1.4"
    )
    assert ("HOST_MAC", "PEER_MAC") == (record.smac, record.dmac)
    assert record.packet is not None
    assert (None, 0) == (record.packet.smac, record.packet.protocol)


def test_verbose_lines_belong_together() -> None:
    """The second line of `-v` is the packet's; headings, notes and trailers are headings; the
    device is that listened on.
    """
    reading = read_tcpdump(load_console(FOLDER / "captures" / "tcpdump-ethernet-verbose.txt"))
    packets = [record for record in reading.records if isinstance(record, PacketRecord)]
    assert [(3, 4), (5, 6), (8, 9)] == [
        (record.span.line, record.span.last_line) for record in packets
    ]
    assert packets[0].packet is not None
    assert (64, 84, True, "26:e1:bb:0f:5c:b3") == (
        packets[0].packet.ttl, packets[0].packet.length, packets[0].packet.dont_fragment,
        packets[0].packet.smac,
    )  # fmt: skip
    assert ["veth0"] * 3 == [record.link for record in packets]
    assert 5 == sum(isinstance(record, HeadingRecord) for record in reading.records)


def test_tunnels_show_two_packets() -> None:
    """What a tunnel carries stands on the next line, or on the same; VXLAN on port 8472 prints as
    OTV.
    """
    text = """\
22:13:20.1 IP 172.18.0.2.5 > 172.18.0.3.8472: OTV, flags [I] (0x08), overlay 0, instance 1
IP 10.4.1.10.38378 > 10.4.2.10.80: Flags [S], seq 1, win 8, length 0
22:13:20.2 IP 172.18.0.2 > 172.18.0.3: IP 10.4.1.10 > 10.4.2.10: ICMP echo request, id 7, seq 1, length 64
22:13:20.3 IP 10.4.1.10.38378 > 10.4.2.10.80: Flags [.], ack 1, win 8, length 0"""  # noqa: E501
    shown = [(str(record.packet), record.note.partition(":")[0]) for record in _packets(text)]
    assert [
        ("udp 172.18.0.2:5 > 172.18.0.3:8472", "OTV, flags [I] (0x08), overlay 0, instance 1"),
        ("tcp 10.4.1.10:38378 > 10.4.2.10:80 [SYN]", "inside VXLAN vni 1"),
        ("ipencap 172.18.0.2 > 172.18.0.3", "IP 10.4.1.10 > 10.4.2.10"),
        ("icmp 10.4.1.10 > 10.4.2.10 type 8 code 0", "inside IPIP"),
        ("tcp 10.4.1.10:38378 > 10.4.2.10:80 [ACK]", ""),
    ] == shown


def test_a_quoted_packet_belongs_to_its_error() -> None:
    """With `-v` an ICMP error prints the packet it is about below itself."""
    text = """\
22:13:20.1 IP (tos 0xc0, ttl 64, id 1, offset 0, flags [none], proto ICMP (1), length 88)
    10.0.0.1 > 10.0.0.2: ICMP host 10.9.9.9 unreachable, length 68
\tIP (tos 0x0, ttl 63, id 60074, offset 0, flags [DF], proto TCP (6), length 60)
    10.0.0.2.999 > 10.9.9.9.80: Flags [S], seq 5, win 8, length 0"""
    packet = _one(text).packet
    assert packet is not None
    assert "tcp 10.0.0.2:999 > 10.9.9.9:80 [SYN]" == str(packet.quoted)


_COOKED = "eth0  Out ifindex 2 96:d1:ab:c7:1b:4b ethertype IPv6 (0x86dd), length 76: "
_TAGGED = (
    "a2:00:00:00:00:01 > a2:00:00:00:00:02, ethertype 802.1Q (0x8100), length 58: vlan 100, p 3, "
    "ethertype IPv4 (0x0800), "
)
_CUT = "IP truncated-ip - 24 bytes missing! "
OTHERS = [
    (
        _COOKED + "fd00::1.1000 > fd00::2.443: Flags [S], seq 1, length 0",
        "tcp [fd00::1]:1000 > [fd00::2]:443 [SYN]",
    ),
    (
        _TAGGED + "10.0.0.1.5 > 10.0.0.2.53: 4660+ A? a.example. (47)",
        "udp 10.0.0.1:5 > 10.0.0.2:53",
    ),
    (("IP6 (hlim 63, next-header TCP (6) payload length: 24) fd00::1.1000 > fd00::2.443: Flags "
      "[.], ack 1, length 0"),
     "tcp [fd00::1]:1000 > [fd00::2]:443 [ACK]"),
    ("IP6 fe80::1 > ff02::1:ff00:2: ICMP6, neighbor solicitation, who has fe80::2, length 32",
     "ipv6-icmp fe80::1 > ff02::1:ff00:2 type 135 code 0"),
    ("IP 10.0.0.1.1000 > 10.0.0.2.80: tcp 0", "tcp 10.0.0.1:1000 > 10.0.0.2:80 [NONE]"),
    (
        "IP 10.0.0.1.1000 > 10.0.0.2.80: S 1234:1234(0) win 5840 <mss 1460>",
        "tcp 10.0.0.1:1000 > 10.0.0.2:80 [SYN]",
    ),
    (
        _CUT + "10.0.0.1.1000 > 10.0.0.2.80: Flags [S], seq 1, win 5, length 0",
        "tcp 10.0.0.1:1000 > 10.0.0.2:80 [SYN]",
    ),
    ("IP 10.0.0.1 > 10.0.0.2: ip-proto-17", "udp 10.0.0.1:0 > 10.0.0.2:0"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "spelled"), OTHERS)
def test_other_shapes(body: str, spelled: str) -> None:
    """Cooked captures, VLAN tags, IPv6, quiet and old output, truncated packets and fragments are
    read.
    """
    assert spelled == str(_packet(f"22:13:20.1 {body}"))


def test_packets_cut_to_the_essential() -> None:
    """Lines without time and protocol, as people shorten them, are packets."""
    text = "10.4.1.2.3853 > 10.3.5.9.7800: Flags [S]\n10.4.1.9.7800 > 10.4.1.2.3853: Flags [S.]"
    assert ["SYN", "SYN,ACK"] == [
        protocols.flag_names(one.packet.flags) for one in _packets(text) if one.packet is not None
    ]


def test_elided_addresses_are_gaps() -> None:
    """A packet of which the address is not there is a gap, and so is the place where packets were
    left out; the next one is read.
    """
    text = (
        "22:13:20.1 IP 10.0.x.x.5 > 10.0.0.2.80: Flags [S]\n...\n"
        "22:13:20.1 IP 10.0.0.1 > 10.0.0.2: ESP"
    )
    reading = read_tcpdump(block(text))
    assert [(1, GapKind.UNREAD), (2, GapKind.CUT)] == [
        (gap.span.line, gap.kind) for gap in reading.gaps
    ]
    assert 1 == sum(isinstance(record, PacketRecord) for record in reading.records)
    assert [True] == [
        record.partial for record in reading.records if isinstance(record, HeadingRecord)
    ]


POINTS = [
    ("tcpdump -nn -i cni0", "cni0"), ("tcpdump -nnvi eth0 arp", "eth0"), ("tcpdump -i any", None),
    ("tcpdump -e -r eth0.pcap", "eth0"),
    ("tcpdump -r capture1.pcap", None), ("tcpdump --interface=br0", "br0"), (None, None),
]  # fmt: skip


@pytest.mark.parametrize(("command", "link"), POINTS)
def test_where_a_capture_was_taken(command: str | None, link: str | None) -> None:
    """The command says the device, and the name of a file hints at it."""
    assert link == parse_point(command).link


def test_prose_is_no_capture() -> None:
    """A sentence about packets is not recognised."""
    assert not recognise_tcpdump(
        block("Then the packet goes to 10.0.0.1 > and is lost there: we do not know why.")
    )


@pytest.mark.skipif(
    not ORACLE.is_dir(), reason="needs the texts of the tcpdump project's own tests"
)
def test_all_that_tcpdump_prints_is_accounted_for() -> None:
    """Of every text that tcpdump's own tests expect, each line is read or kept, and IP packets are
    read.
    """
    read = unread = 0
    for path in sorted(ORACLE.glob("*.out")):
        source = Source(name=path.name, lines=tuple(path.read_text("utf-8", "replace").split("\n")))
        reading = read_tcpdump(source)
        assert [] == uncovered(source, reading), os.fspath(path)
        read += sum(
            isinstance(record, PacketRecord) and record.packet is not None
            for record in reading.records
        )
        unread += sum(" IP " in gap.span.text and " > " in gap.span.text for gap in reading.gaps)
    assert unread < 0.01 * read


BEHIND_HEADERS = [
    ("    1  IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", (17, 5, 6, 0, 1)),
    ("22:13:20.1000000 (invalid us) IP 10.0.0.1.5 > 10.0.0.2.6: UDP, length 1", (17, 5, 6, 0, 1)),
    (
        "22:13:20.1 IP6 fd00::1 > ff02::16: HBH ICMP6, multicast listener report v2, length 48",
        (58, 0, 0, 143, 48),
    ),
    (("22:13:20.1 IP6 (hlim 1, next-header HBH (0), payload length 36) fe80::1 > ff02::16: HBH "
      "(rtalert: 0x0000) (padn) [icmp6 sum ok] ICMP6, multicast listener query v2 [max resp "
      "delay=10000], length 28"), (58, 0, 0, 130, 28)),
    (("22:13:20.1 IP6 fd00::1 > fd00::2: RT6 (len=2, type=0 [Deprecated], segleft=1, rsv=0x0, "
      "[0]fd00::3) 5645 > 5642: [udp sum ok] UDP, length 0"), (17, 5645, 5642, 0, 0)),
    (("22:13:20.1 IP6 fd00::1 > fd00::2: HBH (jumbo: 80040)  41851 > 43913: Flags [P.], seq "
     "1:80001, ack 1, win 5, length 80000"),
     (6, 41851, 43913, 0, 80000)),
    ("22:13:20.1 IP6 fd00::1 > fd00::2: frag (1448|552)", (0, 0, 0, 0, 0)),
    (
        "22:13:20.1 IP 10.0.0.1 > 10.0.0.2: ICMP extended echo request, id 42, seq 1, length 28",
        (1, 42, 42, 42, 28),
    ),
    (("22:13:20.1 IP 10.0.0.1 > 10.0.0.2: ICMP time stamp reply id 1 seq 0: org 1, recv 2, xmit 3, "
     "length 20"), (1, 0, 0, 14, 20)),
    ("22:13:20.1 IP 10.0.0.1 > 10.0.0.2: ICMP type-#49, length 3", (1, 0, 0, 49, 3)),
    (("22:13:20.1 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 98) "
     "10.0.0.1.5 > 10.0.0.2.6: NTPv4, Client"), (17, 5, 6, 0, 70)),
    (("22:13:20.1 IP [total length 62 > length 50] (invalid) 10.0.0.1.5 > 10.0.0.2.6: Flags [P.], "
     "seq 5:15"), (6, 5, 6, 0, 10)),
    (("22:13:20.1 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 80052 "
      "[was 0, presumed BIG TCP]) 10.0.0.1.5 > 10.0.0.2.6: Flags [.], seq 1:80001, ack 1, win 5, "
      "length 80000"), (6, 5, 6, 0, 80000)),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), BEHIND_HEADERS)
def test_what_stands_behind_other_headers(line: str, expected: tuple[int, ...]) -> None:
    """Protocol, ports, type and length are read behind remarks, extension headers and headers that
    contradict themselves.
    """
    packet = _packet(line)

    assert expected == (
        packet.protocol,
        packet.sport,
        packet.dport,
        packet.icmp_type,
        packet.payload,
    )


def test_inner_packet_of_geneve_below_its_header() -> None:
    """With -v the packet in a tunnel is on the lines below: its header after a tab, its ends on the
    next line.
    """
    packets = _packets(
        "22:13:20.1 IP6 (hlim 61, next-header UDP (17), payload length 6972) fd00::b.22155 > "
        "fd00::d.6081: [no cksum] Geneve, Flags [none], vni 0x1389\n"
        "\tIP (tos 0x0, ttl 64, id 51474, offset 0, flags [DF], proto TCP (6), length 6942)\n"
        "    192.168.1.2.36991 > 192.168.1.1.41507: Flags [P.], seq 1:6891, ack 9, win 169, length "
        "6890"
    )

    assert ["udp", "tcp"] == [
        protocols.protocol_name(each.packet.protocol) for each in packets if each.packet is not None
    ]
    assert (6890, "inside Geneve vni 5001") == (
        packets[1].packet and packets[1].packet.payload,
        packets[1].note,
    )


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("Ethernet (len 6), IPv4 (len 4), Unknown (37)", "operation 37"),
        (
            (
                "Unknown Hardware (3) (len 6), IPv4 (len 4), Request who-has 10.0.0.1 tell "
                "10.0.0.2, length 46"
            ),
            "request",
        ),
        (
            "Reverse Request who-is 00:00:00:00:00:01 tell 00:00:00:00:00:02, length 46",
            "operation 3",
        ),
    ],
)
def test_other_arp(text: str, operation: str) -> None:
    """ARP of other operations and hardware is told from requests and replies."""
    record = _one(f"22:13:20.1 ARP, {text}")

    assert operation == (record.arp and record.arp.operation)


def test_device_without_a_name_is_its_index() -> None:
    """Read on another host, a capture on any shows devices by their index alone; without `-e` not
    even that.
    """
    text = (
        (
            "03:04:06.268591 ?     In  ifindex 2 02:00:00:00:01:00 ethertype IPv4 (0x0800), length "
            "80: 10.1.0.2.3 > 10.1.0.3.4: UDP, length 5"
        ),  # as tcpdump prints it
        "03:04:06.268630 ?     Out IP 10.1.0.2.3 > 10.1.0.3.4: UDP, length 5",
    )
    reading = read_tcpdump(
        Source(name="capture.txt", lines=text, command="tcpdump -nn -e -r any.pcap")
    )

    assert [("ifindex 2", "in"), (None, "out")] == [
        (record.link, record.direction)
        for record in reading.records
        if isinstance(record, PacketRecord)
    ]


def test_checksums_and_sizes_of_errors_are_kept() -> None:
    """What the printer calls wrong, and the size that an ICMP error names, are kept with the
    packet.
    """
    text = (
        "03:04:06.1 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 40)",
        (
            "    10.1.0.2.3 > 10.1.0.3.4: Flags [.], cksum 0x1e47 (incorrect -> 0x3e31), ack 1, "
            "win 5, length 0"
        ),
        (
            "03:04:07.1 IP 10.9.9.9 > 10.1.0.2: ICMP 10.1.0.3 unreachable - need to frag (mtu "
            "1400), length 36"
        ),
    )
    reading = read_tcpdump(Source(name="capture.txt", lines=text, command="tcpdump -vnn"))

    assert [(True, 0), (False, 1400)] == [
        (record.wrong_sum, record.mtu)
        for record in reading.records
        if isinstance(record, PacketRecord)
    ]
