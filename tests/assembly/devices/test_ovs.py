"""Open vSwitch: bridges, bonds, and what being a port says of a device."""

from __future__ import annotations

from tests.assembly.evidence_text import Output, case_of, link_of

SHOW = """
3f2a1b7c-0000-4000-8000-000000000001
    Bridge br-ex
        Port br-ex
            Interface br-ex
                type: internal
        Port vlan9
            tag: 9
            Interface vlan9
                type: internal
        Port uplinks
            Interface p1p1
            Interface p1p2
        Port patch0
            Interface patch0
                type: patch
                options: {peer=patch1}
    ovs_version: "2.17.9"
"""
BOND = """
---- uplinks ----
bond_mode: active-backup
bond may use recirculation: no, Recirc-ID : -1
bond-hash-basis: 0
active slave mac: 3c:fd:fe:00:00:01(p1p1)

slave p1p1: enabled
  active slave
  may_enable: true

slave p1p2: enabled
  may_enable: true
"""


def test_bridge_with_its_bond() -> None:
    """Ports of system devices are slaves of the datapath, those of a bond of their port too;
    internal ports are devices.
    """
    case = case_of(Output("ovs-vsctl show", SHOW), Output("ovs-appctl bond/show uplinks", BOND))
    (bridge,) = case.node.ovs
    assert bridge.name == "br-ex"
    assert dict(bridge.ports) == {
        "br-ex": ("br-ex",),
        "vlan9": ("vlan9",),
        "uplinks": ("p1p1", "p1p2"),
        "patch0": (),
    }
    assert (bridge.bond_mode, bridge.active_slave) == ("active-backup", "p1p1")
    host = case.node.host
    assert [(
        link_of(host, name).master, link_of(host, name).bond_slave_of,
    ) for name in ("p1p1", "p1p2")] == [
        ("ovs-system", "uplinks"), ("ovs-system", "uplinks"),
    ]  # fmt: skip
    assert link_of(host, "p1p1").mac == "3c:fd:fe:00:00:01"
    assert (link_of(host, "vlan9").kind, link_of(host, "vlan9").master) == ("openvswitch", None)
    assert "patch0" not in {link.name for link in host.links.items}


def test_bond_without_its_name() -> None:
    """A bond whose heading was cut is the port that has its slaves."""
    cut = BOND.replace("---- uplinks ----\n", "")
    case = case_of(Output("ovs-vsctl show", SHOW), Output("ovs-appctl bond/show", cut))
    assert case.node.ovs[0].active_slave == "p1p1"


def test_bond_without_a_bridge_is_a_gap() -> None:
    """The state of a bond that no listed port has is kept as a gap; its slaves are slaves all the
    same.
    """
    case = case_of(Output("ovs-appctl bond/show", BOND))
    assert [gap.why for gap in case.gaps] == [
        "expected a port of Open vSwitch with these slaves, saw none for bond uplinks"
    ]
    assert link_of(case.node.host, "p1p2").bond_slave_of == "uplinks"
