"""Tests for matches: YES, NO or doubt for one packet after another. What the kernel says of them
stands in tests/kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.links import Link
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.node.node import Socket
from tests.datapath.given import Sender, echo, every_branch, given, given_rules, tcp, udp

SYN, ACK, FIN, RST = protocols.SYN, protocols.ACK, protocols.FIN, protocols.RST
POD, SERVER = Address.parse("10.244.0.5"), Address.parse("198.51.100.7")
SERVED = ConntrackEntry(
    original=ConnTuple(POD, Address.parse("10.96.0.10"), 6, 40000, 80),
    reply=ConnTuple(SERVER, POD, 6, 8080, 40000),
    state="ESTABLISHED",
    assured=True,
    replied=True,
    mark=7,
)
TO_SERVICE = tcp(dst="10.96.0.10", flags=ACK)


def matches(
    condition: str,
    packet: Packet,
    *,
    change: Callable[[Skb], None] | None = None,
    conntrack: tuple[ConntrackEntry, ...] = (),
) -> bool:
    """Tell whether a rule with a condition drops a packet in FORWARD, after conntrack has seen it
    in PREROUTING.
    """
    drop = given_rules(f"FORWARD {condition} -j DROP", table="mangle")
    track = given_rules("FORWARD -s 203.0.113.1/32 -m conntrack --ctstate NEW")
    sender = Sender(given(drop, track, conntrack=conntrack))
    skb = sender.skb(packet, iif="cni0", oif="eth0")
    if change is not None:
        change(skb)
    return type(sender.send(skb, "PREROUTING", "FORWARD")).__name__ == "Drop"


YES: Mapping[str, Packet] = {
    "-p tcp -m tcp --dport 80": tcp(),
    "-p tcp -m tcp ! --dport 81": tcp(),
    "-p tcp -m tcp --dport 79:80 --sport :40000": tcp(),
    "-p tcp -m tcp --syn": tcp(),
    "-p tcp -m tcp ! --syn": tcp(flags=ACK),
    "-p tcp -m tcp --tcp-flags SYN,ACK,FIN,RST SYN": tcp(),
    "-p tcp -m tcp ! --tcp-flags ALL NONE": tcp(),
    "-p udp -m udp --dport 53": udp(),
    "-p udplite -m udplite --dport 53": udp()._replace(protocol=protocols.UDPLITE),
    "-p sctp -m sctp --dport 80": tcp()._replace(protocol=protocols.SCTP),
    "-p dccp -m dccp --sport 40000": tcp()._replace(protocol=33),
    "-p tcp -m multiport --dports 22,80:90": tcp(),
    "-p tcp -m multiport ! --dports 22,443": tcp(),
    "-p tcp -m multiport --ports 40000": tcp(),
    "-p icmp -m icmp --icmp-type echo-request": echo(),
    "-p icmp -m icmp --icmp-type 8/0": echo(),
    "-p icmp -m icmp ! --icmp-type 0": echo(),
    "-p icmp -m icmp --icmp-type any": echo(),
    "-m mark --mark 0x0/0xff": tcp(),
    "-m comment --comment x": tcp(),
    "-m conntrack --ctstate NEW": tcp(),
    "-m conntrack ! --ctstate ESTABLISHED,RELATED": tcp(),
    "-m conntrack --ctstate INVALID": tcp(flags=FIN | ACK),
    "-m conntrack --ctstate INVALID --ctdir ORIGINAL": tcp(flags=FIN | ACK),
    "-m conntrack --ctproto tcp": tcp(),
    "-m conntrack --ctdir ORIGINAL --ctorigsrc 10.244.0.0/16 --ctorigdstport 80": tcp(),
    "-m conntrack ! --ctorigdst 10.96.0.10/255.255.255.255": tcp(),
    "-m conntrack --ctstatus NONE,CONFIRMED": TO_SERVICE,
    "-m conntrack --ctstate DNAT": TO_SERVICE,
    "-m conntrack --ctstatus ASSURED": TO_SERVICE,
    "-m conntrack --ctreplsrc 198.51.100.7 --ctreplsrcport 8080": TO_SERVICE,
    "-m conntrack ! --ctstatus EXPECTED": TO_SERVICE,
    "-m connmark --mark 0x7": TO_SERVICE,
    "-m state --state NEW,INVALID": tcp(),
    "-m addrtype --dst-type LOCAL": tcp(dst="192.0.2.1"),
    "-m addrtype ! --dst-type LOCAL --src-type UNICAST": tcp(),
    "-m addrtype --dst-type LOCAL --limit-iface-in": tcp(dst="10.244.0.1"),
    "-m iprange --src-range 10.244.0.1-10.244.0.9": tcp(),
    "-m iprange ! --dst-range 198.51.100.8": tcp(),
    "-m ttl --ttl-gt 63": tcp(),
    "-m ttl --ttl-lt 65": tcp(),
    "-m ttl ! --ttl-eq 1": tcp(),
    "-m length --length 60": tcp(),
    "-m length ! --length 61:": tcp(),
    "-m tos --tos 0x10/0x3f": tcp()._replace(tos=0x90),
    "-m dscp --dscp-class EF": tcp()._replace(tos=0xB8),
    "-m dscp ! --dscp 0x2e": tcp(),
    "-m pkttype --pkt-type unicast": tcp(),
    "-p tcp -m ecn --ecn-tcp-cwr": tcp(flags=SYN | protocols.CWR),
    "-p tcp -m ecn ! --ecn-tcp-ece": tcp(),
    "-m ecn --ecn-ip-ect 2": tcp()._replace(tos=2),
    "-m mac --mac-source 02:00:00:00:00:0A": tcp()._replace(smac=Mac("02:00:00:00:00:0a")),
    "-m physdev ! --physdev-in veth1": tcp(),
    "-m physdev ! --physdev-is-bridged": tcp(),
    "-m helper ! --helper ftp": tcp(),
    "-m owner ! --uid-owner 0": tcp(),
    "-m nfacct --nfacct-name ct_state_invalid_dropped_pkts": tcp(),
    "-m recent --set --name x": tcp(),
    "-m statistic --mode random --probability 1.0": tcp(),
    "-p tcp -m tcpmss ! --mss 1:100": tcp(flags=ACK),
    "-p tcp -m tcpmss --mss 1400:1460": tcp(flags=protocols.SYN)._replace(length=60, mss=1460),
    "-m rpfilter": tcp(),
}
NO: Mapping[str, Packet] = {
    "-p tcp -m tcp --dport 80": tcp()._replace(fragment=True),
    "-p tcp -m tcp ! --dport 80": tcp(),
    "-p tcp -m multiport ! --dports 80": tcp(),
    "-p icmp -m icmp --icmp-type 3": echo(),
    "-m connmark ! --mark 0x9": tcp(flags=FIN | ACK),
    "-m conntrack --ctdir ORIGINAL": tcp(flags=FIN | ACK),
    "-m conntrack ! --ctdir REPLY": tcp(flags=FIN | ACK),
    "-m conntrack --ctstatus NONE": TO_SERVICE,
    "-m conntrack --ctorigsrcport 1:100": tcp(),
    "-m addrtype --dst-type LOCAL --limit-iface-in": tcp(dst="192.0.2.1"),
    "-m addrtype --dst-type LOCAL --limit-iface-out": tcp(dst="10.244.0.1"),
    "-m physdev --physdev-in veth1": tcp(),
    "-m owner --uid-owner 0": tcp(),
    "-m statistic --mode random --probability 0": tcp(),
    "-m recent ! --set --name x": tcp(),
    "-m helper --helper ftp": tcp(),
    "-m socket": tcp(),
    "-p tcp -m tcpmss --mss 1:9000": tcp(flags=ACK),
    "-p tcp -m tcpmss --mss 1:1459": tcp(flags=protocols.SYN)._replace(length=60, mss=1460),
    "-m rpfilter --invert": tcp(),
    "-m rpfilter": tcp("192.0.2.9"),
}


@pytest.mark.parametrize("condition", YES)
def test_conditions_hold(condition: str) -> None:
    """Each condition matches its packet, for sure."""
    tracked = not YES[condition].fragment

    assert matches(condition, YES[condition], conntrack=(SERVED,) if tracked else ())


@pytest.mark.parametrize("condition", NO)
def test_conditions_do_not_hold(condition: str) -> None:
    """Each condition misses its packet, for sure; a fragment where conntrack is off."""
    packet = NO[condition]
    if packet.fragment:
        node = given(given_rules(f"FORWARD {condition} -j DROP"))
        sender = Sender(node)
        assert "Accept" == type(sender.send(sender.skb(packet), "FORWARD")).__name__
    else:
        assert not matches(condition, packet, conntrack=(SERVED,))


DOUBTFUL = {
    "-m limit --limit 1/sec": True, "-m hashlimit --hashlimit-upto 1/sec --hashlimit-name x": True,
    "-m hashlimit --hashlimit-above 1/sec --hashlimit-name x": False,
    "-m connlimit --connlimit-above 3": False, "-m connlimit --connlimit-upto 3": True,
    "-m quota --quota 9": True, "-m quota ! --quota 9": False, "-m time --timestart 09:00": True,
    "-m string --string x --algo bm": False, "-m u32 --u32 0=0": False,
    "-m recent --rcheck --name x --seconds 9": False, "-m recent ! --rcheck --name x": True,
    "-m policy --dir out --pol none": True, "-m policy --dir out --pol ipsec": False,
    "-m cpu --cpu 1": False,
    "-m connbytes --connbytes 9: --connbytes-dir both --connbytes-mode bytes": False,
    "-m set --match-set hidden src": False, "-m statistic --mode nth --every 3 --packet 0": False,
    "-m statistic --mode random --probability 0.7": True, "-p tcp -m tcpmss --mss 1400:1536": True,
    "-p tcp -m tcp --tcp-option 2": True, "-m mac --mac-source 02:00:00:00:00:0a": False,
    "-m conntrack --ctexpire 1:9": False, "-p sctp -m sctp --chunk-types all INIT": False,
    "-m frobnicate --x 1": False, "-p tcp -m osf --genre Linux": False,
}  # fmt: skip
"""Conditions that depend on what a walk cannot see, and whether they likely match."""


@pytest.mark.parametrize("condition", DOUBTFUL)
def test_doubts_fork_the_walk_likeliest_first(condition: str) -> None:
    """Both ways are walked, and the likelier one comes first."""
    packet = tcp()._replace(protocol=protocols.SCTP) if "sctp" in condition else tcp()
    node = given(given_rules("FORWARD -m conntrack --ctstate NEW", f"FORWARD {condition} -j DROP"))

    def through(choices: Choices) -> str:
        sender = Sender(node, choices)
        return type(sender.send(sender.skb(packet, oif="eth0"), "PREROUTING", "FORWARD")).__name__

    assert ("Drop" if DOUBTFUL[condition] else "Accept") == through(Choices())
    assert {"Drop", "Accept"} == every_branch(
        node, packet, "FORWARD", oif="eth0"
    ) or "ctexpire" in condition


@pytest.mark.parametrize("condition", ["-p udp -m udp --dport 53", "-p tcp -m tcp --syn"])
def test_ports_of_a_later_fragment_are_nobodys_in_legacy_tables_and_its_data_in_nft(
    condition: str,
) -> None:
    """xtables never matches it; nftables reads its first bytes, which the walk does not know."""
    packet = (udp() if "udp" in condition else tcp())._replace(fragment=True)
    rules = given_rules(f"FORWARD {condition} -j DROP")

    assert {"Accept"} == every_branch(given(legacy=rules), packet, "FORWARD")
    assert {"Accept", "Drop"} == every_branch(given(rules), packet, "FORWARD")


def test_what_the_kernel_draws_is_no_deviation() -> None:
    """A random pick is marked as the kernel's own choice."""
    choices = Choices()
    sender = Sender(
        given(given_rules("FORWARD -m statistic --mode random --probability 0.5 -j DROP")), choices
    )
    sender.send(sender.skb(tcp()), "FORWARD")

    assert [True] == [assumption.random for assumption in choices.made]


