"""Tests of which port of a bridge a MAC is behind."""

from __future__ import annotations

from podpath.datapath.devices.bridge_ports import find_port, outside_mac, place_outside
from podpath.net.addresses import Mac
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

OUTSIDE = (
    "cni0 bridge mac 02:00:00:00:00:fe 10.1.0.1/24",
    "eth0 master cni0",
    "veth1 kind veth master cni0",
    "veth2 kind veth master cni0",
)


def test_where_a_mac_is() -> None:
    """The bridge's own MACs are up; the forwarding database names a port; what nobody is known to
    have leaves the model.
    """
    fdb = ["02:00:00:00:00:05 dev veth2 master cni0"]
    walk = given_walk(given_node(given_netns("host", *OUTSIDE, fdb=fdb)))
    bridge = host(walk).link("cni0")
    found = [
        find_port(walk, host(walk), bridge, Mac(f"02:00:00:00:00:{text}"), None)
        for text in ("fe", "05", "77")
    ]

    assert ["cni0", "veth2", "veth1"] == [link.name for link in found if link is not None]


def test_hosts_outside_are_behind_ports_of_their_own() -> None:
    """Two pods that are not in the model are behind two ports, the same throughout a walk; the rest
    share the uplink.
    """
    walk = given_walk(given_node(given_netns("host", *OUTSIDE)))
    bridge = host(walk).link("cni0")
    found = [
        place_outside(walk, host(walk), bridge, ip(f"10.1.0.{last}")).name
        for last in (5, 6, 5, 7, 8)
    ]

    assert ["veth1", "veth2", "veth1", "eth0", "eth0"] == found


def test_a_port_that_the_evidence_does_not_show() -> None:
    """Where no port is known one is taken to exist, and its name says so."""
    walk = given_walk(given_node(given_netns("host", "cni0 bridge 10.1.0.1/24")))
    ports = [
        place_outside(walk, host(walk), host(walk).link("cni0"), ip("10.1.0.5")) for _ in range(2)
    ]

    assert ("(port of cni0 to MAC of 10.1.0.5)", True) == (ports[0].name, ports[0] is ports[1])


def test_the_mac_of_a_host_outside() -> None:
    """A neighbour entry names it, else words stand for it."""
    walk = given_walk(
        given_node(
            given_netns("host", *OUTSIDE, neighbours=["10.1.0.5 dev cni0 lladdr 02:00:00:00:00:05"])
        )
    )
    bridge = host(walk).link("cni0")

    assert ["02:00:00:00:00:05", "(MAC of 10.1.0.6)"] == [
        outside_mac(walk, host(walk), bridge, ip(f"10.1.0.{last}")) for last in (5, 6)
    ]
