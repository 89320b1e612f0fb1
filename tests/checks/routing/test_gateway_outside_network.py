"""Gateways that no network of their device holds."""

from __future__ import annotations

import pytest

from podpath.checks.routing.gateway_outside_network import check
from tests.assembly.evidence_text import case_of_document

FILE = """
The machine has no network since the provider changed it.

```
$ cat /etc/network/interfaces
iface eth0 inet static
    address {address}
    netmask {mask}
    gateway {gateway}
```
"""
NETPLAN = """
```
$ cat /etc/netplan/01.yaml
network:
  ethernets:
    eth0:
      addresses: [10.0.0.5/32]
      routes:
        - to: default
          via: 10.0.9.1{more}
```
"""


def test_a_mask_that_is_too_narrow_is_certain() -> None:
    """The kernel never takes such a route."""
    (found,) = check(
        case_of_document(
            FILE.format(address="172.16.4.5", mask="255.255.255.0", gateway="172.16.1.3")
        )
    )

    assert (1.0, "gateway 172.16.1.3") == (found.certainty, found.evidence[0].text.strip())


def test_public_addresses_may_be_made_up() -> None:
    """People write others into tickets."""
    (found,) = check(
        case_of_document(
            FILE.format(address="198.51.100.5", mask="255.255.255.0", gateway="203.0.113.1")
        )
    )

    assert 0.8 == found.certainty


def test_a_gateway_inside_is_right() -> None:
    """The wider mask holds it."""
    assert not list(
        check(
            case_of_document(
                FILE.format(address="172.16.4.5", mask="255.255.248.0", gateway="172.16.1.3")
            )
        )
    )


def test_a_gateway_that_is_said_to_be_on_link_is_right() -> None:
    """Rented servers have a /32 and say so."""
    assert list(check(case_of_document(NETPLAN.format(more=""))))
    assert not list(check(case_of_document(NETPLAN.format(more="\n          on-link: true"))))


NETWORKD = """
```
# cat /etc/systemd/network/10-up.network
[Network]
Address=198.51.100.77/32
{between}
[Route]
Gateway=203.0.113.1
{more}
```
"""


@pytest.mark.parametrize(
    ("between", "more", "certainties"),
    [
        ("", "", [1.0]),
        ("", "Destination=0.0.0.0/0", [1.0]),
        ("", "GatewayOnLink=yes", []),
        ("", "Table=7", []),
        ("", "Destination=10.9.0.0/16", []),
        ("[Route]\nDestination=203.0.113.1", "", []),
        ("[Route]\nDestination=203.0.113.0/24\nScope=link", "", []),
        ("[Route]\nDestination=192.0.2.1", "", [1.0]),
        ("DHCP=ipv4", "", []),
    ],
)
def test_a_route_of_networkd_is_read_by_its_section(
    between: str, more: str, certainties: list[float]
) -> None:
    """A single address holds no gateway, whoever made it up; a route of the file may reach it."""
    found = check(case_of_document(NETWORKD.format(between=between, more=more)))

    assert certainties == [one.certainty for one in found]
