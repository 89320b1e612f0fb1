"""Faults of rules: each is found where it is, and nothing where it only seems to be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net.provenance import Known
from podpath.node.netfilter import MatchOption, Target
from podpath.node.node import Cilium, Node
from podpath.xtables.legality import TableFlavour
from tests.checks.nodes import address, bridge, chain, netns, node, rule, span, table
from tests.checks.scenes import findings


def ordered(*jumps: str, masquerade: str = "true") -> Node:
    """Make a FORWARD chain that jumps to a drop of INVALID packets and to a plugin's accept, in
    that order.
    """
    forward = chain(
        "FORWARD",
        *(rule("FORWARD", place, name) for place, name in enumerate(jumps, 1)),
        policy="ACCEPT",
    )
    drop = chain("PROXY", rule("PROXY", 1, "DROP", state="INVALID"))
    accept = chain("PLUGIN", rule("PLUGIN", 1, "ACCEPT", in_link="px+"))
    options = {
        "enable-bpf-masquerade": Known(masquerade, span(f"enable-bpf-masquerade: {masquerade}"))
    }
    return replace(
        node(netns(tables=[table("filter", forward, drop, accept)])), cilium=Cilium(options=options)
    )


def test_a_drop_of_invalid_packets_before_the_plugin_is_found() -> None:
    """The repair takes the plugin's jump out and puts it in first."""
    (found,) = findings(ordered("PROXY", "PLUGIN"), "chain-order")
    assert found.evidence[0].text == "-A PROXY -m conntrack --ctstate INVALID -j DROP"
    assert found.repairs[0].commands == (
        "iptables -t filter -D FORWARD -j PLUGIN",
        "iptables -t filter -I FORWARD 1 -j PLUGIN",
    )


@pytest.mark.parametrize(
    "sound", [ordered("PLUGIN", "PROXY"), ordered("PROXY", "PLUGIN", masquerade="false")]
)
def test_the_right_order_or_no_bypass_is_no_fault(sound: Node) -> None:
    """A plugin that stands first accepts; and where conntrack sees every packet, none is
    INVALID.
    """
    assert findings(sound, "chain-order") == []


def bridged(switch: str, target: str) -> Node:
    """Make a bridge of 10.22.0.0/24 and a rule that rewrites to that address."""
    dnat = rule("SEP", 1, "DNAT", table="nat")._replace(
        target=Target("DNAT", (MatchOption("to-destination", (target,)),))
    )
    host = netns(
        links=[bridge("br7")],
        addresses=[address("br7", "10.22.0.1")],
        sysctls={"net.bridge.bridge-nf-call-iptables": switch},
        tables=[table("nat", chain("SEP", dnat))],
    )
    return node(host)


@pytest.mark.parametrize(
    ("switch", "target", "count"),
    [("0", "10.22.0.9:80", 1), ("1", "10.22.0.9:80", 0), ("0", "10.99.0.9:80", 0)],
)
def test_bridged_replies_are_found_where_an_endpoint_is_on_the_bridge(
    switch: str, target: str, count: int
) -> None:
    """Only an endpoint in the bridge's own subnet is answered past netfilter."""
    assert count == len(findings(bridged(switch, target), "br-netfilter"))


def test_rules_of_both_flavours_are_a_risk() -> None:
    """Legacy rules beside those of nft; a flavour with empty chains does not count."""
    accept = table("filter", chain("FORWARD", rule("FORWARD", 1, "ACCEPT")))
    legacy = replace(accept, flavour=TableFlavour.LEGACY)
    empty = replace(table("filter", chain("FORWARD")), flavour=TableFlavour.LEGACY)
    assert [
        found.severity for found in findings(node(netns(tables=[accept, legacy])), "both-backends")
    ] == ["risk"]
    assert findings(node(netns(tables=[accept, empty])), "both-backends") == []


def test_a_rewrite_to_loopback_needs_the_switch() -> None:
    """With route_localnet on some device nothing is said."""
    dnat = rule("PREROUTING", 1, "DNAT", table="nat")._replace(
        target=Target("DNAT", (MatchOption("to-destination", ("127.0.0.1:80",)),))
    )
    tables = [table("nat", chain("PREROUTING", dnat))]
    key = "net.ipv4.conf.all.route_localnet"
    assert len(findings(node(netns(sysctls={key: "0"}, tables=tables)), "route-localnet")) == 1
    assert (
        findings(
            node(
                netns(sysctls={key: "0", "net.ipv4.conf.eth0.route_localnet": "1"}, tables=tables)
            ),
            "route-localnet",
        )
        == []
    )
