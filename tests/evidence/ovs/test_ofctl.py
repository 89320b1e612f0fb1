"""Flows, groups and port numbers of Open vSwitch, in the forms of its versions and options."""

from __future__ import annotations

import pytest

from podpath.evidence.node_records import (
    OvsFlowListingRecord,
    OvsFlowRecord,
    OvsGroupRecord,
    OvsPortNumberRecord,
)
from tests.evidence.consoles import block, read

FLOWS = """\
OFPST_FLOW reply (OF1.3) (xid=0x2):
 cookie=0x0, duration=0.131s, table=0, n_packets=0, n_bytes=0, reset_counts actions=NORMAL
 cookie=0x5, duration=550.751s, table=3, n_packets=0, n_bytes=0, idle_timeout=60, send_flow_rem \
reset_counts idle_age=3, priority=5,tcp,in_port="p1",ct_state=+new+trk actions=ct(commit,\
table=1,zone=5,nat(dst=10.0.0.1:80)),output:2
"""
GROUPS = """\
OFPST_GROUP_DESC reply (OF1.5) (xid=0x2):
 group_id=5,type=select,bucket=bucket_id:0,weight:3,actions=ct(commit,table=1,nat(dst=1.2.3.4:80)),\
bucket=bucket_id:1,actions=set_field:0x3->reg0,output:2
"""
PORTS = """\
OFPT_FEATURES_REPLY (xid=0x2): dpid:00008a8ecfc34446
n_tables:254, n_buffers:0
capabilities: FLOW_STATS TABLE_STATS PORT_STATS QUEUE_STATS ARP_MATCH_IP
actions: output enqueue set_vlan_vid set_vlan_pcp strip_vlan mod_dl_src mod_dl_dst mod_nw_src
 1(p1): addr:aa:55:aa:55:00:16
     config:     0
     state:      0
     current:    10GB-FD COPPER
     speed: 0 Mbps now, 0 Mbps max
 LOCAL(br0): addr:8a:8e:cf:c3:44:46
     config:     0
     state:      0
OFPT_GET_CONFIG_REPLY (xid=0x4): frags=normal miss_send_len=0
"""


def test_flows_with_counters_and_without() -> None:
    """A flow has its table, priority, what it asks for and what it does; counters and time limits
    decide nothing.
    """
    reading = read(block(FLOWS, "ovs-ofctl -O OpenFlow13 dump-flows br-int"))
    first, second = reading.of(OvsFlowRecord)

    assert not reading.gaps
    assert ("br-int", 0, 32768, (), "NORMAL") == (
        first.bridge,
        first.table,
        first.priority,
        first.match,
        first.actions,
    )
    asked = (("tcp", ""), ("in_port", '"p1"'), ("ct_state", "+new+trk"))
    assert (3, 5, asked) == (second.table, second.priority, second.match)
    assert second.actions == "ct(commit,table=1,zone=5,nat(dst=10.0.0.1:80)),output:2"
    assert [("br-int", True)] == [
        (item.bridge, item.whole) for item in reading.of(OvsFlowListingRecord)
    ]


@pytest.mark.parametrize(
    ("line", "table", "priority"),
    [
        (" table=1, priority=5,ct_state=+new+trk actions=mod_nw_dst:1.2.3.4,output:2", 1, 5),
        (" priority=7,tcp,in_port=1 actions=ct(table=1,zone=5)", 0, 7),
        ("table_id=2, duration=5s, n_packets=0, n_bytes=0, priority=9,ip,actions=drop", 2, 9),
    ],
)
def test_flows_of_other_commands(line: str, table: int, priority: int) -> None:
    """`--no-stats` and `ovs-appctl bridge/dump-flows` print the same in other forms."""
    reading = read(block(line))
    (flow,) = reading.of(OvsFlowRecord)
    named = read(block(line, "ovs-ofctl --no-stats dump-flows br0")).of(OvsFlowListingRecord)

    assert (table, priority) == (flow.table, flow.priority)
    assert ([], [True]) == (reading.of(OvsFlowListingRecord), [head.whole for head in named])


@pytest.mark.parametrize(
    "command", ["ovs-ofctl dump-flows br-int table=0", "ovs-ofctl dump-flows br-int | grep tcp"]
)
def test_a_part_of_the_flows(command: str) -> None:
    """A command that asks for some flows, or a filter behind it, leaves others out."""
    (head,) = read(block(FLOWS, command)).of(OvsFlowListingRecord)

    assert ("br-int", False) == (head.bridge, head.whole)


def test_flows_that_somebody_cut() -> None:
    """An ellipsis stands for flows."""
    (head,) = read(block(FLOWS + "...\n", "ovs-ofctl dump-flows br-int")).of(OvsFlowListingRecord)

    assert not head.whole


def test_groups_and_ports() -> None:
    """A group has the actions of each bucket; a port has its number, LOCAL its reserved one."""
    (group,) = read(block(GROUPS, "ovs-ofctl dump-groups br-int")).of(OvsGroupRecord)
    ports = read(block(PORTS, "ovs-ofctl show br0")).of(OvsPortNumberRecord)

    assert (5, "select") == (group.number, group.type)
    assert group.buckets == (
        "ct(commit,table=1,nat(dst=1.2.3.4:80))",
        "set_field:0x3->reg0,output:2",
    )
    assert {"p1": 1, "br0": 0xFFFE} == {port.port: port.number for port in ports}


def test_a_line_that_is_no_flow_becomes_a_gap() -> None:
    """What a reader cannot read is kept."""
    reading = read(block(FLOWS + "something else entirely\n", "ovs-ofctl dump-flows br-int"))

    assert ["something else entirely"] == [gap.span.text for gap in reading.gaps]
