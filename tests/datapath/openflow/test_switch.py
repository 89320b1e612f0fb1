"""Frames through an Open vSwitch bridge whose flows are shown, as Antrea and OVN-Kubernetes have
it: pods are ports, the host is behind an internal one.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.bridges import DroppedByFlows, SentByFlows
from podpath.datapath.tracing.trace import Conversation, Step, Undecided
from podpath.net.provenance import Source, Span
from podpath.node.links import OvsBridge
from podpath.node.node import Node
from podpath.node.openflow import FlowEntry, OpenFlow
from podpath.testing.nodes import forwarding, given_netns, given_node, given_ovs, probe

A, B, GATEWAY = "02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:01"
LOCAL = "br-int kind openvswitch", f"gw0 kind openvswitch mac {GATEWAY} 10.1.0.1/24"
TRACKED = (
    "0 200 in_port=2 ct(table=1,zone=100)",
    "0 200 in_port=3 ct(table=1,zone=100)",
    "1 200 ct_state=+inv+trk drop",
    "1 190 ct_state=+est+trk resubmit(,3)",
    "2 0 any drop",
    f"3 200 dl_dst={A} output:2",
    f"3 200 dl_dst={B} output:3",
    f"3 200 dl_dst={GATEWAY} output:1",
)
"""Tables of a bridge that drops by default: classifier, connections, policy, forwarding."""
ALLOW = "1 100 ct_state=+new+trk,tcp,tp_dst=80 ct(commit,table=3,zone=100)"
DENY = "1 90 ct_state=+new+trk drop"


def given(*flows: str, whole: bool = True, openflow: bool = True) -> Node:
    """Return a host with two pods on a bridge; a flow is `TABLE PRIORITY MATCH ACTIONS`."""
    source = Source(name="flows", lines=flows, command="ovs-ofctl dump-flows br-int")
    entries = []
    for line, flow in enumerate(flows, 1):
        table, priority, match, actions = flow.split(" ", 3)
        asked = tuple(part.partition("=")[::2] for part in match.split(",") if part != "any")
        span = Span(source, line, line)
        entries.append(FlowEntry(int(table), int(priority), asked, actions, span))
    numbers = {"gw0": 1, "pod-a": 2, "pod-b": 3}
    shown = OpenFlow(flows=tuple(entries), complete=whole, ports=numbers)
    bridge: OvsBridge = replace(
        given_ovs("br-int", "br-int", "gw0", "pod-a", "pod-b"), openflow=shown if openflow else None
    )
    return given_node(
        given_netns(
            "host", *LOCAL, "pod-a master ovs-system peer a:eth0",
            "pod-b master ovs-system peer b:eth0", sysctls=forwarding(),
        ),
        *(
            given_netns(
                name, f"eth0 mac {mac} {address}/24 peer host:pod-{name}",
                routes=["default via 10.1.0.1 dev eth0"],
            )
            for name, mac, address in (("a", A, "10.1.0.2"), ("b", B, "10.1.0.3"))
        ),
        ovs=(bridge,),
    )  # fmt: skip


def deciding(found: Conversation) -> Step:
    """Return the step that ended the conversation's likeliest branch."""
    return found.branches[0].last.deciding


