"""Drops that the kernel told of, held against the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from podpath.datapath.vocabulary import StageName
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropAgreement, DropExplanation, explain_drop
from podpath.drops.events import DropKey, HeardDrop
from podpath.drops.headers import ARP, IPV4
from podpath.net import protocols
from podpath.net.addresses import Mac
from podpath.net.nft import NftChainType, NftFamily, NftHook
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.links import Link
from podpath.node.netfilter import Netfilter
from podpath.node.nftables import NftChain, NftRule, NftTable
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, ip, listening, span
from tests.datapath.given import given_rules, given_tables

SYN = Packet(ip("10.244.0.5"), ip("198.51.100.7"), protocols.TCP, 40000, 80, protocols.SYN)


DEVICES = {"lo": 1, "eth0": 2, "cni0": 3}
MACS = {"eth0": Mac("02:00:00:00:00:01")}


def node(routes: tuple[str, ...] = (), sysctls: Mapping[str, str] | None = None) -> Node:
    """Return a host between pods and the world, each device with its number."""
    host = given_netns(
        "host", "eth0 192.0.2.1/24", "cni0 10.244.0.1/24",
        routes=[
            "default via 192.0.2.254 dev eth0", "local 192.0.2.1 dev eth0 table local", *routes,
        ],
        sysctls=forwarding(rp_filter="1") | dict(sysctls or {}), netns={"sockets": listening(22)},
    )  # fmt: skip
    links: tuple[Link, ...] = tuple(
        replace(link, ifindex=DEVICES[link.name], mac=MACS.get(link.name))
        for link in host.links.items
    )
    return given_node(replace(host, links=Listing(links, True, "ip link")))


def drop(reason: str, packet: Packet | None = SYN, *, came: str = "cni0") -> HeardDrop:
    """Return a drop of a packet that came in on a device."""
    number = DEVICES[came] if came else 0
    key = DropKey(reason, 1, 7, number, number, IPV4, 6, 2, 40000, 80, SYN.src, SYN.dst)
    return HeardDrop(key, 0, packet)


def explain(
    heard: HeardDrop, routes: tuple[str, ...] = (), sysctls: Mapping[str, str] | None = None
) -> DropExplanation:
    """Explain a drop in the host of that node."""
    return explain_drop(Engine(node(routes, sysctls)), "host", heard)


def test_the_line_is_named_where_reason_and_place_agree() -> None:
    """Strict source validation is the step, and the sysctl its line."""
    found = explain(drop("IP_RPFILTER", came="eth0"))

    assert (found.agreement, found.link) == (DropAgreement.NAMED, "eth0")
    assert found.step is not None
    assert found.step.stage is StageName.RP_FILTER
    assert found.spans


def test_a_route_that_drops_is_named() -> None:
    """The kernel has no name for a blackhole: that the model drops there too is enough."""
    found = explain(drop("NOT_SPECIFIED"), routes=("blackhole 198.51.100.0/24",))

    assert found.agreement is DropAgreement.NAMED
    assert [span.text for span in found.spans] == ["blackhole 198.51.100.0/24"]
    assert found.owner is None


def test_whose_the_line_is() -> None:
    """By the signs of the namespace's routes."""
    found = explain(drop("NOT_SPECIFIED"), routes=("blackhole 198.51.100.0/24 proto bird",))

    assert found.owner is not None
    assert found.owner.program == "BIRD"


def test_a_packet_that_would_pass_is_a_disagreement() -> None:
    """Netfilter is empty in the model, and yet the kernel's dropped it."""
    assert explain(drop("NETFILTER_DROP")).agreement is DropAgreement.DISAGREES


