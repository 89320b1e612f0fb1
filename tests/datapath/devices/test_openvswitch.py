"""Tests of Open vSwitch: bonds, internal ports, and what the host sends straight to a slave."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.devices.openvswitch import (
    bridge_of,
    internal_ports,
    is_internal,
    system_ports,
)
from podpath.datapath.reasons.bridges import Switched
from podpath.datapath.tracing.trace import Dropped, Transmitted
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, given_ovs, probe
from tests.datapath.walks import given_walk, host, reasons

SWITCH = given_ovs("br-bond", "br-bond", "mgnt", "bond1: eth0 eth1", active="eth1")


def given(*routes: str) -> Node:
    """Return a host whose address is on an internal port above a bond."""
    devices = (
        "eth0 slave bond1",
        "eth1 master ovs-system",
        "br-bond kind openvswitch",
        "mgnt kind openvswitch 10.6.1.196/24",
    )
    return given_node(
        given_netns(
            "host",
            *devices,
            routes=[*routes, "default via 10.6.1.194 dev mgnt"],
            sysctls=forwarding(),
        ),
        ovs=(SWITCH,),
    )


def test_what_the_host_sends_leaves_by_the_active_slave_with_its_own_mac() -> None:
    """A packet of an internal port is switched to the bond's active slave; the answer finds its way
    back by the MAC.
    """
    found = converse(given(), probe("tcp 10.6.1.196 > 203.0.113.9:80"))
    outcome = found.branches[0].traces[0].outcome

    assert ("ALWAYS", "eth1", "(MAC of mgnt in host)") == (
        (found.verdict, outcome.link, outcome.packet.smac)
        if isinstance(outcome, Transmitted)
        else ""
    )
    answer = [step.reason for step in found.branches[0].traces[1].steps]
    assert Switched("br-bond", "eth1", "mgnt") in answer


def test_a_route_to_a_slave_sends_with_the_slaves_mac_and_the_answer_is_lost() -> None:
    """What is routed straight to a slave leaves with the slave's MAC; what comes back to that MAC
    reaches no internal port.
    """
    found = converse(given("169.254.0.0/16 dev eth1"), probe("tcp 10.6.1.196 > 169.254.169.254:80"))
    first, second = found.branches[0].traces

    assert (
        "it leaves the node on eth1 with eth1's own MAC (MAC of eth1 in host), though eth1 is "
        "a port of ovs-system"
    ) == reasons(first)[-1]
    assert ("NEVER", "OTHERHOST") == (
        found.verdict,
        second.outcome.reason if isinstance(second.outcome, Dropped) else "",
    )


def test_internal_ports_reach_each_other_inside() -> None:
    """A frame for another internal port's MAC does not leave the node."""
    devices = (
        "a kind openvswitch 10.0.0.1/24",
        "b kind openvswitch 10.0.1.1/24 mac 02:00:00:00:00:0b",
        "eth0 master ovs-system",
    )
    entry = "10.0.0.9 dev a lladdr 02:00:00:00:00:0b PERMANENT"
    node = given_node(
        given_netns("host", *devices, neighbours=[entry]), ovs=(given_ovs("br", "a", "b", "eth0"),)
    )
    trace = converse(node, probe("tcp 10.0.0.1 > 10.0.0.9:80")).branches[0].traces[0]

    assert "it comes in on b" in reasons(trace)


def test_a_port_of_a_switch_that_is_not_listed() -> None:
    """Without `ovs-vsctl show` nobody knows where the switch sends a frame."""
    node = given_node(given_netns("host", "eth0 master ovs-system", sysctls=forwarding()))

    assert "UNDECIDED" == converse(node, probe("tcp 203.0.113.9 > 10.6.1.196:80 in eth0")).verdict


def test_which_ports_are_the_hosts() -> None:
    """An internal port is the host's own; a device that the switch took over, or one of several of
    a port, is not.
    """
    walk = given_walk(given())
    links = {name: host(walk).link(name) for name in ("eth0", "eth1", "br-bond", "mgnt")}

    assert [False, False, True, True] == [is_internal(SWITCH, link) for link in links.values()]
    assert (["mgnt"], ["eth1"]) == (
        [link.name for link in internal_ports(host(walk), SWITCH)],
        [link.name for link in system_ports(host(walk), SWITCH)],
    )
    assert (SWITCH, None) == (
        bridge_of(walk.engine.node, links["eth0"]),
        bridge_of(walk.engine.node, host(walk).link("lo")),
    )


def test_a_host_outside_is_behind_all_ports_of_the_switch() -> None:
    """What comes in on one slave may be answered by the other; and a route by the internal port
    leads to the slaves.
    """
    devices = ("mgmt0 kind tun mac 02:00:00:00:00:0a 10.0.0.1/24", "p1 kind veth", "p2 kind veth")
    node = given_node(
        given_netns("host", *devices), ovs=(given_ovs("sw", "bond: p1 p2", "mgmt0", active="p2"),)
    )

    assert "ALWAYS" == converse(node, probe("icmp 10.0.0.9 > 10.0.0.1 in p1")).verdict
    assert (
        "it comes in on p2"
        == reasons(converse(node, probe("icmp 10.0.0.9 > 10.0.0.1")).branches[0].traces[0])[0]
    )
