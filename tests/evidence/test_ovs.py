"""Open vSwitch: ports and bonds, in the words of old and new versions."""

from __future__ import annotations

from podpath.evidence.node_records import OvsBondRecord, OvsPortRecord
from podpath.evidence.ovs.bond import read_bond, recognise_bond
from podpath.evidence.ovs.vsctl import read_show, recognise_show
from podpath.evidence.records import HeadingRecord
from tests.evidence.consoles import FOLDER, block, load_console, read

OLD_SHOW = """\
    Bridge br-b
        Port br-b
            Interface br-b
                type: internal
        Port "mg"
            tag: 5
            Interface "mg"
                type: internal
        Port "bond1"
            Interface "eth1"
            Interface "eth0"
    ovs_version: "2.5.6"
"""
OLD_BOND = """\
bond_mode: balance-slb
...
active slave mac: 02:51:72:29:1b:50(eth1)

slave eth0: enabled
        may_enable: true

slave eth1: enabled
        active slave
        may_enable: true
"""


def test_recorded_show() -> None:
    """The output of 3.1 gives every port with its interfaces."""
    ports = [
        one
        for one in read(load_console(FOLDER / "cluster" / "ovs-vsctl-show.txt")).records
        if isinstance(one, OvsPortRecord)
    ]
    assert {
        "mgmt0": (("mgmt0", "internal"),),
        "bond-uplink": (("ens3f0", None), ("ens3f1", None)),
    } == {port.port: port.interfaces for port in ports if port.port != port.bridge}
    assert {"br-uplink"} == {port.bridge for port in ports}


def test_old_show() -> None:
    """Names in quotes, tags and a missing first line are read."""
    assert recognise_show(block(OLD_SHOW))
    ports = [one for one in read_show(block(OLD_SHOW)).records if isinstance(one, OvsPortRecord)]
    assert [("mg", 5), ("bond1", None)] == [(port.port, port.tag) for port in ports[1:]]
    assert (("eth1", None), ("eth0", None)) == ports[2].interfaces


def test_recorded_bond() -> None:
    """The output of 3.1 speaks of members; the record stands at the line that names the active
    one.
    """
    (bond,) = [
        one
        for one in read(load_console(FOLDER / "cluster" / "ovs-bond-show.txt")).records
        if isinstance(one, OvsBondRecord)
    ]
    assert ("bond-uplink", "balance-slb", "ens3f1", "3c:fd:fe:a2:40:11", ("ens3f0", "ens3f1")) == (
        bond.name, bond.mode, bond.active_slave, bond.active_mac, bond.slaves,
    )  # fmt: skip
    assert "active member mac: 3c:fd:fe:a2:40:11(ens3f1)" == bond.span.text


def test_old_bond() -> None:
    """Up to 2.15 members are slaves; an elided part is said so."""
    assert recognise_bond(block(OLD_BOND))
    reading = read_bond(block(OLD_BOND))
    (bond,) = [one for one in reading.records if isinstance(one, OvsBondRecord)]
    assert (None, "eth1", ("eth0", "eth1")) == (bond.name, bond.active_slave, bond.slaves)
    assert 1 == sum(one.partial for one in reading.records if isinstance(one, HeadingRecord))
