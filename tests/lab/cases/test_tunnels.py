"""Tunnels of generated cases: which kinds are drawn, and the devices that a twin makes of them."""

from __future__ import annotations

from random import Random

import pytest

from podpath.node.node import HOST
from podpath_lab.cases import tunnels
from podpath_lab.cases.generate import GeneratedCase, generate_case
from podpath_lab.cases.tunnels import draw_tunnel
from podpath_lab.script import emit_twin
from podpath_lab.topologies import bridged_pods, overlay


def lines(case: GeneratedCase) -> list[str]:
    """Return what makes the tunnel devices of a case's twin, on a kernel that has them."""
    commands = emit_twin(case.node, counted=True, tunnels=True).commands
    return [
        line
        for command in commands
        for line in command.stdin.splitlines()
        if line.startswith("link add flannel.1 ")
    ]


def test_a_kernel_without_them_has_the_cases_that_it_had() -> None:
    """No draw of a case depends on them, and no case without an overlay has one."""
    for seed in range(60):
        alone, drawn = generate_case(seed), generate_case(seed, kinds=tunnels.KINDS)
        changed = any("tunnel" in name for name in drawn.families)

        assert changed is (alone.node.host.links != drawn.node.host.links)
        assert drawn.probe == alone.probe
        assert not changed or drawn.topology == "vxlan between two nodes"


@pytest.mark.parametrize("kind", tunnels.KINDS)
def test_both_nodes_have_a_device_of_the_kind(kind: str) -> None:
    """Made where its own packets start, with the other node's address for its end or its gateway's
    for a route that names it.
    """
    cases = [generate_case(seed, kinds=(kind,)) for seed in range(300)]
    drawn = [case for case in cases if f"{kind} tunnel" in case.families]
    made = [lines(case) for case in drawn]

    assert len(drawn) > 10
    assert {2} == {len(each) for each in made}
    assert all(f" type {kind} " in line for each in made for line in each)
    assert all(case.node.host.fdb.items == () for case in drawn)
    ends = {" remote any" in line for each in made for line in each}
    assert ends == ({False, True} if kind == "ipip" else {False})


def test_where_the_device_names_no_end_the_route_does() -> None:
    """Without a remote end each route over the tunnel has the other node as its gateway."""
    for seed in range(40):
        topology = overlay()
        if not draw_tunnel(Random(seed), topology, ("ipip",)):
            continue
        host = topology.draft.namespaces[HOST]
        ends = host.link("flannel.1").ends
        [hop] = [hop for route in host.routes for hop in route.nexthops if hop.link == "flannel.1"]

        assert ends is not None
        assert (ends.remote is None) is (str(hop.gateway) == "172.31.0.20")
        assert not host.neighbours


def test_only_an_overlay_is_changed() -> None:
    """Pods on one node have no tunnel."""
    assert {""} == {draw_tunnel(Random(seed), bridged_pods(), tunnels.KINDS) for seed in range(20)}
    assert {""} == {draw_tunnel(Random(seed), overlay(), ("sit",)) for seed in range(20)}


def test_a_twin_for_any_kernel_leaves_them_out() -> None:
    """And says so."""
    case = next(
        case
        for seed in range(100)
        if (case := generate_case(seed, kinds=("gre",))).families & {"gre tunnel"}
    )

    assert "flannel.1 in host: a gre device has no twin here" in emit_twin(case.node).left_out
