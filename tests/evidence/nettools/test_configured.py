"""Files that say which devices a host is to have."""

from __future__ import annotations

from podpath.evidence.records import StatementRecord
from podpath.net.statements import ConfiguredDevice
from tests.evidence.consoles import block, read


def wanted(text: str) -> dict[str, ConfiguredDevice]:
    """Return the devices of a block without gaps, by name."""
    reading = read(block(text))
    assert not reading.gaps
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    return {one.link: one for one in found if isinstance(one, ConfiguredDevice)}


def test_interfaces_names_ports_and_gateway() -> None:
    """A bridge of interfaces(5)."""
    found = wanted("""
auto lo
iface lo inet loopback

iface enp3s0 inet manual

auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        gateway 192.168.1.1
        bridge-ports enp3s0
        bridge-stp off
""")
    assert ["lo", "enp3s0", "vmbr0"] == list(found)
    assert (("enp3s0",), ("192.168.1.5/24",), "192.168.1.1") == (
        found["vmbr0"].ports, found["vmbr0"].addresses, found["vmbr0"].gateway,
    )  # fmt: skip


def test_netplan_is_read_by_its_indents() -> None:
    """A device that is found by its MAC is marked, and lists come in both forms."""
    found = wanted("""
network:
  version: 2
  ethernets:
    ens3:
      match:
        macaddress: 52:54:00:00:00:01
      dhcp4: true
    ens4:
      dhcp4: false
  bridges:
    br0:
      interfaces: [ens4]
      addresses:
        - 10.0.0.2/24
      gateway4: 10.0.0.1
""")
    assert ["ens3", "ens4", "br0"] == list(found)
    assert (True, False) == (found["ens3"].matched, found["ens4"].matched)
    assert (("ens4",), ("10.0.0.2/24",), "10.0.0.1") == (
        found["br0"].ports,
        found["br0"].addresses,
        found["br0"].gateway,
    )


def test_ifcfg_and_network_units_name_one_device() -> None:
    """Each is a file for one device."""
    ifcfg = wanted('DEVICE="eth1"\nBOOTPROTO=static\nONBOOT=yes\nIPADDR=10.1.1.5\nGATEWAY=10.1.1.1')
    unit = wanted("[Match]\nName=en*\n\n[Network]\nDHCP=yes\nGateway=10.1.1.1")

    assert ("10.1.1.1", ("10.1.1.5",)) == (ifcfg["eth1"].gateway, ifcfg["eth1"].addresses)
    assert unit["en*"].matched


def test_a_unit_without_a_device_is_not_read() -> None:
    """Its lines up to the last that count are a gap, since nobody knows what device they are of."""
    (gap,) = read(block("[Network]\nAddress=203.0.113.40/32\n[Route]\nGateway=192.0.2.1\n")).gaps
    assert "which device" in gap.why
    assert gap.span.text.endswith("Gateway=192.0.2.1")
