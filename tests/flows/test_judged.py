"""What becomes of a flow: certain where all of it is stated, undecided everywhere else."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.walk.compiled import Engine
from podpath.flows.judged import FlowState, FlowWalk, find_parting, walk_flow
from podpath.net.probe import Probe
from podpath.net.provenance import Gap
from podpath.node.case import Alternative, Case
from podpath.node.node import Node
from podpath.testing.nodes import span, unknown
from tests.flows.samples import given_sound_node

CONNECTS, REFUSED = (Probe.parse(f"tcp 10.1.0.2 > 10.2.0.2:{port}") for port in (80, 81))


def walk(node: Node, probe: Probe, **more: object) -> FlowWalk:
    """Walk a flow on a node."""
    return walk_flow(Case(node=node, **more), Engine(node), probe)  # type: ignore[arg-type]  # fields of Case


def with_forwarding(node: Node, *values: str) -> Node:
    """Let a node's forwarding switch be unknown."""
    fact = unknown("net.ipv4.ip_forward in netns host", *values)
    keys = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding")
    host = replace(node.host, sysctls={**node.host.sysctls, **dict.fromkeys(keys, fact)})
    return replace(node, namespaces={**node.namespaces, "host": host})


def test_what_is_stated_is_certain() -> None:
    """A whole node: one flow connects, the other is refused since nobody listens."""
    node = given_sound_node()

    assert FlowState.CONNECTS is walk(node, CONNECTS).state
    assert FlowState.FAILS is walk(node, REFUSED).state


def test_a_listing_that_is_not_shown_leaves_a_flow_open() -> None:
    """What was only taken for absent lets no flow pass."""
    node = given_sound_node()
    host = replace(node.host, nftables=node.host.nftables._replace(complete=False))
    partial = replace(node, namespaces={**node.namespaces, "host": host})

    assert FlowState.UNDECIDED is walk(partial, CONNECTS).state


def test_a_line_that_was_not_read_leaves_a_failing_flow_open() -> None:
    """It might have let the flow through: that it fails is no more certain than that it
    connects.
    """
    found = walk(given_sound_node(), REFUSED, gaps=(Gap(span("-A FORWARD"), "cut"),))

    assert FlowState.UNDECIDED is found.state
    assert found.forbids


def test_another_state_that_is_possible_leaves_a_failing_flow_open() -> None:
    """A flow that fails on the likeliest node and connects on another is undecided."""
    shut = given_sound_node()
    host = replace(shut.host, routes=shut.host.routes._replace(items=()))
    broken = replace(shut, namespaces={**shut.namespaces, "host": host})
    other = Alternative(
        fact="routes", meaning="as below", instead_of="as above", ask="ip route", node=shut
    )

    assert FlowState.FAILS is walk(broken, CONNECTS).state
    assert FlowState.UNDECIDED is walk(broken, CONNECTS, alternatives=(other,)).state


def test_an_unknown_fact_is_no_chance() -> None:
    """A flow that connects under one value of a fact and not under the other is undecided, and not
    a flow that connects sometimes.
    """
    found = walk(with_forwarding(given_sound_node(), "1", "0"), CONNECTS)

    assert FlowState.UNDECIDED is found.state


def test_the_first_step_that_differs_is_found() -> None:
    """Without a route the walk parts where the route decided."""
    sound = given_sound_node()
    host = replace(sound.host, routes=sound.host.routes._replace(items=()))
    broken = replace(sound, namespaces={**sound.namespaces, "host": host})
    before, after = walk(sound, CONNECTS).conversation, walk(broken, CONNECTS).conversation
    assert before is not None
    assert after is not None

    parted = find_parting(before, after)

    assert parted is not None
    assert "route input" == parted.stage
    assert find_parting(before, before) is None
