"""Corners that no other draw comes by are drawn, all of them."""

from __future__ import annotations

import pytest

from podpath.net import protocols
from podpath.net.provenance import Known
from podpath.node.netfilter import Rule
from podpath_lab.cases import corners, dual_stack
from podpath_lab.cases.crafted import encode_frame
from podpath_lab.cases.generate import GeneratedCase, generate_case


@pytest.fixture(scope="module")
def cases() -> list[GeneratedCase]:
    """Return some hundreds of generated cases."""
    return [generate_case(seed) for seed in range(700)]


def chains(case: GeneratedCase) -> list[tuple[Rule, ...]]:
    """Return the rules of every chain of a case's host."""
    tables = case.node.host.netfilter[4].tables
    facts = [fact for table in tables for fact in table.chains.values()]
    return [fact.value.rules for fact in facts if isinstance(fact, Known)]


def test_chains_are_long_enough_for_an_index(cases: list[GeneratedCase]) -> None:
    """Some have just as many rules as it takes, and some more."""
    found = {len(rules) for case in cases for rules in chains(case)}

    assert set(corners.LONG) <= found


def test_zones_have_one_direction_on_one_device(cases: list[GeneratedCase]) -> None:
    """What comes back by another device is in no zone."""
    rules = [rule for case in cases for listed in chains(case) for rule in listed]
    targets = [rule.target for rule in rules if rule.in_link and rule.target is not None]
    kinds = {target.options[0].name for target in targets if target.name == "CT"}

    assert {"zone-orig", "zone-reply"} <= kinds


def test_native_tables_stand_early_and_at_devices_and_sleep(cases: list[GeneratedCase]) -> None:
    """Chains before defragmentation, chains at both ends of devices, sets made of expressions."""
    tables = [table for case in cases for table in case.node.host.nftables.items]
    bases = [chain for table in tables for chain in table.chains.values() if chain.is_base]

    assert corners.EARLY in {chain.priority for chain in bases}
    assert {"ingress", "egress"} <= {chain.hook for chain in bases if chain.devices}
    assert {True, False} == {table.dormant for table in tables if table.family == "netdev"}
    types = {held.types for table in tables for held in table.sets.values() if held.typeof}
    assert {("ip daddr", "tcp dport"), ("meta mark",), ("ct mark",)} <= types


def test_bridges_have_settings_of_their_own(cases: list[GeneratedCase]) -> None:
    """With and without the namespace's."""
    found = {
        (link.bridge.nf_call_iptables, link.bridge.nf_call_ip6tables)
        for case in cases
        for link in case.node.host.links.items
        if link.bridge is not None
    }

    assert found == {(False, False), (True, False), (False, True), (True, True)}


def test_there_is_a_second_gateway_and_an_mtu_to_the_byte(cases: list[GeneratedCase]) -> None:
    """Of a network that the uplink has besides; of the length of a crafted datagram."""
    hosts = [case.node.host for case in cases]
    gateways = {
        str(hop.gateway) for host in hosts for route in host.routes.items for hop in route.nexthops
    }

    assert "10.78.0.1" in gateways
    assert set(corners.MTUS) <= {link.mtu for host in hosts for link in host.links.items}
    assert corners.LENGTH in {case.frame.length for case in cases if case.frame is not None}


def test_hosts_claim_networks_of_others_and_routes_say_an_mss(cases: list[GeneratedCase]) -> None:
    """A local route of a network, and an MSS that connections by a route offer."""
    routes = [
        route
        for case in cases
        for netns in case.node.namespaces.values()
        for route in netns.routes.items
    ]
    claimed = {str(each.prefix) for each in routes if each.type == "local" and not each.inferred}

    assert set(corners.STRANGERS) == claimed - {"default"}
    assert {None, 536, 1000, 1400} == {each.advmss for each in routes}


def test_long_chains_change_marks(cases: list[GeneratedCase]) -> None:
    """Rules behind the change that ask for marks are found by another index then."""
    long = [rules for case in cases for rules in chains(case) if len(rules) >= min(corners.LONG)]
    targets = [{rule.target.name for rule in rules if rule.target is not None} for rules in long]

    assert any("MARK" in names for names in targets)


def test_errors_quote_what_their_sender_never_got(cases: list[GeneratedCase]) -> None:
    """They are of the length that they say, also in IPv6."""
    errors = [case.frame for case in cases if case.frame is not None and case.frame.quoted]

    assert {3, 11} <= {each.icmp_type for each in errors}
    for each in errors:
        six = dual_stack.move_frame(each)
        assert len(encode_frame(each)) == 14 + each.length
        assert len(encode_frame(six)) == 14 + six.length
        assert six.protocol == protocols.ICMPV6
        assert six.icmp_type < 128
        assert six.quoted is not None
        assert six.quoted.family == 6
