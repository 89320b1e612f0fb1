"""Whose rules, routes, devices and sysctls are."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_named, owner_of
from podpath.checks.owners import (
    owner_of_device,
    owner_of_key,
    owner_of_route,
    owner_of_rule,
    owners_of_changes,
    place_owners,
)
from podpath.net.owners import UNSIGNED, OwnerSign
from podpath.net.provenance import Span
from podpath.node.case import Case, ConfiguredSysctl
from podpath.node.change import AddRoute, DeleteRoute, DeleteRule, InsertRule, SetSysctl
from podpath.node.nftables import NftRule
from podpath.node.node import HOST
from podpath.testing.nodes import given_netns, given_node, given_route, span
from tests.checks.pasted import case_of
from tests.checks.rules import rule


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP", "kube-proxy"),
        ("-A KUBE-FIREWALL -m comment --comment x -j DROP", "kubelet"),
        ("-A FORWARD -j KUBE-FORWARD", "kube-proxy"),
        ("-A FORWARD -m comment --comment cali:abc -j ACCEPT", "Calico"),
        ("-A ufw-user-forward -j DROP", "ufw"),
        ("-A FORWARD -j DOCKER-USER", "Docker"),
        ("-A DOCKER-USER -s 10.0.0.1 -j DROP", ""),
        ("-A KUBE-FORWARD -s 10.0.0.1 -j DROP", ""),
        ("-A FORWARD -s 10.0.0.1 -j DROP", ""),
        ("-A KUBE-SEP-X -s 10.0.0.1 -m comment --comment a/b -j KUBE-MARK-MASQ", "kube-proxy"),
    ],
)
def test_rules(text: str, program: str) -> None:
    """By chain, by the chain that it goes to, by comment; a stranger's rule is nobody's."""
    assert program == owner_of(rule(text))


@pytest.mark.parametrize(
    ("text", "unsigned"),
    [
        ("-A FORWARD -s 10.0.0.1 -j DROP", True),
        ("-A MY-OWN -s 10.0.0.1 -j DROP", False),
        ("-A ufw-user-forward -j DROP", False),
    ],
)
def test_a_rule_that_nobody_signs(text: str, *, unsigned: bool) -> None:
    """Among the kernel's own chains it is an admin's, it seems; a chain may be any program's."""
    case = case_of(text)
    given = rule(text)
    delete = DeleteRule(netns=HOST, family=4, flavour="nft", rule=given)
    finding = Finding(
        check="x",
        severity=Severity.CAUSE,
        claim="x",
        evidence=(given.span,),
        repairs=(Repair(title="x", commands=(), changes=(delete,)),),
    )

    assert (place_owners(case).of_finding(finding) is UNSIGNED) is unsigned


def test_native_rules_are_their_tables() -> None:
    """A table has one writer."""
    given = NftRule("inet", "firewalld", "filter_FORWARD", 1, span("drop"), ())

    owner = owner_of_rule(given)

    assert owner is not None
    assert ("firewalld", OwnerSign.TABLE) == (owner.program, owner.ground)


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("10.0.0.0/8 via 192.0.2.1 dev eth0 proto bird", "BIRD"),
        ("default via 192.0.2.1 dev eth0 proto dhcp", "the DHCP client"),
        ("10.244.1.0/24 via 10.244.1.0 dev flannel.1 onlink", "flannel"),
        ("10.96.0.10/32 dev kube-ipvs0 proto kernel", "kube-proxy"),
        ("10.96.0.0/24 dev eth0 proto kernel", "the kernel"),
        ("10.0.0.0/8 via 192.0.2.1 dev eth0 proto static", ""),
        ("10.0.0.0/8 via 192.0.2.1 dev eth0", ""),
    ],
)
def test_routes(text: str, program: str) -> None:
    """By protocol, else by device."""
    owner = owner_of_route(given_route(text))

    assert program == (owner.program if owner is not None else "")


def test_devices_and_their_switches() -> None:
    """A switch of a device is its program's where that is known to write it."""
    device, key = (
        owner_of_device("lxc0123456789ab"),
        owner_of_key("net.ipv4.conf.lxc0123456789ab.rp_filter"),
    )

    assert device is not None
    assert key is not None
    assert "Cilium" == device.program == key.program
    assert owner_of_key("net.ipv4.conf.all.rp_filter") is None
    assert owner_of_key("net.ipv4.conf.lxc0123456789ab.forwarding") is None


def test_a_file_that_sets_the_value_seen_is_whose_it_is() -> None:
    """And one that sets another value is not."""
    host = given_netns(
        HOST, sysctls={"net.ipv4.ip_forward": "0", "net.ipv4.conf.all.rp_filter": "1"}
    )
    case = Case(
        node=given_node(host),
        configured=tuple(
            ConfiguredSysctl(key=key, value="1", span=span(f"{key}=1", "99.conf"))
            for key in ("net.ipv4.ip_forward", "net.ipv4.conf.all.rp_filter")
        ),
    )
    found: dict[Span, str] = {
        place: owner.sign for place, owner in place_owners(case).by_span.items()
    }

    assert ["99.conf:1"] == list(found.values())


def test_a_change_of_what_is_owned_does_not_last() -> None:
    """A route that BIRD has comes back; one that is added, and a sysctl, are nobody's."""
    route = given_route("10.0.0.0/8 via 192.0.2.1 dev eth0 proto bird")
    changes = (
        DeleteRoute(netns=HOST, route=route),
        AddRoute(netns=HOST, route=route),
        SetSysctl(netns=HOST, key="net.ipv4.ip_forward", value="1"),
    )

    assert ["BIRD"] == [owner.program for owner in owners_of_changes(changes)]


def test_a_rule_that_moves_is_not_undone() -> None:
    """Its program finds it where it wants it; one that is only deleted comes back."""
    owned = rule("-A FORWARD -j KUBE-FORWARD")
    places = {"netns": HOST, "family": 4, "flavour": "nft"}
    delete = DeleteRule(**places, rule=owned)  # type: ignore[arg-type]  # one table of fields for both
    insert = InsertRule(**places, rule=owned._replace(position=1))  # type: ignore[arg-type]  # as above

    assert () == owners_of_changes((delete, insert))
    assert ["kube-proxy"] == [owner.program for owner in owners_of_changes((delete,))]


def test_a_quoted_rule_is_whose_its_chain_is() -> None:
    """Also where no walk met it; a line that nobody quotes is not read."""
    case = case_of("-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP")
    ((_, chain),) = chains_named(case.node.host, "filter", "KUBE-FORWARD")
    line = chain.rules[0].span

    assert "kube-proxy" == place_owners(case, [line]).by_span[line].program
    assert {} == place_owners(case).by_span
