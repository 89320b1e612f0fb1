"""Tests of what netfilter and ICMP ask of routing."""

from __future__ import annotations

import pytest

from podpath.datapath.routing import (
    address_type,
    error_source,
    reroute,
    reverse_path,
    select_source,
)
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_skb, given_walk, host, packet

ROUTES = ("default via 192.0.2.254 dev eth0", "10.1.0.0/24 dev lxc1", "blackhole 10.9.0.0/16")
NODE = given_node(
    given_netns("host", "eth0 192.0.2.2/24", "eth1 198.51.100.2/24", "lxc1", routes=ROUTES)
)


@pytest.mark.parametrize(
    ("address", "link", "kind"),
    [
        ("192.0.2.2", None, "local"),
        ("192.0.2.2", "eth0", "local"),
        ("192.0.2.2", "eth1", "unicast"),
        ("127.0.0.9", None, "local"),
        ("192.0.2.255", None, "broadcast"),
        ("255.255.255.255", None, "broadcast"),
        ("0.0.0.0", None, "broadcast"),
        ("224.0.0.1", None, "multicast"),
        ("10.9.1.1", None, "unicast"),
        ("8.8.8.8", None, "unicast"),
    ],
)
def test_address_types_come_from_the_local_table_alone(
    address: str, link: str | None, kind: str
) -> None:
    """An address that the local table does not have is unicast, even where a blackhole route holds
    it.
    """
    walk = given_walk(NODE)
    device = host(walk).link(link) if link is not None else None

    assert kind == address_type(walk, NODE.host, ip(address), device)


def test_masquerade_takes_the_address_of_the_device() -> None:
    """MASQUERADE's source follows the device and the next hop, not the route's `src`."""
    walk = given_walk(NODE)

    assert ip("198.51.100.2") == select_source(
        walk, NODE.host, host(walk).link("eth1"), ip("198.51.100.9")
    )
    assert None is select_source(
        given_walk(given_node(given_netns("host", "eth0"))),
        NODE.host,
        host(walk).link("eth0"),
        None,
    )


@pytest.mark.parametrize(
    ("src", "link", "loose", "accept_local", "leads_back"),
    [
        ("10.1.0.5", "lxc1", False, False, True),
        ("10.1.0.5", "eth0", False, False, False),
        ("10.1.0.5", "eth0", True, False, True),
        ("10.9.0.5", "eth0", True, False, False),
        ("192.0.2.2", "eth0", False, False, False),
        ("192.0.2.2", "eth0", False, True, True),
        ("10.1.0.5", "lo", False, False, True),
    ],
)
def test_rpfilter_match(
    src: str,
    link: str,
    loose: bool,  # noqa: FBT001
    accept_local: bool,  # noqa: FBT001
    leads_back: bool,  # noqa: FBT001
) -> None:
    """`-m rpfilter` looks the source up and asks for the device, unless it is loose."""
    walk = given_walk(NODE)
    skb = given_skb(walk, packet(src, "192.0.2.2"), link)

    assert leads_back == reverse_path(walk, skb, mark=0, loose=loose, accept_local=accept_local)


@pytest.mark.parametrize(
    ("dst", "leads_back"),
    [("255.255.255.255", True), ("224.0.0.251", True), ("192.0.2.2", False), ("239.1.1.1", False)],
)
def test_who_asks_for_an_address_has_a_way_back(dst: str, leads_back: bool) -> None:  # noqa: FBT001
    """Without a source, what goes to every host of the link passes by every device."""
    walk = given_walk(NODE)
    skb = given_skb(walk, packet("0.0.0.0", dst), "lxc1")

    assert leads_back == reverse_path(walk, skb, mark=0, loose=False, accept_local=False)


def test_rerouting_keeps_the_source() -> None:
    """A packet that OUTPUT changed finds a new way and keeps its source, right or wrong."""
    walk = given_walk(NODE)
    skb = given_skb(walk, packet("198.51.100.2", "10.1.0.5"))
    decided = reroute(walk, skb)

    assert ("lxc1", ip("198.51.100.2")) == (
        decided.destination.link.name if decided.destination and decided.destination.link else "",
        decided.source,
    )


