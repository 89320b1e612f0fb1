"""Whose rules, routes, devices and sysctls are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.firewall import owner_of
from podpath.checks.owners import (
    find_pod,
    owner_of_device,
    owner_of_key,
    owner_of_link,
    owner_of_route,
    owner_of_rule,
    owners_of_changes,
)
from podpath.net.nft import NftFamily
from podpath.net.owners import OwnerSign
from podpath.node.change import AddRoute, DeleteRoute, DeleteRule, InsertRule, SetSysctl
from podpath.node.nftables import NftRule
from podpath.node.node import HOST, Pod
from podpath.testing.nodes import given_netns, given_node, given_route, span
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


def test_native_rules_are_their_tables() -> None:
    """A table has one writer."""
    given = NftRule(NftFamily.INET, "firewalld", "filter_FORWARD", 1, span("drop"), ())

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


@pytest.mark.parametrize(
    ("name", "pods", "told"),
    [
        ("shop/web", (), "shop/web"),
        ("cni-2f6ab8c1", (), "cni-2f6ab8c1"),
        ("web", (Pod(namespace="shop", name="web-0", netns="web"),), "shop/web-0"),
        ("web", (), ""),
        (HOST, (), ""),
    ],
)
def test_which_pod_a_namespace_is(name: str, pods: tuple[Pod, ...], told: str) -> None:
    """By the runtime's name of it, else by who names it; a namespace of another name may be
    anything.
    """
    netns = given_netns(name)

    assert find_pod(replace(given_node(given_netns(HOST), netns), pods=pods), netns) == told


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("default via 169.254.1.1 dev eth0", "the CNI plugin of the pod"),
        ("169.254.1.1 dev eth0 scope link", "the CNI plugin of the pod"),
        ("10.0.0.0/8 via 10.1.0.1 dev eth0", ""),
        ("default via 10.1.0.1 dev eth0 proto static", ""),
    ],
)
def test_what_gives_a_pod_its_way_out_is_its_plugins(line: str, program: str) -> None:
    """Any other route of its namespace is whose it says, and nobody's where it says nothing."""
    owner = owner_of_route(given_route(line), "shop/web")

    assert program == (owner.program if owner is not None else "")


def test_whose_a_device_is() -> None:
    """By its name, its other end, its place; hardware of the host is its network configuration's,
    and an unknown name nobody's.
    """
    pod = given_netns("shop/web", "eth0 10.1.0.2/24 peer host:a", "net1 10.9.0.2/24")
    far = given_netns("other", "x0 peer host:cali1")
    host = given_netns(HOST, "eth0 192.0.2.1/24", "a peer shop/web:eth0", "cali1 peer other:x0")
    node = given_node(host, pod, far)
    asked = (("shop/web", "eth0"), ("shop/web", "net1"), ("other", "x0"), (HOST, "eth0"))
    found = [owner_of_link(node, *one) for one in (*asked, (HOST, "a"), (HOST, "gone"))]

    assert [one.program if one is not None else "" for one in found] == [
        "the CNI plugin of the pod",
        "the CNI plugin of the pod",
        "Calico",
        "the host's network configuration",
        "",
        "",
    ]


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
