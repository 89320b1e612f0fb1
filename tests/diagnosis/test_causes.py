"""Tests of which fault a deciding step stands for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.cause import Claim
from podpath.datapath.conversations.conversation import converse
from podpath.diagnosis.causes import _is_unredirected, find_cause
from podpath.net import protocols
from podpath.net.provenance import Listing
from podpath.node.netfilter import ConntrackEntry, ConnTuple, Netfilter
from podpath.node.node import Node
from podpath.report.claims import spell_claim
from podpath.testing.nodes import Fields, forwarding, given_netns, given_node, ip, probe, span
from tests.checks.scenes import described
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis.test_repairs import node as pods
from tests.nftables import native_tables

RULES = """table %s {
  chain forward {
    type filter hook forward priority 0; policy %s;
    %s
  }
}
"""


def router(policy: str, rule: str, table: str = "inet firewall") -> Node:
    """Return a router whose own nftables chain stands at FORWARD."""
    return with_tables(RULES % (table, policy, rule))


def with_tables(text: str) -> Node:
    """Return a router with native tables."""
    tables: Fields = {"nftables": Listing(items=native_tables(text), complete=True, ask="")}
    return given_node(
        given_netns(
            "host",
            "wan 192.0.2.2/24",
            "lan 10.0.0.1/24",
            sysctls=forwarding(rp_filter="0"),
            netns=tables,
        )
    )


def named(node: Node, text: str) -> tuple[str, str]:
    """Return the fault of the likeliest branch, and what is claimed of it."""
    cause = find_cause(node, converse(node, probe(text)).branches[0])
    assert cause is not None
    return cause.check, spell_claim(Claim(cause=cause))


def test_a_native_rule_is_not_the_policy() -> None:
    """A rule of nftables that drops at FORWARD is told as a rule; only a policy is told as one."""
    ruled, claim = named(
        router("accept", "tcp dport 80 drop"), "tcp 10.0.0.5 > 192.0.2.9:80 in lan"
    )
    policed, other = named(router("drop", ""), "tcp 10.0.0.5 > 192.0.2.9:80 in lan")

    assert ("dropped-by-rule", "forward-policy") == (ruled, policed)
    assert "inet firewall forward rule 1 (tcp dport 80 drop) drops it" in claim
    assert "is dropped by the policy of inet firewall forward" in other


PROXY = """table ip kube-proxy {
  map no-endpoint-services {
    type ipv4_addr . inet_proto . inet_service : verdict
    elements = { 10.96.0.5 . tcp . 80 comment "shop/nobody:http" : goto reject-chain,
                 10.96.0.6 . tcp . 80 comment "shop/local:http" : drop }
  }
  chain reject-chain {
    reject
  }
  chain service-endpoints-check {
    ip daddr . meta l4proto . th dport vmap @no-endpoint-services
  }
  chain forward {
    type filter hook forward priority 0; policy accept;
    ct state new jump service-endpoints-check
    ip daddr 10.96.0.7 reject
  }
}
"""


@pytest.mark.parametrize(
    ("address", "check"),
    [
        ("10.96.0.5", "no-endpoints"),
        ("10.96.0.6", "no-local-endpoints"),
        ("10.96.0.7", "dropped-by-rule"),
    ],
)
def test_a_map_of_services_without_endpoints_says_so(address: str, check: str) -> None:
    """Kube-proxy's nftables mode rejects and drops by elements of a map, which have no comment that
    would say why.
    """
    node = with_tables(PROXY)
    with_route = given_netns(
        "host",
        "wan 192.0.2.2/24",
        "lan 10.0.0.1/24",
        routes=["default via 192.0.2.1 dev wan"],
        sysctls=forwarding(rp_filter="0"),
        netns={"nftables": node.host.nftables},
    )
    assert named(given_node(with_route), f"tcp 10.0.0.5 > {address}:80 in lan")[0] == check


def test_a_rule_of_iptables_behind_the_map_is_what_drops() -> None:
    """The map was asked, and said nothing."""
    tables = given_tables(given_rules("FORWARD -d 192.0.2.9/32 -j DROP"))
    with_rule = given_netns(
        "host",
        "wan 192.0.2.2/24",
        "lan 10.0.0.1/24",
        routes=["default via 192.0.2.1 dev wan"],
        sysctls=forwarding(rp_filter="0"),
        netns={
            "nftables": with_tables(PROXY).host.nftables,
            "netfilter": {4: Netfilter(tables=tables, complete=True)},
        },
    )
    check, claim = named(given_node(with_rule), "tcp 10.0.0.5 > 192.0.2.9:80 in lan")
    assert (check, "rule 1 of FORWARD" in claim) == ("dropped-by-rule", True), claim


def test_a_loop_that_ends_in_a_pod_is_a_loop() -> None:
    """Where two namespaces send a packet to each other until its TTL ends, it is a loop wherever
    that happens.
    """
    back = given_netns(
        "pod",
        "eth0 10.0.0.2/24 peer host:veth0",
        routes=["default via 10.0.0.1 dev eth0"],
        sysctls=forwarding(),
    )
    node = given_node(
        given_netns(
            "host", "veth0 10.0.0.1/24 peer pod:eth0", "wan 192.0.2.2/24",
            routes=["10.9.0.0/16 via 10.0.0.2 dev veth0"], sysctls=forwarding(rp_filter="0"),
        ),
        back,
    )  # fmt: skip
    checks = {named(node, f"tcp 192.0.2.{last} > 10.9.0.5:80 in wan")[0] for last in (7, 8)}

    assert {"routing-loop"} == checks


def test_a_frame_to_its_own_mac_is_the_fault_of_the_device_without_arp() -> None:
    """That nobody takes the frame only follows."""
    device = "veth0 10.0.0.1/24 noarp mac 02:00:00:00:00:01 peer pod:eth0"
    peer = "eth0 10.0.0.2/24 mac 02:00:00:00:00:02 peer host:veth0"
    node = given_node(given_netns("host", device), given_netns("pod", peer))

    check, claim = named(node, "tcp 10.0.0.1 > 10.0.0.2:80 from host")

    assert check == "arp-off"
    assert "veth0 does no ARP (NOARP)" in claim


def test_a_sender_that_no_namespace_is_shown_for_was_not_left_unredirected() -> None:
    """What its rules are nobody knows."""
    made = router("drop", "tcp dport 22 accept")
    asked = probe("tcp 10.0.0.5 > 192.0.2.9:80 in lan")
    cause = find_cause(made, converse(made, asked).branches[0])
    assert cause is not None

    assert not _is_unredirected(made, replace(cause.trace, start="gone"))


def translated() -> Node:
    """Return pods of which one has two entries of conntrack: by one its datagrams to a service go
    to an endpoint that is gone, as by a rule that nobody took away; the other is of another
    service.
    """
    made = pods(
        nat=("PREROUTING -d 10.96.0.10/32 -p udp --dport 53 -j DNAT --to-destination 10.2.0.9",)
    )
    entries = tuple(
        ConntrackEntry(
            original=ConnTuple(ip("10.1.0.2"), ip(service), protocols.UDP, 4000, 53),
            reply=ConnTuple(ip("10.2.0.9"), ip("10.1.0.2"), protocols.UDP, 53, 4000),
            span=span(f"udp src=10.1.0.2 dst={service} [UNREPLIED] src=10.2.0.9"),
        )
        for service in ("10.96.0.10", "10.96.0.11")
    )
    host = replace(made.host, conntrack=Listing(entries, True, "conntrack -L"))
    return replace(
        made,
        namespaces={**made.namespaces, "host": host},
        services=(described((ip("10.2.0.2"), 53)),),
    )


@pytest.mark.parametrize(("port", "stale"), [(4000, True), (4001, False)])
def test_an_entry_is_to_blame_for_the_packets_that_it_translates(port: int, *, stale: bool) -> None:
    """A datagram from another port goes where the rules send it."""
    check, _ = named(translated(), f"udp 10.1.0.2:{port} > 10.96.0.10:53 from pod")

    assert stale is (check == "stale-conntrack")