def test_the_frame_that_the_node_wrote_itself_is_not_the_one_that_came_in() -> None:
    """What is freed while it is sent has the next hop's MAC, for which nothing was received."""
    framed = SYN._replace(smac=MACS["eth0"], dmac=Mac("02:00:00:00:00:02"))
    heard = drop("DEV_READY", framed)
    heard = heard._replace(key=heard.key._replace(ifindex=DEVICES["eth0"]))

    found = explain_drop(Engine(node()), "host", heard)

    assert found.agreement is DropAgreement.DISAGREES
    assert found.step is None


def test_a_full_queue_is_no_drop_of_the_model() -> None:
    """The kernel has one reason for a queue that is full and for a device without carrier."""
    assert explain(drop("QDISC_DROP")).agreement is DropAgreement.OUTSIDE


def test_another_reason_is_told_apart() -> None:
    """The model drops it too, but not for what the kernel says."""
    found = explain(drop("NETFILTER_DROP", came="eth0"))

    assert found.agreement is DropAgreement.OTHERWISE
    assert found.step is not None
    assert found.step.stage is StageName.RP_FILTER


@pytest.mark.parametrize("reason", ["TCP_CSUM", "QDISC_OVERLIMIT", "SOCKET_RCVBUFF"])
def test_what_the_model_does_not_have_is_outside(reason: str) -> None:
    """A reason of queues, checksums and sockets' buffers contradicts no walk that passes."""
    assert explain(drop(reason)).agreement is DropAgreement.OUTSIDE


def test_nobody_listening_is_named() -> None:
    """The packet arrives, and the listing of sockets has none for it; of one that listens, the two
    disagree.
    """
    arriving = SYN._replace(src=ip("198.51.100.7"), dst=ip("192.0.2.1"))
    nobody = explain(drop("NO_SOCKET", arriving._replace(dport=23), came="eth0"))
    somebody = explain(drop("NO_SOCKET", arriving._replace(dport=22), came="eth0"))

    assert nobody.agreement is DropAgreement.NAMED
    assert nobody.unheard is not None
    assert somebody.agreement is DropAgreement.DISAGREES


def test_forwarding_takes_one_off_the_ttl_before_it_filters() -> None:
    """A packet seen in FORWARD with a TTL of 1 came in with 2, unless the TTL itself is the
    reason.
    """
    low = SYN._replace(ttl=1)

    assert explain(drop("NETFILTER_DROP", low)).agreement is DropAgreement.DISAGREES
    found = explain(drop("IP_INHDR", low))
    assert found.agreement is DropAgreement.NAMED
    assert found.step is not None
    assert found.step.stage is StageName.FORWARD


def test_the_connections_own_packet_is_tried_where_nat_changed_it() -> None:
    """A packet that was translated is walked as it began: its route may be by that."""
    service = SYN._replace(dst=ip("10.96.0.1"))
    heard = drop("NOT_SPECIFIED")._replace(original=service)

    assert explain(heard, routes=("blackhole 10.96.0.0/12",)).agreement is DropAgreement.NAMED


def test_what_is_no_packet_is_elsewhere() -> None:
    """ARP, and a device that the model does not have, are nothing to walk."""
    arp = drop("NOT_SPECIFIED", None)
    arp = arp._replace(key=arp.key._replace(ethertype=ARP))
    strange = drop("NETFILTER_DROP")
    strange = strange._replace(key=strange.key._replace(input=99))

    assert explain(arp).agreement is DropAgreement.ELSEWHERE
    assert explain(strange).agreement is DropAgreement.ELSEWHERE


def test_a_full_table_of_connections_is_quoted() -> None:
    """Where no rule drops and the table is full, its two lines say so."""
    count, most = "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"
    found = explain(drop("NETFILTER_DROP"), sysctls={count: "10", most: "10"})

    assert [span.text for span in found.spans] == [f"{count} = 10", f"{most} = 10"]


