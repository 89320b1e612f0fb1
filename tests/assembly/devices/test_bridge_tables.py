"""Forwarding entries and VLANs of bridge ports."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.node_records import FdbRecord
from podpath.net.addresses import IfName, Mac
from tests.assembly.evidence_text import Output, by_hand, case_of, link_of

FDB = """
02:00:00:00:00:01 dev veth1 master br0
02:00:00:00:00:02 dev veth2 vlan 7 master br0 permanent
00:00:00:00:00:00 dev vx0 dst 10.1.0.9 self permanent
02:00:00:00:00:01 dev veth1 master br0
"""
VLANS = """
port              vlan-id
veth1             7 PVID Egress Untagged
                  20-22
br0               1 PVID Egress Untagged
"""


def test_forwarding_entries() -> None:
    """Entries keep port, bridge, VLAN and tunnel end; a repeated line is one entry."""
    entries = case_of(Output("bridge fdb", FDB)).node.host.fdb
    assert entries.complete
    assert [(
        item.mac[-2:], item.link, item.bridge, item.vlan, item.local, str(item.dst or ""),
    ) for item in entries.items] == [
        ("01", "veth1", "br0", None, False, ""), ("02", "veth2", "br0", 7, True, ""),
        ("00", "vx0", None, None, False, "10.1.0.9"),
    ]  # fmt: skip


def test_port_number_without_a_name_is_a_gap() -> None:
    """`brctl showmacs` prints numbers: without an output that says whose they are the entry cannot
    be used.
    """
    record = by_hand(
        lambda span: (FdbRecord(span=span, mac=Mac("02:00:00:00:00:01"), link=None, port_no=3),)
    )
    case = assemble_case([record])
    assert case.node.host.fdb.items == ()
    assert [gap.why for gap in case.gaps] == [
        "expected a device, saw bridge port number 3, which no output names"
    ]
    named = by_hand(
        lambda span: (
            FdbRecord(span=span, mac=Mac("02:00:00:00:00:01"), link=IfName("veth9"), port_no=3),
        )
    )
    assert assemble_case([named]).node.host.fdb.items[0].link == "veth9"


def test_vlans_of_ports() -> None:
    """A port has the VLANs and the PVID that `bridge vlan` lists."""
    case = case_of(
        Output(
            "brctl show",
            (
                "bridge name\tbridge id\t\tSTP enabled\tinterfaces\n"
                "br0\t\t8000.020000000001\tno\t\tveth1"
            ),
        ),
        Output("bridge vlan", VLANS),
    )
    port = link_of(case.node.host, "veth1").port
    assert port is not None
    assert (port.pvid, sorted(port.vlans)) == (7, [7, 20, 21, 22])
