"""Ports of bridges with addresses of their own."""

from __future__ import annotations

from podpath.checks.links.bridge_port_addressed import check
from tests.assembly.evidence_text import case_of_document

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


def test_a_port_with_dhcp_is_certain() -> None:
    """Its own stanza and the bridge's are quoted."""
    (found,) = check(case_of_document(FILE.format(port="eth0", method="dhcp")))

    assert ["iface eth0 inet dhcp", "bridge_ports eth0"] == [span.text.strip() for span in found.evidence]
    assert 1.0 == found.certainty


def test_a_manual_port_or_another_device_is_right() -> None:
    """A port without an address, or a device that is no port."""
    assert not list(check(case_of_document(FILE.format(port="eth0", method="manual"))))
    assert not list(check(case_of_document(FILE.format(port="eth1", method="dhcp"))))


def test_a_port_says_its_bridge_itself() -> None:
    """The network scripts name the bridge in the port's file."""
    (found,) = check(case_of_document(IFCFG.format(address="IPADDR=10.0.0.2\n")))

    assert "IPADDR=10.0.0.2" == found.evidence[0].text
    assert not list(check(case_of_document(IFCFG.format(address=""))))
