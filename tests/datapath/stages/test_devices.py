"""Tests of what each kind of device does with a frame."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.stages import devices
from podpath.datapath.tracing.trace import Delivered, Transmitted
from podpath.datapath.vocabulary import BoundaryName, Reachability
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.walks import last, reason_at_end, reason_of, reasons

OUT = probe("tcp 10.0.0.1 > 10.0.0.9:80")


def given(*devices: str) -> Node:
    """Return a host with these devices."""
    return given_node(given_netns("host", *devices))


def test_hardware_sends_out_of_the_node() -> None:
    """A device of no special kind leads out."""
    outcome = converse(given("eth0 10.0.0.1/24"), OUT).branches[0].traces[0].outcome

    assert ("host", "eth0") == (
        (outcome.netns, outcome.link) if isinstance(outcome, Transmitted) else ()
    )


def test_a_bond_sends_by_a_slave_with_its_own_mac() -> None:
    """A bond's packets leave with the bond's MAC on the first slave that is up."""
    found = converse(
        given("bond0 kind bond 10.0.0.1/24", "eth0 master bond0 down", "eth1 master bond0"), OUT
    )

    assert "bond0 sends it through its slave eth1, with the MAC of bond0" in reasons(
        found.branches[0].traces[0]
    )
    assert "ALWAYS" == found.verdict


def test_a_route_to_a_slave_is_noted() -> None:
    """What is routed straight to a slave leaves with the slave's own MAC, and the step says so."""
    found = converse(given("bond0 kind bond", "eth1 master bond0 10.0.0.1/24"), OUT)

    assert (
        "it leaves the node on eth1 with eth1's own MAC (MAC of eth1 in host), though eth1 is "
        "a port of bond0"
    ) == reasons(found.branches[0].traces[0])[-1]


def test_a_vlan_sends_by_the_device_below() -> None:
    """A VLAN on hardware leads out of the node."""
    outcome = (
        converse(given("eth0", "eth0.10 kind vlan lower eth0 10.0.0.1/24"), OUT)
        .branches[0]
        .traces[0]
        .outcome
    )

    assert "eth0.10" == (outcome.link if isinstance(outcome, Transmitted) else "")


@pytest.mark.parametrize("kind", devices.UNFOLLOWED)
def test_a_tunnel_that_is_not_followed_is_named(kind: str) -> None:
    """What is sent into it neither arrives nor is lost for certain."""
    found = converse(given(f"t0 kind {kind} 10.0.0.1/24"), OUT)

    assert found.verdict is Reachability.UNDECIDED
    assert BoundaryMet(BoundaryName.TUNNEL, ("t0", kind)) == reason_at_end(found.branches[0].last)


def test_a_dummy_swallows() -> None:
    """What is sent on a dummy device is gone."""
    found = converse(given("d0 kind dummy 10.0.0.1/24"), OUT)

    assert ("NEVER", "d0 is a dummy device: it discards what it sends") == (
        found.verdict,
        reasons(last(found))[-1],
    )


def test_a_device_that_is_down_sends_nothing() -> None:
    """A listed route over a device that is down leads nowhere."""
    found = converse(
        given_node(given_netns("host", "eth0 10.0.0.1/24 down", routes=["10.0.0.0/24 dev eth0"])),
        OUT,
    )

    assert ("NEVER", "DEV_READY") == (found.verdict, reason_of(last(found).outcome))


def test_what_is_for_the_host_loops_over_lo() -> None:
    """A packet for an own address comes back in on `lo` with empty MACs."""
    trace = (
        converse(given("eth0 10.0.0.1/24"), probe("tcp 10.0.0.1 > 10.0.0.1:80"))
        .branches[0]
        .traces[0]
    )

    assert isinstance(trace.outcome, Delivered)
    assert ("it comes back in on lo", "00:00:00:00:00:00") == (
        reasons(trace)[1],
        trace.steps[1].after.smac,
    )
