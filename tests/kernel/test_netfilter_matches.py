"""Every match that the model evaluates exactly counts the packets that the kernel counts."""

from __future__ import annotations

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from tests.datapath.given import echo, every_branch, given_rules, tcp, udp
from tests.kernel.agreement import Both

SYN, ACK, FIN, RST, PSH, URG = (
    protocols.SYN,
    protocols.ACK,
    protocols.FIN,
    protocols.RST,
    protocols.PSH,
    protocols.URG,
)
BOTH = ("nft", "legacy")

CONDITIONS = (
    "-s 10.244.0.5/32",
    "! -s 10.244.0.5/32",
    "-s 10.244.0.0/29",
    "-d 198.51.100.0/255.255.0.255",
    "! -d 198.51.100.0/24",
    "-p tcp",
    "! -p tcp",
    "-p icmp",
    "-i cni0",
    "! -i cni0",
    "-i cn+",
    "! -i cn+",
    "-o eth0",
    "-o eth+",
    "! -o cni+",
    "-f",
    "! -f",
    "-p tcp -m tcp --dport 80",
    "-p tcp -m tcp ! --dport 80",
    "-p tcp -m tcp --dport 79:81",
    "-p tcp -m tcp --dport :1023",
    "-p tcp -m tcp --dport 1024:",
    "-p tcp -m tcp --sport 40000 --dport 443",
    "-p udp -m udp --dport 53",
    "-p udp -m udp ! --sport 1:1023",
    "-p tcp -m tcp --syn",
    "-p tcp -m tcp ! --syn",
    "-p tcp -m tcp --tcp-flags SYN,ACK SYN",
    "-p tcp -m tcp --tcp-flags ALL NONE",
    "-p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG FIN,PSH,URG",
    "-p tcp -m tcp ! --tcp-flags RST RST",
    "-p tcp -m multiport --dports 22,80,443",
    "-p tcp -m multiport ! --dports 22,80",
    "-p tcp -m multiport --ports 40000,443:444",
    "-p udp -m multiport --sports 1:39999",
    "-p icmp -m icmp --icmp-type 8",
    "-p icmp -m icmp --icmp-type echo-reply",
    "-p icmp -m icmp ! --icmp-type 8/0",
    "-p icmp -m icmp --icmp-type any",
    "-p icmp -m icmp --icmp-type 3/3",
    "-m mark --mark 0x0",
    "-m mark --mark 0x4000/0x4000",
    "-m mark ! --mark 0x4000/0x4000",
    "-m mark --mark 0x1",
    "-m connmark --mark 0x0",
    "-m connmark ! --mark 0x7",
    "-m conntrack --ctstate NEW",
    "-m conntrack --ctstate INVALID",
    "-m conntrack ! --ctstate INVALID",
    "-m conntrack --ctstate ESTABLISHED,RELATED",
    "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT",
    "-m conntrack --ctstate DNAT",
    "-m conntrack --ctstate SNAT",
    "-m conntrack --ctstate UNTRACKED",
    "-m conntrack --ctdir ORIGINAL",
    "-m conntrack --ctdir REPLY",
    "-m conntrack --ctproto 6",
    "-m conntrack ! --ctproto 17",
    "-m conntrack --ctorigsrc 10.244.0.0/24",
    "-m conntrack --ctorigdst 10.96.0.10",
    "-m conntrack ! --ctorigdst 10.96.0.10",
    "-m conntrack --ctrepldst 10.244.0.5",
    "-m conntrack --ctreplsrc 198.51.100.7",
    "-m conntrack --ctorigdstport 80",
    "-m conntrack --ctreplsrcport 80:90",
    "-m conntrack --ctstatus NONE",
    "-m conntrack ! --ctstatus NONE",
    "-m conntrack --ctstatus CONFIRMED",
    "-m conntrack --ctstatus SEEN_REPLY",
    "-m conntrack --ctstatus ASSURED,SEEN_REPLY",
    "-m conntrack --ctstate INVALID --ctdir ORIGINAL",
    "-m state --state NEW",
    "-m state --state INVALID,UNTRACKED",
    "-m addrtype --dst-type LOCAL",
    "-m addrtype ! --dst-type LOCAL",
    "-m addrtype --src-type UNICAST --dst-type UNICAST",
    "-m iprange --src-range 10.244.0.2-10.244.0.5",
    "-m iprange ! --dst-range 198.51.100.0-198.51.100.7",
    "-m ttl --ttl-eq 64",
    "-m ttl --ttl-lt 64",
    "-m ttl --ttl-gt 10",
    "-m length --length 40",
    "-m length --length 0:30",
    "-m length ! --length 100:65535",
    "-m tos --tos 0x10/0x3f",
    "-m dscp --dscp 0x04",
    "-m dscp ! --dscp-class EF",
    "-m pkttype --pkt-type unicast",
    "-m pkttype ! --pkt-type broadcast",
    "-m ecn --ecn-ip-ect 0",
    '-m comment --comment "-j DROP ; # all"',
    "-m physdev --physdev-in eth0",
    "-m physdev ! --physdev-in eth0",
    "-m physdev --physdev-is-bridged",
    "-m physdev ! --physdev-is-bridged",
)  # fmt: skip

