"""Tests of reception: the device's state and handler, the MAC, PREROUTING, the route."""

from __future__ import annotations

import pytest

from podpath.datapath.stages.driver import drive
from podpath.datapath.stages.receive import addressed_to
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.trace import Outcome
from podpath.datapath.walk.skb import input_flow
from podpath.net.addresses import Mac, unseen_mac
from podpath.net.packet import Packet
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.report.sentences import spell_reason
from podpath.testing.nodes import Fields, forwarding, given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_skb, given_walk, host, packet, reason_of


def given(*devices: str, rules: str = "", **sysctls: str) -> Node:
    """Return a host with these devices beside eth0."""
    fields: Fields = {"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}}
    settings = {
        **forwarding(rp_filter="0"),
        **{f"net.ipv4.conf.all.{key}": value for key, value in sysctls.items()},
    }
    routes = ["10.1.0.0/16 dev lxc1", "default via 192.0.2.254 dev eth0"]
    return given_node(
        given_netns(
            "host",
            "eth0 192.0.2.2/24 mac 02:00:00:00:00:01",
            "lxc1",
            *devices,
            routes=routes,
            sysctls=settings,
            netns=fields,
        )
    )


def arrive(node: Node, what: Packet, device: str = "eth0") -> tuple[Outcome, list[str], list[str]]:
    """Let a packet come in; give the outcome, `stage: decision` of each step, and the reasons."""
    walk = given_walk(node)
    outcome = drive(walk, given_skb(walk, what, device), paths.RECEIVE)
    return (
        outcome,
        [f"{step.stage}: {step.decision}" for step in walk.trace.steps],
        [spell_reason(step.reason) for step in walk.trace.steps],
    )


@pytest.mark.parametrize(
    ("dmac", "reason"),
    [
        (None, ""),
        ("02:00:00:00:00:01", ""),
        ("02:00:00:00:00:99", "OTHERHOST"),
        ("ff:ff:ff:ff:ff:ff", ""),
    ],
)
def test_frames_for_others_are_dropped_before_prerouting(dmac: str | None, reason: str) -> None:
    """A frame for another host's MAC ends before any rule sees it."""
    node = given(rules=given_rules("PREROUTING -j ACCEPT", table="raw"))
    outcome, steps, _ = arrive(node, packet("203.0.113.5", "192.0.2.2", dmac=dmac))

    assert (reason, "ip receive: drop" if reason else "socket: deliver") == (
        reason_of(outcome),
        steps[-1],
    )


def test_a_device_that_is_down_receives_nothing() -> None:
    """What comes in on a device that is down is dropped."""
    outcome, _, why = arrive(given("eth9 down"), packet("203.0.113.5", "192.0.2.2"), "eth9")

    assert ("DEV_READY", "eth9 is down") == (reason_of(outcome), why[-1])


def test_a_slaves_frames_are_its_bonds() -> None:
    """What comes in on a slave goes on as from the bond, before IP sees it."""
    _, _, why = arrive(
        given("bond0 kind bond 10.9.0.1/24", "eth1 master bond0"),
        packet("10.9.0.9", "10.9.0.1"),
        "eth1",
    )

    assert (
        "eth1 is a port of bond0: its receive handler hands the frame on before IP sees it"
        == why[1]
    )


def test_rp_filter_is_a_step_of_its_own() -> None:
    """A refusal by the reverse path filter is told as such, with the setting."""
    outcome, steps, why = arrive(given(rp_filter="1"), packet("10.1.0.5", "203.0.113.9"))

    assert ("IP_RPFILTER", "rp_filter: drop") == (reason_of(outcome), steps[-1])
    assert (
        "the route back to 10.1.0.5 uses lxc1, not eth0; rp_filter is strict (the larger of "
        "all and eth0)"
    ) == why[-1]


def test_translation_comes_before_routing() -> None:
    """PREROUTING's new destination is the one that is routed."""
    nat = given_rules("PREROUTING -d 192.0.2.2/32 -j DNAT --to-destination 10.1.0.7", table="nat")
    _, steps, why = arrive(given(rules=nat), packet("203.0.113.5", "192.0.2.2"))

    assert steps.index("PREROUTING nat: dnat") < steps.index("route input: forward")
    assert "10.1.0.7 is forwarded out of lxc1" in why


def test_a_drop_in_prerouting_ends_it() -> None:
    """A rule may end the packet before routing."""
    outcome, _, _ = arrive(
        given(rules=given_rules("PREROUTING -j DROP", table="raw")),
        packet("203.0.113.5", "192.0.2.2"),
    )

    assert "NETFILTER_DROP" == reason_of(outcome)


def test_whose_frame_it_is() -> None:
    """A device takes its own MAC; where its MAC is not known, any single host's may be it."""
    walk = given_walk(given("new no-mac"))
    eth0, new = host(walk).link("eth0"), host(walk).link("new")
    one, other = Mac("02:00:00:00:00:01"), Mac("02:00:00:00:00:02")
    asked = [(eth0, one), (eth0, other), (new, other), (new, unseen_mac("10.0.0.9"))]

    assert [True, False, True, False] == [addressed_to(host(walk), *each) for each in asked]
    assert not addressed_to(host(walk), new, Mac("ff:ff:ff:ff:ff:ff"))


def test_input_routing_goes_by_addresses_mark_and_ports() -> None:
    """The flow of a packet has all that policy rules look at."""
    walk = given_walk(given())
    skb = given_skb(walk, packet("203.0.113.5", "192.0.2.2", tos=8), "eth0")
    skb.mark = 7
    flow = input_flow(skb, host(walk).link("eth0"))

    assert ("203.0.113.5", "192.0.2.2", "eth0", None, 7, 8, 6, 40000, 80) == (
        str(flow.src),
        str(flow.dst),
        *flow[2:9],
    )
