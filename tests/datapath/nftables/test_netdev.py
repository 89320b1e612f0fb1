"""Chains of nftables at a device's ingress and egress."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.vocabulary import Reachability
from podpath.net.provenance import Listing
from podpath.node.nftables import NftTable
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.datapath.walks import reason_of
from tests.nftables import native_tables

CHAIN = """table netdev t {
	chain c {
		type filter hook %s device "%s" priority 0; policy accept;
		%s
	}
}
"""


def outcome(*chains: tuple[str, str, str]) -> tuple[bool | None, str]:
    """Return what becomes of a SYN from a pod to the world past chains of the host's devices."""
    tables = tuple(
        replaced
        for number, (hook, device, rule) in enumerate(chains)
        for replaced in native_tables((CHAIN % (hook, device, rule)).replace(" t ", f" t{number} "))
    )
    (branch,) = converse(with_tables(*tables), SYN).branches
    first = branch.traces[0]
    return branch.works, reason_of(first.outcome)


SYN = probe("tcp 10.1.0.2 > 203.0.113.9:80 from pod")


def with_tables(*tables: NftTable) -> Node:
    """Return a host between pods and the world with these tables."""
    host = given_netns(
        "host", "eth0 192.0.2.2/24", "lxc1 10.1.0.1/24 peer pod:eth0",
        "lxc2 10.2.0.1/24 peer pod2:eth0", routes=["default via 192.0.2.1 dev eth0"],
        sysctls=forwarding(rp_filter="0"),
        netns={"nftables": Listing(items=tables, complete=True, ask="")},
    )  # fmt: skip
    pods = [
        given_netns(
            name, f"eth0 10.{number}.0.2/24 peer host:lxc{number}",
            routes=[f"default via 10.{number}.0.1 dev eth0"],
        )
        for number, name in ((1, "pod"), (2, "pod2"))
    ]  # fmt: skip
    return given_node(host, *pods)


@pytest.mark.parametrize(
    ("hook", "device", "rule", "works"),
    [
        ("ingress", "lxc1", "ip saddr 10.1.0.2 drop", False),
        ("ingress", "lxc1", "ip saddr 10.1.0.3 drop", True),
        ("ingress", "lxc2", "drop", True),
        ("ingress", "lxc1", 'iifname "lxc1" drop', False),
        ("ingress", "eth0", "tcp dport 80 drop", True),
        ("ingress", "eth0", "tcp sport 80 drop", False),
        ("egress", "eth0", "ip saddr 10.1.0.2 drop", False),
        ("egress", "eth0", 'oifname "eth0" tcp dport 80 drop', False),
        ("egress", "lxc2", "drop", True),
        ("egress", "lxc1", "tcp sport 80 drop", False),
    ],
)
def test_a_chain_sees_the_frames_of_its_own_device(
    hook: str, device: str, rule: str, *, works: bool
) -> None:
    """At ingress what comes in there, at egress what goes out; answers too."""
    assert works == outcome((hook, device, rule))[0]


def test_what_is_sent_on_skips_the_stack() -> None:
    """A frame that is forwarded at ingress leaves by the other device at once."""
    works, _ = outcome(("ingress", "lxc1", 'fwd to "lxc2"'))

    assert works is False
    assert (False, "NETFILTER_DROP") == outcome(("ingress", "lxc1", 'fwd to "absent"'))


def test_chains_of_a_device_run_by_priority() -> None:
    """One that accepts does not keep a later one from dropping."""
    assert (False, "NETFILTER_DROP") == outcome(
        ("ingress", "lxc1", "accept"), ("ingress", "lxc1", "drop")
    )


def test_a_chain_of_which_no_output_shows_the_device_may_stand_at_any() -> None:
    """JSON of nft 1.0 has no device; that the chain stands elsewhere is likelier."""
    (table,) = native_tables(CHAIN % ("ingress", "lxc1", "drop"))
    chains = {name: replace(chain, devices=()) for name, chain in table.chains.items()}
    branches = converse(with_tables(replace(table, chains=chains)), SYN).branches

    assert branches[0].works
    assert {True, False} == {branch.works for branch in branches}


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("meta protocol arp drop", Reachability.SOMETIMES),
        ("ether type arp counter drop", Reachability.SOMETIMES),
        ("meta protocol arp accept", Reachability.ALWAYS),
        ("ether type ip6 drop", Reachability.ALWAYS),
        ("udp dport 53 drop", Reachability.ALWAYS),
        ("ip saddr 192.0.2.77 drop", Reachability.ALWAYS),
    ],
)
def test_a_chain_that_may_drop_arp_leaves_it_open(rule: str, verdict: Reachability) -> None:
    """ARP passes the chains at devices, too; rules for other protocols do not touch it."""
    text = CHAIN % ("ingress", "lxc1", rule)

    said = converse(with_tables(*native_tables(text)), SYN)

    assert verdict is said.verdict
