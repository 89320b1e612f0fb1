"""Addresses and masks that cannot be."""

from __future__ import annotations

import pytest

from podpath.checks.links.configured_address_wrong import check
from tests.assembly.evidence_text import case_of_document

FILE = """
```
$ cat /etc/network/interfaces
iface eth0 inet static
    address {address}
    netmask {mask}
    gateway {gateway}
```
"""


@pytest.mark.parametrize(
    ("address", "mask", "gateway", "certainty"),
    [
        ("192.168.1.300", "255.255.255.0", "192.168.1.1", 0.5),
        ("192.168.1.5", "255.255.0.255", "192.168.1.1", 0.9),
        ("192.168.1.1", "255.255.255.0", "192.168.1.1", 0.9),
        ("192.168.1.0", "255.255.255.0", "192.168.1.1", 0.9),
        ("192.168.1.255", "255.255.255.0", "192.168.1.1", 0.9),
    ],
)
def test_what_cannot_be_is_told(address: str, mask: str, gateway: str, certainty: float) -> None:
    """A number above 255 may also be how somebody hides an address."""
    (found,) = check(case_of_document(FILE.format(address=address, mask=mask, gateway=gateway)))

    assert certainty == found.certainty


@pytest.mark.parametrize(
    ("address", "mask"),
    [("192.168.1.254", "255.255.255.0"), ("192.168.1.0", "255.255.254.0"), ("192.168.x.1", "24")],
)
def test_what_can_be_is_left(address: str, mask: str) -> None:
    """The last host, the middle of a wider network, and what nobody can read."""
    assert not list(
        check(case_of_document(FILE.format(address=address, mask=mask, gateway="192.168.1.1")))
    )
