"""What the evidence holds whole."""

from __future__ import annotations

from dataclasses import replace

from podpath.diagnosis.holdings import AnsweringOutput, list_holdings
from podpath.node.case import Case
from podpath.testing.nodes import given_netns, given_node, listening
from tests.checks.nodes import netns, node
from tests.diagnosis.scenes import SYN, frame


def test_whole_listings_are_held_and_others_are_not() -> None:
    """Routes and rules that are listed whole are; connections that no output lists are not."""
    held = list_holdings(Case(node=node(netns("host"))))

    assert {AnsweringOutput.RULESET, AnsweringOutput.ROUTES} <= held
    assert AnsweringOutput.CONNTRACK not in held


def held(case: Case) -> frozenset[AnsweringOutput]:
    """Return what a case holds."""
    return list_holdings(case)


def test_a_sysctl_is_held_where_it_is_shown_or_all_are() -> None:
    """A listing in part holds only what it shows."""
    shown = given_netns(
        "host", sysctls={"net.ipv4.ip_forward": "1"}, netns={"sysctls_complete": False}
    )
    whole = given_netns("host")
    found = [held(Case(node=given_node(host))) for host in (shown, whole)]

    assert AnsweringOutput.IP_FORWARD in found[0]
    assert AnsweringOutput.RP_FILTER not in found[0]
    assert {AnsweringOutput.IP_FORWARD, AnsweringOutput.RP_FILTER} <= found[1]


def test_sockets_are_held_where_those_of_a_pod_are_listed() -> None:
    """The host's own say nothing of the pod that should listen."""
    listed = {"sockets": listening(80)}
    host, pod, last = (given_netns(name, netns=listed) for name in ("host", "a-pod", "z-pod"))

    assert AnsweringOutput.SOCKETS not in held(Case(node=given_node(host)))
    assert AnsweringOutput.SOCKETS in held(Case(node=given_node(pod)))
    assert AnsweringOutput.SOCKETS in held(Case(node=given_node(last)))


def test_two_captures_show_where_a_packet_was_lost() -> None:
    """One alone does not."""
    one, other = (frame("10.0.0.1:1 > 10.0.0.2:2", SYN, "in eth0", capture) for capture in (0, 1))
    case = Case(node=given_node(), sightings=(one, one))

    assert AnsweringOutput.CAPTURE not in held(case)
    assert AnsweringOutput.CAPTURE in held(replace(case, sightings=(one, other)))


def test_routes_are_held_only_with_the_rules_that_choose_among_tables() -> None:
    """Whole routes say nothing where a policy rule may look elsewhere, nor rules without routes."""
    host = given_netns("host")
    no_rules = replace(host, rules=host.rules._replace(complete=False))
    no_routes = replace(host, routes=host.routes._replace(complete=False))

    assert AnsweringOutput.ROUTES in held(Case(node=given_node(host)))
    assert AnsweringOutput.ROUTES not in held(Case(node=given_node(no_rules)))
    assert AnsweringOutput.ROUTES not in held(Case(node=given_node(no_routes)))