def test_one_fact_is_asked_once() -> None:
    """Istio asks for its own uid in several rules, plain and negated: one answer holds for all."""
    rules = (
        "OUTPUT -m owner --uid-owner 1337 -j RETURN",
        "OUTPUT -m owner ! --uid-owner 1337 -j DROP",
        "OUTPUT -j REJECT",
    )
    node = given(given_rules(*rules))

    assert {"Accept", "Drop"} == every_branch(node, tcp(), "OUTPUT", iif=None, oif="eth0")


def test_a_known_sender_is_no_doubt() -> None:
    """The uid of a probe decides where it is known."""
    for uid, kind in ((1337, "Drop"), (0, "Accept")):
        sender = Sender(given(given_rules("OUTPUT -m owner --uid-owner 1337 -j DROP")))
        skb = sender.skb(tcp(), iif=None, oif="eth0")
        skb.uid = uid

        assert kind == type(sender.send(skb, "OUTPUT")).__name__
        assert [] == sender.walk.choices.made


def test_bridge_ports_are_matched_where_br_netfilter_saw_them() -> None:
    """physdev looks at the ports, with a plus sign for a prefix."""

    def bridged(skb: Skb) -> None:
        skb.physin, skb.physout = Link(name=IfName("veth1")), Link(name=IfName("veth2"))

    for condition in (
        "-m physdev --physdev-in veth1", "-m physdev --physdev-in vet+",
        "-m physdev --physdev-out veth2",
        "-m physdev --physdev-is-bridged --physdev-is-in --physdev-is-out",
        "-m physdev ! --physdev-in veth9",
    ):  # fmt: skip
        assert matches(condition, tcp(), change=bridged)
    assert not matches("-m physdev ! --physdev-is-out", tcp(), change=bridged)


@pytest.mark.parametrize(
    ("sockets", "verdicts"),
    [
        (Listing((Socket(protocol=6, local=SERVER, port=80),), True, "ss"), {"Drop"}),
        (Listing((Socket(protocol=6, local=None, port=80),), True, "ss"), {"Accept"}),
        (Listing((), True, "ss"), {"Accept"}),
        (Listing((), False, "ss"), {"Accept", "Drop"}),
    ],
)
def test_sockets_are_found_where_the_evidence_lists_them(
    sockets: Listing[Socket], verdicts: set[str]
) -> None:
    """A listener on any address counts only with --nowildcard; a partial listing leaves a doubt."""
    node = given(given_rules("PREROUTING -m socket -j DROP", table="mangle"), sockets=sockets)

    assert verdicts == every_branch(node, tcp(), "PREROUTING")


def test_a_transparent_socket_stays_a_doubt() -> None:
    """No listing says whether a socket is transparent."""
    sockets = Listing((Socket(protocol=6, local=None, port=80),), True, "ss")
    node = given(
        given_rules("PREROUTING -m socket --nowildcard --transparent -j DROP", table="mangle"),
        sockets=sockets,
    )

    assert {"Accept", "Drop"} == every_branch(node, tcp(), "PREROUTING")
