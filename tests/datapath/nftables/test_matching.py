"""Rules of nftables on one packet: what each condition matches, what each statement changes, and
how a packet is rejected.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.tracing.drawn_port import DrawnPort, PortQuestions
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.vocabulary import PacketType
from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.addresses import Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from tests.datapath.given import Given, Sender, echo, given, tcp, udp
from tests.nftables import native_tables

HEAD = (
    "table inet t {\n\tchain c {\n\t\ttype filter hook forward priority 0; policy accept;\n\t\t%s\n"
    "\t}\n}\n"
)
WEB = tcp(dport=80)._replace(
    length=60, ttl=63, tos=0x1C | 2, smac=Mac("02:00:00:00:00:01"), dmac=Mac("02:00:00:00:00:02")
)
SIX = tcp("fd00::5", "2001:db8::7")._replace(length=80, ttl=62, tos=0x20)
PING, PING6 = echo(), echo("fd00::5", "2001:db8::7")._replace(
    protocol=protocols.ICMPV6, icmp_type=128, icmp_code=0
)  # fmt: skip
FRAGMENT = WEB._replace(fragment=True)


def host(rule: str, more: str = "") -> Given:
    """Return a host with one native rule."""
    tables = native_tables((HEAD % rule).replace("chain c", f"{more}\n\tchain c"))
    made = given()
    netns = replace(made.netns, nftables=Listing(items=tables, complete=True, ask=""))
    return Given(node=replace(made.node, namespaces={"host": netns}))


def sent(rule: str, packet: Packet, more: str = "") -> list[tuple[str, Skb]]:
    """Return the verdict and the packet of each branch."""

    def run(choices: Choices) -> tuple[str, Skb]:
        sender = Sender(host(rule, more), choices)
        skb = sender.skb(packet, iif="cni0", mark=0x30)
        sender.send(skb, "PREROUTING")
        skb.oif = sender.skb(packet, oif="eth0").oif
        return type(sender.send(skb, "FORWARD")).__name__, skb

    return list(explore(run, deviations=4).results)


def drops(condition: str, packet: Packet, more: str = "") -> bool | None:
    """Tell whether a packet matches; None where that depends."""
    found = {verdict == "Drop" for verdict, _ in sent(f"{condition} drop", packet, more)}
    return found.pop() if len(found) == 1 else None


MATCHES: list[tuple[str, Packet, bool | None]] = [
    # headers
    ("ip saddr 10.244.0.5", WEB, True), ("ip saddr 10.244.0.6", WEB, False),
    ("ip saddr 10.244.0.0/16", WEB, True),
    ("ip daddr 198.51.100.7", WEB, True), ("ip daddr 198.51.100.7", SIX, False),
    ("ip protocol tcp", WEB, True),
    ("ip protocol udp", WEB, False), ("ip ttl 63", WEB, True), ("ip ttl 64", WEB, False),
    ("ip length 60", WEB, True),
    ("ip length > 60", WEB, False), ("ip length >= 60", WEB, True), ("ip length < 60", WEB, False),
    ("ip length <= 60", WEB, True),
    ("ip dscp 7", WEB, True), ("ip dscp 8", WEB, False), ("ip ecn 2", WEB, True),
    ("ip ecn 1", WEB, False), ("ip version 4", WEB, True),
    ("ip6 saddr fd00::5", SIX, True), ("ip6 daddr 2001:db8::7", SIX, True),
    ("ip6 saddr fd00::5", WEB, False),
    ("ip6 hoplimit 62", SIX, True), ("ip6 nexthdr tcp", SIX, True), ("ip6 length 40", SIX, True),
    ("ip6 length 80", SIX, False),
    ("ip6 dscp 8", SIX, True), ("ip6 ecn 0", SIX, True), ("ip6 version 6", SIX, True),
    # transport
    ("tcp dport 80", WEB, True), ("tcp dport 80-90", WEB, True), ("tcp dport 81-90", WEB, False),
    ("tcp sport 40000", WEB, True),
    ("tcp dport != 80", WEB, False), ("udp dport 80", WEB, False), ("udp dport 53", udp(), True),
    ("udp sport 40000", udp(), True),
    ("tcp dport 80", FRAGMENT, False), ("th dport 80", WEB, True), ("th dport 53", udp(), True),
    ("th sport 2048", PING, True),
    ("th dport 7", PING, None), ("th dport 80", FRAGMENT, False),
    ("tcp flags syn", WEB, True), ("tcp flags ack", WEB, False),
    ("tcp flags & (syn|ack) == syn", WEB, True),
    ("tcp flags & (syn|ack) == syn|ack", WEB, False), ("tcp flags & (fin|rst) != 0", WEB, False),
    ("icmp type echo-request", PING, True), ("icmp type echo-reply", PING, False),
    ("icmp id 7", PING, True), ("icmp code 0", PING, True),
    ("icmp type echo-request", WEB, False), ("icmpv6 type echo-request", PING6, True),
    ("icmpv6 code 0", PING6, True),
    ("icmpv6 id 7", PING6, True), ("icmpv6 type echo-reply", PING6, False),
    # the frame and the devices
    ("ether type ip", WEB, True), ("ether type ip6", SIX, True), ("ether type ip6", WEB, False),
    ("ether saddr 02:00:00:00:00:01", WEB, True), ("ether daddr 02:00:00:00:00:02", WEB, True),
    ("ether saddr 02:00:00:00:00:02", WEB, False), ("ether saddr 02:00:00:00:00:01", udp(), False),
    ("iifname cni0", WEB, True), ("oifname eth0", WEB, True), ("iifname eth0", WEB, False),
    ('iifname "cni*"', WEB, True),
    ("iifname { eth0, cni0 }", WEB, True), ("oifname != eth0", WEB, False),
    # meta data
    ("meta mark 0x30", WEB, True), ("meta mark 0x31", WEB, False),
    ("meta mark & 0x10 == 0x10", WEB, True),
    ("meta mark and 0xf0 == 0x30", WEB, True), ("meta mark or 0x1 == 0x31", WEB, True),
    ("meta mark xor 0x30 == 0", WEB, True),
    ("meta mark >> 4 == 3", WEB, True), ("meta mark << 1 == 0x60", WEB, True),
    ("meta l4proto tcp", WEB, True), ("meta l4proto { icmp, udp }", WEB, False),
    ("meta nfproto ipv4", WEB, True),
    ("meta nfproto ipv6", WEB, False), ("meta nfproto ipv6", SIX, True),
    ("meta protocol ip", WEB, True), ("meta protocol ip6", SIX, True),
    ("meta length 60", WEB, True), ("meta pkttype host", WEB, True),
    ("meta pkttype broadcast", WEB, False),
    ("meta skuid 0", WEB, False), ("meta skgid 0", WEB, False),
    # conntrack
    ("ct state new", WEB, True), ("ct state established,related", WEB, False),
    ("ct state new,established", WEB, True),
    ("ct direction original", WEB, True), ("ct direction reply", WEB, False),
    ("ct mark 0", WEB, True), ("ct mark 1", WEB, False),
    ("ct status snat", WEB, False), ("ct protocol tcp", WEB, True), ("ct l3proto ipv4", WEB, True),
    ("ct zone 0", WEB, True),
    ("ct original ip saddr 10.244.0.5", WEB, True), ("ct reply ip saddr 198.51.100.7", WEB, True),
    ("ct original proto-dst 80", WEB, True), ("ct reply proto-src 80", WEB, True),
    ("ct original proto-dst 81", WEB, False),
    # sets and concatenations
    ("tcp dport { 80, 443 }", WEB, True), ("tcp dport != { 80, 443 }", WEB, False),
    ("tcp dport { 443, 1000-2000 }", WEB, False),
    ("ip saddr . tcp dport { 10.244.0.5 . 80 }", WEB, True),
    ("ip saddr . tcp dport { 10.244.0.5 . 81 }", WEB, False),
    ("ip saddr . tcp dport { 10.244.0.5 . 80 }", udp(), False), ("ip saddr @allowed", WEB, True),
    ("ip daddr @allowed", WEB, False),
    ("ip saddr != @allowed", WEB, False), ("ip saddr { 10.0.0.0/8, 192.168.0.0/16 }", WEB, True),
]  # fmt: skip
SETS = "set allowed { type ipv4_addr; flags interval; elements = { 10.244.0.0/24, 10.9.0.1 } }"


@pytest.mark.parametrize(("condition", "packet", "matched"), MATCHES)
def test_a_condition_matches_what_the_packet_has(
    condition: str, packet: Packet, *, matched: bool | None
) -> None:
    """A packet without the header that is asked for matches nothing, not even a negation."""
    assert matched is drops(condition, packet, SETS)


def changed(statement: str, packet: Packet = WEB) -> Skb:
    """Return a packet after a statement."""
    ((verdict, skb),) = sent(statement, packet)
    assert "Accept" == verdict
    return skb


CHANGES = [
    ("ip saddr set 10.9.9.9", "src", "10.9.9.9"), ("ip daddr set 10.9.9.8", "dst", "10.9.9.8"),
    ("ip ttl set 5", "ttl", "5"),
    ("ip dscp set 10", "tos", str(10 << 2 | 2)), ("ip ecn set 1", "tos", str(0x1C | 1)),
    ("tcp sport set 1", "sport", "1"),
    ("tcp dport set 8080", "dport", "8080"), ("th dport set 8081", "dport", "8081"),
    ("udp dport set 9", "dport", "80"),
    ("ether saddr set 02:00:00:00:00:77", "smac", "02:00:00:00:00:77"),
    ("ip6 hoplimit set 9", "ttl", "63"),
    ("tcp dport set tcp dport map { 80 : 8000, 81 : 8001 }", "dport", "8000"),
    ("tcp option maxseg size set 1400", "mss", "1400"),
    ("tcp option sack-perm kind set 1", "mss", "0"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "field", "value"), CHANGES)
def test_a_statement_changes_its_field_alone(statement: str, field: str, value: str) -> None:
    """A header that the packet does not have is not changed."""
    packet = changed(statement).packet

    assert value == str(getattr(packet, field))
    assert WEB == packet._replace(**{field: getattr(WEB, field)})


def test_ipv6_headers_are_changed_alike() -> None:
    """By their own names."""
    packet = changed("ip6 hoplimit set 9 ip6 dscp set 1 ip6 daddr set fd00::9", SIX).packet

    assert (9, 4, "fd00::9") == (packet.ttl, packet.tos, str(packet.dst))


def test_marks_and_kinds_of_packets_are_set() -> None:
    """The packet's mark, by bits too; the connection's; and for whom the packet is."""
    assert 0x7 == changed("meta mark set 0x7").mark
    assert 0x31 == changed("meta mark set meta mark | 0x1").mark
    assert PacketType.OTHERHOST is changed("meta pkttype set other").pkt_type
    skb = changed("ct mark set 0x9 meta mark set ct mark")
    assert skb.connection is not None
    assert (9, 9) == (skb.connection.mark, skb.mark)
    assert 0x30 == changed("meta priority set 1:2").mark


REJECTS = [
    ("reject", WEB, "icmp-port-unreachable"), ("reject", SIX, "icmp6-port-unreachable"),
    ("reject with tcp reset", WEB, "tcp-reset"),
    ("reject with icmpx type admin-prohibited", WEB, "icmp-admin-prohibited"),
    ("reject with icmpx type admin-prohibited", SIX, "icmp6-adm-prohibited"),
    ("reject with icmpx type no-route", WEB, "icmp-net-unreachable"),
    ("reject with icmpx type no-route", SIX, "icmp6-no-route"),
    ("reject with icmpx type host-unreachable", SIX, "icmp6-addr-unreachable"),
    ("reject with icmp type net-unreachable", WEB, "icmp-net-unreachable"),
    ("reject with icmp type prot-unreachable", WEB, "icmp-proto-unreachable"),
    ("reject with icmpv6 type addr-unreachable", SIX, "icmp6-addr-unreachable"),
    ("reject with icmpv6 type admin-prohibited", SIX, "icmp6-adm-prohibited"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "packet", "answer"), REJECTS)
def test_reject_answers_in_the_packets_family(statement: str, packet: Packet, answer: str) -> None:
    """As REJECT of iptables names the same answers."""
    sender = Sender(host(statement))
    verdict = sender.send(sender.skb(packet, iif="cni0", oif="eth0"), "FORWARD")

    assert answer == getattr(verdict, "answer", "")


@pytest.mark.parametrize(
    ("rules", "matched"),
    [
        ((
            "tcp dport vmap { 80 : drop, 81 : accept "
            "}"
        ), True), ("tcp dport vmap { 81 : drop }", False),
        ("tcp dport vmap { 79-85 : jump d }", True), ("jump d", True), ("goto d", True),
        ("tcp dport 81 jump d", False), ("return\n\t\tdrop", False), ("accept\n\t\tdrop", False),
        ("jump e\n\t\tdrop", True), ("goto e\n\t\tdrop", False), ("continue\n\t\tdrop", True),
        ("counter\n\t\tdrop", True), ("notrack", False),
    ],
)  # fmt: skip
def test_verdicts_lead_on(rules: str, *, matched: bool) -> None:
    """A map's verdict, a chain that is called and returns, and one that is gone to and does not."""
    more = "chain d {\n\t\tdrop\n\t}\n\tchain e {\n\t\ttcp dport 81 drop\n\t}"

    assert matched == ({"Drop"} == {verdict for verdict, _ in sent(rules, WEB, more)})


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize(
    ("rule", "possible"),
    [
        ("tcp sport 50000-50010 drop", True),
        ("tcp sport { 80, 50000 } drop", True),
        ("tcp sport { 80, 443 } drop", False),
        ("ip saddr . tcp sport { 10.244.0.5 . 50000 } drop", True),
        ("tcp sport vmap { 50000 : drop }", True),
    ],
)
def test_a_port_that_the_kernel_draws_matches_or_not(
    rule: str,
    possible: bool,  # noqa: FBT001  # a row
    chosen: bool,  # noqa: FBT001  # a row
) -> None:
    """The kernel chooses where a rule names a port of the range."""
    questions = PortQuestions(lambda _, __: chosen, lambda _: None)
    port = DrawnPort.draw(40000, (32768, 60999), "port", questions)
    verdicts = {verdict for verdict, _ in sent(rule, WEB._replace(sport=port))}

    assert verdicts == {"Drop" if possible and chosen else "Accept"}