@pytest.mark.parametrize(
    ("dst", "source"), [("8.8.8.8", "0.0.0.0"), ("198.51.100.2", "198.51.100.2")]
)
def test_icmp_errors_come_from_the_address_asked(dst: str, source: str) -> None:
    """An ICMP error about a packet for the host itself has that address; any other leaves the
    choice to routing.
    """
    walk = given_walk(NODE)

    assert ip(source) == error_source(walk, given_skb(walk, packet("10.1.0.5", dst), "eth0"))


def test_icmp_errors_may_come_from_the_device_that_the_packet_came_in_on() -> None:
    """With icmp_errors_use_inbound_ifaddr the source is an address of that device."""
    sysctls = {"net.ipv4.icmp_errors_use_inbound_ifaddr": "1"}
    node = given_node(
        given_netns(
            "host", "eth0 192.0.2.2/24", "eth1 198.51.100.2/24", routes=ROUTES[:1], sysctls=sysctls
        )
    )
    walk = given_walk(node)

    assert ip("198.51.100.2") == error_source(
        walk, given_skb(walk, packet("10.1.0.5", "8.8.8.8"), "eth1")
    )


DEVICES6 = ("eth0 fd00:1::1/64", "eth1 fd00:2::1/64 fe80::2/64", "eth2 fe80::3/64")
WAY_BACK = "fd00:3::/64 via fd00:2::9 dev eth1"
NODE6 = given_node(given_netns("host", *DEVICES6, routes=(WAY_BACK,)))


@pytest.mark.parametrize(
    ("link", "source"), [("eth0", "fd00:1::1"), ("eth1", "fd00:2::1"), (None, "::")]
)
def test_icmpv6_errors_come_from_the_device_that_the_packet_came_in_on(
    link: str | None, source: str
) -> None:
    """An ICMPv6 error that leaves by another device has an address of the one that it came in on;
    about a packet of the host itself routing chooses.
    """
    walk = given_walk(NODE6)
    about = packet("fd00:3::9", "fd00:9::9")

    assert ip(source) == error_source(walk, given_skb(walk, about, link))


def test_an_icmpv6_error_has_the_source_of_its_route() -> None:
    """Where the way back has a `src` of its own, routing takes that."""
    routes = (f"{WAY_BACK} src fd00:2::1",)
    walk = given_walk(given_node(given_netns("host", *DEVICES6, routes=routes)))
    about = packet("fd00:3::9", "fd00:9::9")

    assert ip("::") == error_source(walk, given_skb(walk, about, "eth0"))


def test_rerouting_to_a_link_local_address_keeps_the_device() -> None:
    """An address that every device has a route to is one of the device that it leaves by."""
    walk = given_walk(NODE6)
    skb = given_skb(walk, packet("fe80::3", "fe80::9"))
    skb.oif = host(walk).link("eth2")
    decided = reroute(walk, skb).destination

    assert decided is not None
    assert decided.link is host(walk).link("eth2")


GROUP_ROUTE = "multicast ff00::/8 dev {} table local metric 256"


@pytest.mark.parametrize(
    ("source", "link", "leads_back"),
    [("ff02::5", "eth1", True), ("ff02::5", "eth0", False), ("ff05::5", "eth1", True)],
)
def test_a_multicast_route_leads_back_to_a_group(
    source: str, link: str, *, leads_back: bool
) -> None:
    """A group of the link is one of the device that the packet came in on."""
    node = given_node(given_netns("host", *DEVICES6, routes=(GROUP_ROUTE.format("eth1"),)))
    walk = given_walk(node)
    skb = given_skb(walk, packet(source, "fd00:1::1"), link)

    assert leads_back is reverse_path(walk, skb, mark=0, loose=False, accept_local=False)
