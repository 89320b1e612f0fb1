"""/sys/class/net as tickets show it."""

from __future__ import annotations

from podpath.evidence.node_records import BridgePortRecord, LinkRecord
from podpath.evidence.records import StatementRecord
from podpath.net.statements import PortSwitch
from tests.evidence.consoles import block, read


def test_the_command_names_what_cat_prints() -> None:
    """A value alone is that of the command's path."""
    port, stated = read(block("0", "cat /sys/class/net/veth1/brport/hairpin_mode")).records
    assert isinstance(port, BridgePortRecord)
    assert isinstance(stated, StatementRecord)
    assert stated.statement == PortSwitch("", "hairpin_mode", on=False)
    assert ("veth1", {"hairpin": "off"}) == (port.port, port.details)


def test_grep_names_each_file() -> None:
    """A port below its bridge is the port, and what says nothing of a path is a heading."""
    reading = read(
        block("""
/sys/class/net/eth0/mtu:1450
/sys/class/net/eth0/address:52:54:00:00:00:01
/sys/devices/virtual/net/cni0/brif/veth2/hairpin_mode:1
/sys/class/net/eth0/speed:1000
""")
    )
    links = [one for one in reading.records if isinstance(one, LinkRecord)]
    ports = [one for one in reading.records if isinstance(one, BridgePortRecord)]

    assert [(1450, None), (None, "52:54:00:00:00:01")] == [(one.mtu, one.mac) for one in links]
    assert [("veth2", {"hairpin": "on"})] == [(one.port, one.details) for one in ports]
    assert not reading.gaps


def test_a_pattern_names_all_ports_of_a_bridge() -> None:
    """The values stand there without the ports' names."""
    reading = read(block("0\n1", "cat /sys/class/net/cni0/brif/veth*/hairpin_mode"))
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]

    assert [
        PortSwitch("cni0", "hairpin_mode", on=False),
        PortSwitch("cni0", "hairpin_mode", on=True),
    ] == found


def test_a_loop_prints_a_path_and_its_value() -> None:
    """The setting is the port's, and one of its bridge's; a sentence about a path is none."""
    path = "/sys/devices/virtual/net/cni0/brif/veth2/hairpin_mode"
    reading = read(block(f"{path} 0\n/sys/class/net/eth0/mtu is too small"))
    found = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    ports = [one.port for one in reading.records if isinstance(one, BridgePortRecord)]

    assert [PortSwitch("cni0", "hairpin_mode", on=False)] == found
    assert ["veth2"] == ports
    assert not [one for one in reading.records if isinstance(one, LinkRecord)]


def test_braces_name_a_device_for_each_value() -> None:
    """As a shell expands them, in their order."""
    reading = read(block("1442\n1450", "cat /sys/class/net/{ens3,vxlan.calico}/mtu"))
    links = [one for one in reading.records if isinstance(one, LinkRecord)]

    assert [("ens3", 1442), ("vxlan.calico", 1450)] == [(one.name, one.mtu) for one in links]


def test_a_value_too_few_names_no_device() -> None:
    """Which of the files is missing is not said."""
    reading = read(block("1442\n1450", "cat /sys/class/net/{ens3,ens4,vxlan.calico}/mtu"))

    assert not reading.records
    assert 2 == len(reading.gaps)
