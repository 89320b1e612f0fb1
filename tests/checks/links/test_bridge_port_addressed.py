"""Ports of bridges with addresses of their own."""

from __future__ import annotations

import pytest

import podpath
from podpath.checks.links.bridge_port_addressed import check
from podpath.library.given import Pasted
from podpath.node.case import Case
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

HOST_FAILS = "\nThe host cannot reach the internet since then.\n"
GUESTS_FAIL = "\nThe containers cannot reach the internet since then.\n"
FILE = """
```
$ cat /etc/network/interfaces
auto br0
iface br0 inet static
    address 192.168.1.2
    netmask 255.255.255.0
    bridge_ports {port}

auto eth0
iface eth0 inet {method}
```
"""
IFCFG = """
/etc/sysconfig/network-scripts/ifcfg-eth0:
```
DEVICE=eth0
ONBOOT=yes
{address}BRIDGE=br0
```
"""


def told(prose: str, file: str) -> Case:
    """Return the case of a ticket, with what its prose complains of."""
    return podpath.read(Pasted(f"{prose}{file}", "ticket.md")).facts


def test_a_port_with_an_address_is_certain_where_the_host_fails() -> None:
    """Its own stanza and the bridge's are quoted; guests behind the bridge need no address of the
    port.
    """
    static = FILE.format(port="eth0", method="static\n    address 192.168.1.3")

    (found,) = check(told(HOST_FAILS, static))
    assert ["address 192.168.1.3", "bridge_ports eth0"] == [
        span.text.strip() for span in found.evidence
    ]
    assert 1.0 == found.certainty
    for prose in ("", GUESTS_FAIL):
        (found,) = check(told(prose, static))
        assert 1.0 > found.certainty
        assert found.asks


def test_a_port_that_asks_by_dhcp_is_possible_where_the_bridge_has_an_address() -> None:
    """A request is no address: the bridge's own may carry the host."""
    (found,) = check(told(HOST_FAILS, FILE.format(port="eth0", method="dhcp")))

    assert ["iface eth0 inet dhcp", "bridge_ports eth0"] == [
        span.text.strip() for span in found.evidence
    ]
    assert 1.0 > found.certainty


def test_a_manual_port_or_another_device_is_right() -> None:
    """A port without an address, or a device that is no port."""
    assert not list(check(case_of_document(FILE.format(port="eth0", method="manual"))))
    assert not list(check(case_of_document(FILE.format(port="eth1", method="dhcp"))))


def test_a_port_says_its_bridge_itself() -> None:
    """The network scripts name the bridge in the port's file."""
    (found,) = check(case_of_document(IFCFG.format(address="IPADDR=10.0.0.2\n")))

    assert "IPADDR=10.0.0.2" == found.evidence[0].text
    assert not list(check(case_of_document(IFCFG.format(address=""))))


def test_a_port_that_asks_by_dhcp_beside_a_bridge_with_a_gateway_is_certain() -> None:
    """The lease brings a second way out, by the port that gets no answers."""
    file = FILE.format(port="eth0", method="dhcp").replace(
        "    bridge_ports", "    gateway 192.168.1.1\n    bridge_ports"
    )

    assert [1.0] == [one.certainty for one in check(told(HOST_FAILS, file))]
    assert [0.6] == [one.certainty for one in check(told(GUESTS_FAIL, file))]


def test_two_files_in_one_are_no_port_of_itself() -> None:
    """A .network file with two devices to match is two files, one of them without its command; a
    prompt that was pasted twice is one.
    """
    files = """
```
$ cat br7.network
[Match]
Name=br7

{prompt}
[Match]
Name=enp1s0

[Network]
DHCP=ipv4
Bridge=br7
```
"""
    assert list(check(told(HOST_FAILS, files.format(prompt="and the card's:")))) == []
    (found,) = check(told(HOST_FAILS, files.format(prompt="$ $ cat enp1s0.network")))
    assert "makes enp1s0 a port of br7" in str(found.claim)


GONE = "After this command my server is gone, SSH, too."


@pytest.mark.parametrize(
    ("said", "typed", "certainties"),
    [
        (GONE, "ip link set eth0 master br-lan", [0.8]),
        (GONE, "brctl addif br-lan enp1s0", [0.8]),
        (GONE, "ip link set eth0 master br-lan\n# ip addr add 192.0.2.9/24 dev br-lan", []),
        (GONE, "ip link set veth3 master br-lan", []),
        ("The container on br-lan gets no answer from 192.0.2.7.",
         "ip link set eth0 master br-lan", []),
        ("All is well since this command.", "ip link set eth0 master br-lan", []),
    ],
    ids=["ip", "brctl", "addressed", "veth", "container", "works"],
)  # fmt: skip
def test_a_card_that_was_made_a_port_by_hand_loses_the_host(
    said: str, typed: str, certainties: list[float]
) -> None:
    """Possible, where the host is out of reach and no command gives the bridge an address."""
    found = check(ticket_of(f"{said}\n\n```\n# {typed}\n```\n"))

    assert certainties == [one.certainty for one in found]
