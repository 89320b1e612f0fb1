"""Tests of the index of a namespace."""

from __future__ import annotations

from podpath.datapath.netns.namespace import Namespace
from podpath.net.addresses import Mac
from podpath.testing.nodes import given_netns, ip


def test_links_are_found_by_name_and_listed_as_the_kernel_does() -> None:
    """`lo` exists in every namespace and stands first; a device that only other facts name is taken
    to exist.
    """
    namespace = Namespace(given_netns("host", "eth1", "eth0"), {})

    assert ["lo", "eth1", "eth0"] == [link.name for link in namespace.ordered]
    inferred = namespace.link("eth9").inferred
    assert inferred is not None
    assert "only other facts name it" == inferred.why
    assert namespace.link("eth9") is namespace.link("eth9")


def test_addresses_and_ports_and_tables_are_indexed() -> None:
    """Addresses, bridge ports, neighbours and forwarding entries are found by what walks know of
    them.
    """
    netns = given_netns(
        "host", "cni0 bridge 10.1.0.1/24 10.1.0.9/24", "veth1 master cni0",
        neighbours=["10.1.0.5 dev cni0 lladdr 02:00:00:00:00:05"],
        fdb=["02:00:00:00:00:05 dev veth1 master cni0"],
    )  # fmt: skip
    namespace = Namespace(netns, {})

    assert (True, False) == (namespace.owns(ip("10.1.0.9")), namespace.owns(ip("10.1.0.5")))
    assert ["10.1.0.1"] == [str(item.address) for item in namespace.primary_addresses("cni0", 4)]
    assert ["veth1"] == [link.name for link in namespace.ports["cni0"]]
    assert "02:00:00:00:00:05" == namespace.neighbours["cni0", ip("10.1.0.5")].mac
    assert ["veth1"] == [entry.link for entry in namespace.fdb["cni0", Mac("02:00:00:00:00:05")]]


def test_what_is_local() -> None:
    """Own addresses, loopback addresses and those of custom local routes are delivered here."""
    plain = Namespace(given_netns("host", "eth0 10.0.0.1/24"), {})
    custom = Namespace(
        given_netns("host", "eth0 10.0.0.1/24", routes=["local 203.0.113.0/24 dev lo table local"]),
        {},
    )

    assert [True, True, False] == [
        plain.has_local(ip(text)) for text in ("10.0.0.1", "127.0.0.9", "203.0.113.5")
    ]
    assert [True, True] == [custom.has_local(ip(text)) for text in ("10.0.0.1", "203.0.113.5")]


def test_a_mac_that_is_not_in_evidence_has_words_for_it() -> None:
    """A device's MAC is its own, else what a neighbour table says of its address, else words that
    stand for it.
    """
    netns = given_netns(
        "pod", "eth0 no-mac 10.1.0.2/24", "eth1 no-mac", "eth2 mac 02:00:00:00:00:07"
    )
    namespace = Namespace(netns, {ip("10.1.0.2"): Mac("02:00:00:00:00:02")})

    assert ["02:00:00:00:00:02", "(MAC of eth1 in pod)", "02:00:00:00:00:07"] == [
        namespace.mac(namespace.link(name)) for name in ("eth0", "eth1", "eth2")
    ]


def test_routing_is_compiled_once_per_family() -> None:
    """Tables are made when first asked for, for each family."""
    namespace = Namespace(given_netns("host"), {})

    assert namespace.routing(4) is namespace.routing(4)
    assert (4, 6) == (namespace.routing(4).family, namespace.routing(6).family)