@pytest.mark.parametrize(
    ("family", "kind", "agreement"),
    [
        ("bridge", "bridge", DropAgreement.OUTSIDE),
        ("bridge", "", DropAgreement.DISAGREES),
        ("arp", "bridge", DropAgreement.DISAGREES),
    ],
)
def test_what_a_chain_of_the_bridge_may_drop_is_no_disagreement(
    family: str, kind: str, agreement: DropAgreement
) -> None:
    """No walk goes through such chains: their lines are quoted, and nothing is claimed of them."""
    rule = NftRule(NftFamily(family), "admin", "deny", 1, span("udp dport 5300 drop"), ())
    chain = NftChain(name="deny", type=NftChainType.FILTER, hook=NftHook.FORWARD, rules=(rule,))
    table = NftTable(family=NftFamily(family), name="admin", chains={"deny": chain})
    host = node().host
    links = tuple(
        replace(link, kind=kind) if link.name == "cni0" else link for link in host.links.items
    )
    host = replace(
        host,
        nftables=Listing((table,), True, "nft list ruleset"),
        links=Listing(links, True, "ip link"),
    )
    found = explain_drop(Engine(given_node(host)), "host", drop("NETFILTER_DROP"))

    assert found.agreement is agreement
    quoted = ["udp dport 5300 drop"] if agreement is DropAgreement.OUTSIDE else []
    assert [span.text for span in found.spans] == quoted


def test_a_reason_of_sockets_quotes_the_socket() -> None:
    """What is full is the socket that listens there."""
    arriving = SYN._replace(src=ip("198.51.100.7"), dst=ip("192.0.2.1"), dport=22)
    heard = drop("TCP_LISTEN_OVERFLOW", arriving, came="eth0")
    heard = heard._replace(key=heard.key._replace(dport=22))
    spans = [socket.span for socket in node().host.sockets.items if socket.port == 22]

    assert list(explain(heard).spans) == [span for span in spans if span is not None]


def test_a_function_that_has_no_reason_says_whose_drop_it_is() -> None:
    """A generic XDP program's drops bear no reason: their function tells."""
    found = explain_drop(Engine(node()), "host", drop("NOT_SPECIFIED"), "do_xdp_generic+0x284")
    late = explain_drop(Engine(node()), "host", drop("NOT_SPECIFIED"), "tcp_v4_rcv+0x91")

    assert (found.agreement, found.reason) == (DropAgreement.OUTSIDE, "XDP")
    assert (late.agreement, late.reason) == (DropAgreement.OUTSIDE, "TRANSPORT")


def test_a_neighbor_that_does_not_answer_is_no_disagreement() -> None:
    """Who is on the wire outside is what no evidence of the node says."""
    heard = drop("NEIGH_FAILED")
    heard = heard._replace(key=heard.key._replace(ifindex=DEVICES["eth0"]))
    found = explain_drop(Engine(node()), "host", heard)

    assert (found.agreement, found.link) == (DropAgreement.OUTSIDE, "eth0")
    assert [span.text for span in found.spans] == ["eth0 192.0.2.1/24"]


def test_a_packet_that_wraps_another_is_no_disagreement() -> None:
    """Which network it is of stands in what it wraps, which the walk of it does not see."""
    outer = SYN._replace(protocol=protocols.UDP, dport=8472)
    found = explain(drop("VXLAN_VNI_NOT_FOUND", outer, came="eth0"))

    assert found.agreement is DropAgreement.OUTSIDE


def test_a_rule_about_the_ttl_sees_what_forwarding_left_of_it() -> None:
    """A packet freed in FORWARD with a TTL of 1 came in with 2, and the rule meets 1."""
    rules = given_tables(given_rules("FORWARD -m ttl --ttl-eq 1 -j DROP"))
    host = replace(node().host, netfilter={4: Netfilter(tables=rules, complete=True)})
    heard = drop("NETFILTER_DROP", SYN._replace(ttl=1))
    found = explain_drop(Engine(given_node(host)), "host", heard)

    assert found.agreement is DropAgreement.NAMED
    assert ["-A FORWARD -m ttl --ttl-eq 1 -j DROP"] == [span.text for span in found.spans]
