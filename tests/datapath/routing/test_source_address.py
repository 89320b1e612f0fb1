"""Tests of `inet_select_addr`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.routing.source_address import (
    scope_number,
    select_address,
    select_address6,
)
from podpath.net.provenance import Listing
from podpath.node.node import Netns
from podpath.testing.nodes import given_netns, ip


def chosen(netns: Netns, device: str, nexthop: str | None, scope: str = "global") -> str | None:
    """Select an address; give it in words."""
    namespace = Namespace(netns, {})
    found = select_address(
        namespace, namespace.link(device), ip(nexthop) if nexthop else None, scope
    )
    return str(found.address) if found is not None else None


@pytest.mark.parametrize(
    ("nexthop", "address"),
    [("10.2.0.9", "10.2.0.1"), ("192.0.2.1", "10.1.0.1"), (None, "10.1.0.1")],
)
def test_the_subnet_of_the_next_hop_decides(nexthop: str | None, address: str) -> None:
    """The address whose subnet holds the next hop is taken, else the first."""
    assert address == chosen(given_netns("host", "eth0 10.1.0.1/24 10.2.0.1/24"), "eth0", nexthop)


def test_secondary_addresses_are_never_taken() -> None:
    """A secondary address is passed over even where it is the only one that was asked for."""
    assert "10.1.0.1" == chosen(
        given_netns("host", "eth0 10.1.0.1/24 10.1.0.2/24"), "eth0", "10.1.0.2"
    )


def test_a_device_without_address_borrows_one() -> None:
    """An unnumbered device takes an address of another, `lo` before all."""
    assert "10.1.0.1" == chosen(given_netns("host", "lxc1", "eth0 10.1.0.1/24"), "lxc1", None)
    assert "10.9.9.9" == chosen(
        given_netns("host", "lxc1", "eth0 10.1.0.1/24", "lo 10.9.9.9/32"), "lxc1", None
    )


def test_nothing_to_take() -> None:
    """Without any address there is none."""
    assert None is chosen(given_netns("host", "eth0"), "eth0", None)


def test_scopes_bound_the_choice() -> None:
    """An address that reaches less far than asked for is passed over, and a link-scoped one is lent
    to no other device.
    """
    netns = given_netns("host", "eth0 169.254.1.5/16", "lxc1")
    items = tuple(replace(item, scope="link") for item in netns.addresses.items)
    netns = replace(netns, addresses=Listing(items, True, "ip addr"))

    assert (None, "169.254.1.5", None) == (
        chosen(netns, "eth0", None),
        chosen(netns, "eth0", None, "link"),
        chosen(netns, "lxc1", None, "link"),
    )


def test_scopes_have_the_kernels_numbers() -> None:
    """Names and numbers of scopes mean the same."""
    assert (0, 253, 254, 77) == (
        scope_number("global"),
        scope_number("link"),
        scope_number("host"),
        scope_number("77"),
    )


@pytest.mark.parametrize(("value", "address"), [("1", "127.0.0.5"), ("0", None)])
def test_route_localnet_widens_the_host_scope(value: str, address: str | None) -> None:
    """With route_localnet a host-scoped address counts as a link-scoped one."""
    netns = given_netns(
        "host", "eth0 127.0.0.5/8", sysctls={"net.ipv4.conf.eth0.route_localnet": value}
    )
    items = tuple(replace(item, scope="host") for item in netns.addresses.items)

    assert address == chosen(
        replace(netns, addresses=Listing(items, True, "ip addr")), "eth0", None, "link"
    )


@pytest.mark.parametrize(
    ("target", "device", "expected"),
    [
        ("2001:db8:1::5", "eth0", "2001:db8:1::5"),  # rule 1: the address itself
        ("fe80::9", "eth0", "fe80::1"),  # rule 2: the narrowest scope that reaches
        (
            "2001:db8:7::7",
            "eth0",
            "2001:db8:1::1",
        ),  # rule 5: the device, though its prefix fits less
        ("fd00::9", "eth1", "fd00::1"),  # rule 6: the label
        ("2001:db8:2:0:8000::9", "eth1", "2001:db8:2:0:8000::1"),  # rule 8: the longest prefix
        ("fe80::9", "eth1", "2001:db8:2::1"),  # on a link only its own device counts
    ],
)
def test_ipv6_takes_the_best_source(target: str, device: str, expected: str) -> None:
    """Scope, device, label and prefix decide, in this order (RFC 6724, section 5)."""
    addresses = (
        "eth0 2001:db8:1::1/64", "eth0 2001:db8:1::5/64", "eth0 fe80::1/64",
        "eth1 2001:db8:2::1/64", "eth1 2001:db8:2:0:8000::1/96", "eth1 fd00::1/64",
    )  # fmt: skip
    namespace = Namespace(given_netns("host", *addresses), {})

    found = select_address6(namespace, namespace.link(device), ip(target))
    assert ip(expected) == found
