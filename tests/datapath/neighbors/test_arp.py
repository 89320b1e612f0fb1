"""Tests of ARP: who is named as the sender of a request, and who answers."""

from __future__ import annotations

import pytest

from podpath.datapath.devices.segment import Station
from podpath.datapath.neighbors.arp import announced_source, answer
from podpath.datapath.reasons.neighbours import (
    ArpFiltered,
    ArpIgnored,
    ArpIgnoredAcrossSubnets,
    ArpIgnoredElsewhere,
    NotAddressOf,
    Refusal,
    RequestWithoutSender,
)
from podpath.datapath.reasons.routes import LoopbackFromWire, ReversePathFailed
from podpath.node.node import Node
from podpath.testing.nodes import given_cilium, given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

DEVICES = ("eth0 10.0.0.1/24 10.7.0.1/24", "eth1 192.0.2.2/24", "lxc1")


@pytest.mark.parametrize(
    ("level", "source", "sender"),
    [
        ("0", "192.0.2.2", "192.0.2.2"),
        ("0", "203.0.113.9", "10.0.0.1"),
        ("1", "10.0.0.1", "10.0.0.1"),
        ("1", "192.0.2.2", "10.0.0.1"),
        ("2", "192.0.2.2", "10.0.0.1"),
        ("2", "10.7.0.1", "10.0.0.1"),
    ],
)
def test_the_sender_follows_arp_announce(level: str, source: str, sender: str) -> None:
    """0 takes the packet's own source, 1 only in the target's subnet, 2 the best address of the
    device.
    """
    walk = given_walk(
        given_node(given_netns("host", *DEVICES, sysctls={"net.ipv4.conf.all.arp_announce": level}))
    )

    assert ip(sender) == announced_source(
        host(walk), host(walk).link("eth0"), ip("10.0.0.9"), ip(source)
    )


def test_ipv6_asks_with_the_packets_source() -> None:
    """A solicitation carries the packet's source where its device has it, else the device's own
    link-local address.
    """
    addresses = ("eth0 2001:db8::1/64", "eth0 fe80::1/64", "eth1 2001:db8:2::1/64")
    walk = given_walk(given_node(given_netns("host", *addresses)))
    found = [
        announced_source(host(walk), host(walk).link("eth0"), ip("2001:db8::9"), ip(text))
        for text in ("2001:db8::1", "2001:db8::5", "2001:db8:2::1")
    ]

    assert [ip("2001:db8::1"), ip("fe80::1"), ip("fe80::1")] == found


def test_ipv6_answers_for_an_address_of_the_device_alone() -> None:
    """Unlike ARP, neighbor discovery knows no address of another device of the host."""
    addresses = ("eth0 2001:db8::1/64", "lo 2001:db8:9::1/128")
    node = given_node(given_netns("host", *addresses))

    assert refusal(node, "eth0", None, "2001:db8::1") is None
    assert refusal(node, "eth0", None, "2001:db8:9::1") is not None


def refusal(
    node: Node, device: str, sender: str | None, target: str, *, proxy: bool = False
) -> Refusal | None:
    """Ask a host for an address; None where it answers."""
    walk = given_walk(node)
    return answer(
        walk,
        Station("host", host(walk).link(device)),
        ip(sender) if sender else None,
        ip(target),
        proxy=proxy,
    )


def given(*routes: str, **sysctls: str) -> Node:
    """Return a host with settings of eth0 (`all` for those that begin so)."""
    keys = {
        f"net.ipv4.conf.{'all' if name == 'rp_filter' else 'eth0'}.{name}": value
        for name, value in sysctls.items()
    }
    return given_node(
        given_netns("host", *DEVICES, routes=routes, sysctls={"net.ipv4.ip_forward": "1", **keys})
    )


@pytest.mark.parametrize(
    ("target", "sysctls", "why"),
    [
        ("10.0.0.1", {}, None),
        ("192.0.2.2", {}, None),
        ("10.0.0.77", {}, NotAddressOf(ip("10.0.0.77"), "host")),
        ("192.0.2.2", {"arp_ignore": "1"}, ArpIgnoredElsewhere(1, ip("192.0.2.2"), "eth0")),
        ("10.0.0.1", {"arp_ignore": "1"}, None),
        ("10.7.0.1", {"arp_ignore": "2"}, ArpIgnoredAcrossSubnets(ip("10.0.0.9"), ip("10.7.0.1"))),
        ("10.0.0.1", {"arp_ignore": "2"}, None),
        ("10.0.0.1", {"arp_ignore": "8"}, ArpIgnored(8, "eth0")),
    ],
)
def test_arp_ignore(target: str, sysctls: dict[str, str], why: Refusal | None) -> None:
    """A host answers for any of its addresses, unless arp_ignore narrows it."""
    assert why == refusal(given(**sysctls), "eth0", "10.0.0.9", target)


def test_arp_filter_asks_for_the_way_back() -> None:
    """With arp_filter only the device that leads back to the asker answers."""
    assert None is refusal(given(arp_filter="1"), "eth0", "10.0.0.9", "10.0.0.1")
    assert ArpFiltered(ip("203.0.113.9"), "eth0") == refusal(
        given("203.0.113.0/24 dev eth1", arp_filter="1"), "eth0", "203.0.113.9", "10.0.0.1"
    )


def test_rp_filter_blocks_arp() -> None:
    """A request that input routing refuses is not answered."""
    found = refusal(
        given("203.0.113.0/24 dev eth1", rp_filter="1"), "eth0", "203.0.113.9", "10.0.0.1"
    )

    assert ReversePathFailed(ip("203.0.113.9"), ("eth1",), 1, "eth0", False) == found


def test_loopback_addresses_are_not_answered_for() -> None:
    """Nobody answers for 127.0.0.1 on a wire."""
    assert LoopbackFromWire(ip("127.0.0.1"), "eth0") == refusal(
        given(), "eth0", "10.0.0.9", "127.0.0.1"
    )


@pytest.mark.parametrize(
    ("routes", "value", "answers"),
    [
        (("203.0.113.0/24 dev eth1",), "1", True),
        (("203.0.113.0/24 dev eth0",), "1", False),
        (("203.0.113.0/24 dev eth1",), "0", False),
    ],
)
def test_proxy_arp_answers_for_what_is_routed_elsewhere(
    routes: tuple[str, ...],
    value: str,
    answers: bool,  # noqa: FBT001
) -> None:
    """With proxy_arp a host answers for what it would forward out of another device."""
    assert answers == (
        refusal(given(*routes, proxy_arp=value), "eth0", "10.0.0.9", "203.0.113.5", proxy=True)
        is None
    )


def test_without_a_sender_only_the_owner_answers() -> None:
    """A request without a sender address is answered by the owner alone."""
    assert [None, RequestWithoutSender()] == [
        refusal(given(), "eth0", None, target) for target in ("10.0.0.1", "10.0.0.5")
    ]


def test_cilium_answers_for_everything_at_a_pods_device() -> None:
    """The program at an endpoint's device answers every request of the pod."""
    node = given_node(given_netns("host", "lxc1", complete=False), cilium=given_cilium())

    assert None is refusal(node, "lxc1", "10.1.0.2", "10.1.0.1")


def test_ipv6_owners_answer() -> None:
    """In IPv6 having the address is enough."""
    node = given_node(given_netns("host", "eth0 2001:db8::1/64"))

    assert [None, NotAddressOf(ip("2001:db8::9"), "host")] == [
        refusal(node, "eth0", "2001:db8::5", target) for target in ("2001:db8::1", "2001:db8::9")
    ]
