"""What files want of devices."""

from __future__ import annotations

import pytest

from podpath.checks.wanted import prefixes, read_length, wanted_devices
from tests.assembly.evidence_text import case_of_document

FILES = {
    "/etc/network/interfaces": (
        "iface eth0 inet static\n    address 10.0.0.2\n    netmask 255.255.255.0\n"
        "    gateway 10.0.0.1"
    ),
    "/etc/sysconfig/network-scripts/ifcfg-eth0": (
        "DEVICE=eth0\nIPADDR=10.0.0.2\nPREFIX=24\nGATEWAY=10.0.0.1"
    ),
    "/etc/netplan/a.yaml": (
        "network:\n  ethernets:\n    eth0:\n      addresses: [10.0.0.2/24]\n"
        "      gateway4: 10.0.0.1"
    ),
    "/etc/systemd/network/a.network": (
        "[Match]\nName=eth0\n[Network]\nAddress=10.0.0.2/24\nGateway=10.0.0.1"
    ),
    "/etc/NetworkManager/a.nmconnection": (
        "[connection]\ninterface-name=eth0\n[ipv4]\naddress1=10.0.0.2/24,10.0.0.1\nmethod=manual"
    ),
}


@pytest.mark.parametrize("path", FILES)
def test_every_language_says_the_same(path: str) -> None:
    """Device, address, length and gateway."""
    (wanted,) = wanted_devices(case_of_document(f"```\n$ cat {path}\n{FILES[path]}\n```"))

    ((_, address, length),) = prefixes(wanted)
    assert ("eth0", "10.0.0.2", 24, ["10.0.0.1"]) == (
        wanted.device,
        str(address),
        length,
        [one.value for one in wanted.gateways],
    )


def test_a_mask_has_no_holes() -> None:
    """A length is a number or a mask of ones."""
    assert [24, 20, 0, None, None] == [
        read_length(text) for text in ("255.255.255.0", "20", "0.0.0.0", "255.0.255.0", "x")
    ]


def test_a_length_beyond_the_address_reaches_nothing() -> None:
    """The route of a file may be a slip."""
    text = "[Match]\nName=eth0\n[Route]\nDestination=10.9.0.0/99\n"
    command = "$ cat /etc/systemd/network/a.network"
    (wanted,) = wanted_devices(case_of_document(f"```\n{command}\n{text}\n```"))

    assert not wanted.reached