PREROUTING_CONDITIONS = (
    "-m mac --mac-source 02:00:00:00:00:0a",
    "-m mac ! --mac-source 02:00:00:00:00:0a",
    "-m rpfilter",
    "-m rpfilter --invert",
    "-m rpfilter --loose",
    "-m addrtype --dst-type LOCAL --limit-iface-in",
    "-m addrtype ! --dst-type LOCAL --limit-iface-in",
    "-m addrtype --dst-type BROADCAST,MULTICAST",
)


def _packets() -> list[tuple[str, Packet, str]]:
    """Packets of several kinds, with the way that their sequence numbers count in."""
    quoted = tcp("10.244.0.5", "198.51.100.7", 40000, 80)
    error = Packet(
        Address.parse("198.51.100.1"),
        Address.parse("10.244.0.5"),
        protocols.ICMP,
        icmp_type=11,
        quoted=quoted,
    )
    stray = error._replace(quoted=tcp("10.244.0.5", "198.51.100.99", 1, 2))
    answer = tcp("198.51.100.7", "10.244.0.5", 80, 40000, flags=SYN | ACK)._replace(seq=0)
    return [
        ("cni0", tcp(), "original"),
        ("eth0", answer, "reply"),
        ("eth0", error, "original"),
        ("eth0", stray, "original"),
        ("cni0", tcp(flags=ACK), "original"),
        ("cni0", tcp(flags=ACK | PSH)._replace(payload=80), "original"),
        ("eth0", answer._replace(flags=ACK, seq=1), "reply"),
        ("cni0", tcp(flags=FIN | ACK)._replace(seq=81), "original"),
        ("cni0", tcp("10.244.0.6", dport=443, flags=SYN), "original"),
        ("cni0", tcp("10.244.0.6", dport=443, flags=ACK), "original"),
        ("cni0", tcp("10.244.0.9", dport=22, flags=RST), "original"),
        ("cni0", tcp("10.244.0.9", dport=23, flags=FIN | PSH | URG), "original"),
        ("cni0", tcp("10.244.0.9", dport=24, flags=0), "original"),
        ("cni0", tcp("10.244.0.9", dport=2000)._replace(tos=0x10, ttl=9), "original"),
        ("cni0", tcp("10.244.0.5", "10.96.0.10", 41000, 80), "original"),
        ("eth0", tcp("198.51.100.7", "10.244.0.5", 80, 41000, flags=SYN | ACK), "reply"),
        ("cni0", udp(), "original"),
        ("eth0", udp("198.51.100.7", "10.244.0.5", 53, 40000), "reply"),
        ("cni0", udp(), "original"),
        ("cni0", udp("10.244.0.5", "198.51.100.8", 1000, 123)._replace(tos=0xB8), "original"),
        ("cni0", echo(), "original"),
        ("eth0", echo("198.51.100.7", "10.244.0.5", reply=True), "original"),
        ("eth0", echo("198.51.100.7", "10.244.0.6", reply=True), "original"),
        (
            "cni0",
            Packet(Address.parse("10.244.0.5"), Address.parse("198.51.100.7"), 47),
            "original",
        ),
        ("eth0", echo("192.0.2.9", "192.0.2.1", reply=True), "original"),
        ("eth0", echo("192.0.2.9", "10.244.0.1", reply=True), "original"),
        ("cni0", tcp("203.0.113.9", "198.51.100.7"), "original"),
        ("cni0", udp("0.0.0.0", "255.255.255.255", 68, 67), "original"),
    ]


@pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore", "conntrack")
@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("hook", ["PREROUTING", "FORWARD", "POSTROUTING"])
def test_matches_count_what_the_kernel_counts(flavour: str, hook: str) -> None:
    """A rule of each match in a hook: the same packets pass, and every rule has counted the same
    ones.
    """
    conditions = tuple(
        condition
        for condition in CONDITIONS
        if not (hook == "PREROUTING" and (" -o " in f" {condition}" or "is-bridged" in condition))
        and not (hook == "POSTROUTING" and " -i " in f" {condition}")
    )
    if hook == "PREROUTING":
        conditions += PREROUTING_CONDITIONS
    rules = given_rules(*(f"{hook} {condition}" for condition in conditions), table="mangle")
    nat = given_rules(
        (
            "PREROUTING -d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination "
            "198.51.100.7:80"
        ),
        table="nat",
    )
    texts, legacy = ((rules, nat), "") if flavour == "nft" else ((nat,), rules)

    with Both(*texts, legacy=legacy) as both:
        for number, (link, packet, way) in enumerate(_packets()):
            kernel, model = both.pass_through(link, packet, way)
            assert kernel == model, f"packet {number}: {packet}"
        kernel_counts, model_counts = both.counters()
        assert _named(kernel_counts, conditions) == _named(model_counts, conditions)
        kernel_entries, model_entries = both.conntrack()
        assert kernel_entries == model_entries


def _named(
    counts: dict[tuple[str, str, str, int], int], conditions: tuple[str, ...]
) -> dict[str, int]:
    """Name each count by its rule's condition, so that a difference can be read."""
    return {
        conditions[position - 1] if table == "mangle" else f"{table} {chain} {position}": count
        for (_, table, chain, position), count in counts.items()
    }


@pytest.mark.kernel("iptables-nft-restore", "iptables-legacy-restore")
@pytest.mark.parametrize("flavour", BOTH)
def test_fragments_are_seen_where_conntrack_is_off(flavour: str) -> None:
    """A later fragment has no ports, and `-f` finds it."""
    conditions = [
        "-f",
        "! -f",
        "-p udp -m multiport --dports 53",
        "-p udp -m multiport ! --dports 53",
        "-p udp",
    ]
    if flavour == "legacy":
        conditions += ["-p udp -m udp --dport 53", "-p udp -m udp ! --dport 53"]
    rules = given_rules(*(f"FORWARD {condition}" for condition in conditions))
    with Both(rules) if flavour == "nft" else Both(legacy=rules) as both:
        kernel, model = both.pass_through(
            "cni0", udp()._replace(fragment=True, dont_fragment=False)
        )
        assert len(kernel) == len(model) == 1
        kernel_counts, model_counts = both.counters()
        assert kernel_counts == model_counts


@pytest.mark.kernel("iptables-nft-restore")
@pytest.mark.parametrize("port", [53, 54])
def test_nft_reads_ports_out_of_a_later_fragments_data(port: int) -> None:
    """iptables-nft takes a fragment's first bytes for ports; the model, which does not know them,
    walks both ways.
    """
    with Both(given_rules("FORWARD -p udp -m udp --dport 53 -j DROP")) as both:
        fragment = udp(dport=port)._replace(fragment=True, dont_fragment=False)
        kernel, _ = both.pass_through("cni0", fragment)

        assert (port == 53) is (kernel == [])
        assert {"Accept", "Drop"} == every_branch(
            both.given, fragment, "FORWARD", iif="cni0", oif="eth0"
        )
