"""What a namespace answers when asked for a sysctl."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.provenance import Known, Listing, Unknown
from podpath.node.netfilter import Netfilter, Table
from podpath.node.node import Netns, NetnsRole, Node, Socket
from podpath.xtables.legality import TableFlavour, TableName

NOTHING: Listing[object] = Listing((), False, "")


def netns(*, complete: bool = False, **sysctls: str) -> Netns:
    """Make a namespace that knows some sysctls; `__` stands for a dot."""
    return Netns(
        name="host",
        role=NetnsRole.HOST,
        links=Listing((), False, "ip link"),
        addresses=Listing((), False, "ip addr"),
        routes=Listing((), False, "ip route"),
        sysctls={key.replace("__", "."): Known(value) for key, value in sysctls.items()},
        sysctls_complete=complete,
    )


def test_a_known_sysctl_is_given_as_it_is() -> None:
    """The default does not matter then."""
    assert netns(net__ipv4__ip_forward="1").sysctl("net.ipv4.ip_forward", "0") == Known("1")


def test_a_sysctl_that_nobody_printed_is_a_question() -> None:
    """The default is the likeliest; every further option stands once."""
    fact = netns().sysctl("net.ipv4.ip_forward", "0", (("1", "routes"), ("0", "does not")))

    assert isinstance(fact, Unknown)
    assert [("0", "the kernel's default"), ("1", "routes")] == [
        (option.value, option.meaning) for option in fact.options
    ]
    assert "sysctl net.ipv4.ip_forward" in fact.ask


def test_a_sysctl_missing_from_a_whole_listing_is_its_default() -> None:
    """After a whole `sysctl -a` a missing key does not exist."""
    fact = netns(complete=True).sysctl("net.bridge.bridge-nf-call-iptables", "0")

    assert isinstance(fact, Known)
    assert ("0", True) == (fact.value, "not among" in fact.because)


def test_the_host_is_a_namespace_of_the_node() -> None:
    """A node always has its own namespace."""
    host = netns()

    assert Node(name="n", namespaces={"host": host}).host is host


def test_tables_of_both_families_are_the_namespaces() -> None:
    """A family that nobody printed has none."""
    table = Table(
        name=TableName.FILTER, family=6, flavour=TableFlavour.NFT, chains={}, complete=True
    )
    filtered = replace(netns(), netfilter={6: Netfilter(tables=(table,), complete=True, ask="")})
    assert [] == netns().tables
    assert [table] == filtered.tables


@pytest.mark.parametrize(
    ("local", "heard"),
    [
        ("", {"192.0.2.1", "2001:db8::1"}),
        ("0.0.0.0", {"192.0.2.1"}),
        ("::", {"2001:db8::1"}),
        ("192.0.2.1", {"192.0.2.1"}),
        ("192.0.2.9", set()),
    ],
)
def test_a_socket_takes_what_is_for_its_address_and_family(local: str, heard: set[str]) -> None:
    """One that is bound to any address of IPv4 takes nothing of IPv6."""
    held = Socket(protocol=protocols.TCP, local=Address.parse(local) if local else None, port=80)
    shown = replace(netns(), sockets=Listing((held,), True, "ss -tuln"))

    assert heard == {
        each
        for each in ("192.0.2.1", "2001:db8::1")
        if shown.listens(protocols.TCP, Address.parse(each), 80)
    }
