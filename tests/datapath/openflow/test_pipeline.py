"""Flow tables: what leaves the answer open, and what each field and action means. The whole is
compared with Open vSwitch in `tests/kernel/test_openflow.py`.
"""

from __future__ import annotations

import pytest

from podpath.datapath.openflow.fields import State
from podpath.datapath.openflow.pipeline import Pipelined, Tracking, send_through
from podpath.datapath.openflow.tables import FlowTables
from podpath.node.openflow import FlowEntry, FlowGroup, OpenFlow

TCP: State = {
    "in_port": 1, "eth_type": 0x800, "ip_proto": 6, "ip_src": 0x0A000001, "ip_dst": 0x0A000002,
    "tp_src": 40000, "tp_dst": 80, "ttl": 64, "vlan_tci": 0, "ip_frag": 0,
}  # fmt: skip


class NewConnections:
    """Connection tracking that calls everything new."""

    def track(self, state: State, asked: Tracking) -> State | str:
        """Return the packet, tracked in the zone."""
        return {**state, "ct_state": 0x21, "ct_zone": asked.zone}


def given(
    *flows: str, groups: dict[int, FlowGroup] | None = None, whole: bool = True
) -> FlowTables:
    """Compile flows, each `TABLE PRIORITY MATCH ACTIONS`."""
    made = []
    for flow in flows:
        table, priority, match, actions = flow.split(" ", 3)
        asked = [part.partition("=")[::2] for part in match.split(",") if part != "any"]
        made.append(FlowEntry(int(table), int(priority), tuple(asked), actions))
    ports = {"eth0": 1, "eth1": 2}
    return FlowTables(OpenFlow(flows=tuple(made), complete=whole, groups=groups or {}, ports=ports))


def send(tables: FlowTables, state: State = TCP, bucket: int = 0) -> Pipelined:
    """Send a packet in by port 1."""
    return send_through(tables, state, NewConnections(), lambda _, count: bucket % count)


def ports(passage: Pipelined) -> list[int]:
    """Return the ports that something leaves, in their order."""
    return [sent.port for sent in passage.sent]


def why_open(tables: FlowTables, state: State = TCP) -> str:
    """Return what is not known."""
    opened = send(tables, state).opened
    return opened.what if opened is not None else ""


def test_the_highest_priority_decides() -> None:
    """Of two flows the one with the higher priority has the packet; without any it is dropped."""
    tables = given("0 5 ip output:2", "0 9 tcp,tp_dst=80 drop")

    assert ([], [2], []) == (
        ports(send(tables)),
        ports(send(tables, {**TCP, "tp_dst": 81})),
        ports(send(given("0 5 arp output:2"))),
    )


def test_two_flows_of_one_priority_leave_it_open() -> None:
    """Which of two overlapping flows has a packet is not said by OpenFlow."""
    assert "two flows of one priority" == why_open(given("0 5 ip output:2", "0 5 tcp drop"))
    assert "" == why_open(given("0 5 ip drop", "0 5 tcp drop"))


@pytest.mark.parametrize(
    ("flow", "why"),
    [
        ("0 5 ip frobnicate(3),output:2", "action frobnicate(3)"),
        ("0 5 ip controller(userdata=00)", "the controller"),
        ("0 5 ip group:9", "group 9"),
        ("0 5 ip write_actions(output:2)", "action write_actions(output:2)"),
        ("0 5 nsh_spi=7 output:2", "nsh_spi=7"),
        ("0 5 dl_src=02:00:00:00:00:01 output:2", "eth_src"),
        ("0 5 ip set_field:3->frob,output:2", "field frob"),
        ("0 5 ip learn(table=3,in_port=1),resubmit(,3)", "learned flows of table 3"),
        ("0 5 ip resubmit(,0)", "resubmits without end"),
        ("0 5 ip clone(exit),output:2", "action exit in a clone"),
    ],
)
def test_what_is_not_known_leaves_it_open(flow: str, why: str) -> None:
    """An action, a field or a header that nobody knows is named."""
    assert why == why_open(given(flow))


def test_an_unknown_field_decides_nothing_where_a_known_one_refuses() -> None:
    """A flow for UDP does not take TCP, whatever else it asks."""
    assert [2] == ports(send(given("0 5 udp,nsh_spi=7 drop", "0 1 any output:2")))


def test_flows_that_are_not_shown_leave_a_miss_open() -> None:
    """Where flows may be missing, none that takes the packet says nothing."""
    assert "flows of table 0 that are not shown" == why_open(given("0 5 arp drop", whole=False))


def test_connection_tracking_forks_the_packet() -> None:
    """`ct(table=N)` sends a copy on with what tracking says; the first goes on without."""
    tables = given("0 5 ip ct(table=1,zone=7),output:2", "1 5 ct_state=+new+trk,ct_zone=7 output:3")

    assert [2, 3] == ports(send(tables))


def test_groups_have_buckets() -> None:
    """`select` takes one bucket, `all` each; a bucket's changes end with it."""
    buckets = ("set_field:5->reg0,output:2", "output:3")
    flows = ("0 5 ip group:7,output:NXM_NX_REG0[]",)
    select, every = (
        given(*flows, groups={7: FlowGroup(kind, buckets)}) for kind in ("select", "all")
    )

    assert ([2, 0], [3, 0], [2, 3, 0]) == (
        ports(send(select)),
        ports(send(select, bucket=1)),
        ports(send(every)),
    )


def test_a_conjunction_takes_what_each_clause_takes() -> None:
    """Its id becomes a field when one flow of each clause takes the packet."""
    tables = given(
        "0 9 ip,nw_src=10.0.0.1 conjunction(4,1/2)",
        "0 9 tcp,tp_dst=80 conjunction(4,2/2)",
        "0 9 conj_id=4,ip output:2",
        "0 1 any drop",
    )

    assert ([2], []) == (ports(send(tables)), ports(send(tables, {**TCP, "tp_dst": 81})))