def test_a_connection_that_policy_allows() -> None:
    """The SYN is new and committed, its answer established in the same zone: all by flows."""
    found = converse(given(*TRACKED, ALLOW, DENY), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a"))
    sent = [step.reason for step in found.branches[0].steps if isinstance(step.reason, SentByFlows)]

    assert "ALWAYS" == found.verdict
    assert [(0, 1, 3), (0, 1, 3)] == [reason.tables for reason in sent[:2]]
    assert [("pod-a", "pod-b"), ("pod-b", "pod-a")] == [(one.source, one.port) for one in sent[:2]]


def test_a_flow_that_drops_is_quoted() -> None:
    """The line of the flow that decided stands first."""
    found = converse(given(*TRACKED, ALLOW, DENY), probe("tcp 10.1.0.2 > 10.1.0.3:81 from a"))
    step = deciding(found)

    assert "NEVER" == found.verdict
    assert DroppedByFlows("br-int", "pod-a", (0, 1), False) == step.reason
    assert DENY == step.spans[0].text


def test_no_flow_of_a_table() -> None:
    """What no flow of a table takes is dropped, if all are shown; else nobody knows."""
    flows = ("0 9 in_port=2 resubmit(,7)",)
    whole, part = (
        converse(given(*flows, whole=shown), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a"))
        for shown in (True, False)
    )

    assert DroppedByFlows("br-int", "pod-a", (0, 7), True) == deciding(whole).reason
    assert isinstance(part.branches[0].last.outcome, Undecided)


def test_a_part_of_the_flows_decides_nothing() -> None:
    """A flow with a higher priority may be among those that are not shown."""
    node = given("0 9 in_port=2 output:3", "0 9 in_port=3 output:2", whole=False)
    last = converse(node, probe("tcp 10.1.0.2 > 10.1.0.3:80 from a")).branches[0].last

    assert isinstance(last.outcome, Undecided)


def test_the_answer_that_nothing_committed_is_new() -> None:
    """A SYN that is sent on without `commit` leaves no connection: its answer is new, and policy
    drops it.
    """
    allowed = ALLOW.replace("ct(commit,table=3,zone=100)", "resubmit(,3)")
    found = converse(given(*TRACKED, allowed, DENY), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a"))

    assert ("NEVER", "SYN-ACK") == (found.verdict, found.branches[0].last.name)


def test_a_service_is_translated_and_its_answer_back() -> None:
    """`ct(nat(dst=...))` sends the SYN to an endpoint; the answer gets the service's address."""
    service = (
        "1 110 ct_state=+new+trk,tcp,nw_dst=10.96.0.9,tp_dst=80 "
        "ct(commit,table=3,zone=100,nat(dst=10.1.0.3:8080),exec(load:1->NXM_NX_CT_MARK[]))"
    )
    flows = [flow.replace("zone=100)", "zone=100,nat)") for flow in TRACKED]
    flows += [service, f"3 210 ip,nw_dst=10.1.0.3 mod_dl_dst:{B},output:3",
              f"3 210 ip,nw_dst=10.1.0.2 mod_dl_dst:{A},output:2"]  # fmt: skip
    found = converse(given(*flows, DENY), probe("tcp 10.1.0.2 > 10.96.0.9:80 from a"))
    first = found.branches[0].traces[0].outcome

    assert "ALWAYS" == found.verdict, deciding(found)
    assert "10.1.0.3" in str(getattr(first, "packet", ""))


def test_what_a_controller_decides_is_open() -> None:
    """A flow that hands the packet to a program ends the walk by name."""
    flow = "0 9 in_port=2 controller(userdata=00.01)"
    outcome = converse(given(flow), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a")).branches[0]

    assert isinstance(outcome.last.outcome, Undecided)
    assert "ofproto/trace br-int" in outcome.last.outcome.ask
    assert flow == outcome.last.deciding.spans[0].text


def test_normal_switches_by_mac() -> None:
    """The action NORMAL, and a bridge whose flows nobody shows, switch from pod to pod by MAC."""
    normal = converse(given("0 0 any NORMAL"), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a"))
    plain = converse(given(openflow=False), probe("tcp 10.1.0.2 > 10.1.0.3:80 from a"))

    assert ["ALWAYS", "ALWAYS"] == [normal.verdict, plain.verdict]


def test_a_program_s_bridge_without_its_flows() -> None:
    """Where a controller, and nobody's MAC table, decides, a listing without flows decides
    nothing.
    """
    node = given(openflow=False)
    line = Span(Source(name="show", lines=("fail_mode: secure",)), 1, 1)
    held = replace(node, ovs=(replace(node.ovs[0], program=line),))
    last = converse(held, probe("tcp 10.1.0.2 > 10.1.0.3:80 from a")).branches[0].last

    assert isinstance(last.outcome, Undecided)
    assert (line,) == last.deciding.spans


def test_patch_ports_lead_to_another_bridge() -> None:
    """What leaves by a patch port goes through the flows of the bridge behind it, without registers
    and marks of connection tracking.
    """
    inner = given("0 9 in_port=2 load:5->NXM_NX_REG0[],output:9")
    shown = inner.ovs[0].openflow
    assert shown is not None
    first = replace(
        inner.ovs[0],
        patches={"to-ex": "to-int"},
        openflow=replace(shown, ports={**shown.ports, "to-ex": 9}),
        ports={name: held for name, held in inner.ovs[0].ports.items() if name != "pod-b"},
    )
    behind = OpenFlow(
        flows=(
            FlowEntry(0, 9, (("in_port", "4"), ("reg0", "0")), "output:1"),
            FlowEntry(0, 1, (), "NORMAL"),
        ),
        complete=True,
        ports={"to-int": 4, "pod-b": 1},
    )
    other = replace(
        given_ovs("br-ex", "br-ex", "pod-b", "to-int"), openflow=behind, patches={"to-int": "to-ex"}
    )
    node = replace(inner, ovs=(first, other))
    steps = converse(node, probe("tcp 10.1.0.2 > 10.1.0.3:80 from a")).branches[0].traces[0].steps

    assert [("br-ex", "pod-b")] == [
        (step.reason.bridge, step.reason.port)
        for step in steps
        if isinstance(step.reason, SentByFlows)
    ]
