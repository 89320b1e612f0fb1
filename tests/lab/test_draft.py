"""A node under construction, frozen."""

from __future__ import annotations

from podpath.net.provenance import Known
from podpath.node.routing import LOCAL
from podpath_lab.draft import Draft
from podpath_lab.topologies import TOPOLOGIES, bridged_pods


def test_frozen_draft_has_the_routes_that_the_kernel_makes_of_addresses() -> None:
    """An address implies its local route, its subnet's route and the subnet's broadcast address."""
    host = bridged_pods().draft.freeze().host
    implied = {(str(route.prefix), route.type) for route in host.routes.items if route.inferred}
    assert {
        ("10.1.0.1", "local"),
        ("10.1.0.0/24", "unicast"),
        ("10.1.0.255", "broadcast"),
    } <= implied
    assert all(
        route.table == LOCAL
        for route in host.routes.items
        if route.inferred and route.type != "unicast"
    )


def test_both_ends_of_a_pair_know_each_other() -> None:
    """Each veth end names the other, and their MACs differ."""
    draft = Draft()
    for name in ("host", "pod"):
        draft.add_netns(name)
    draft.connect("host", "veth1", "pod", "eth0", 5)
    outer, inner = draft.namespaces["host"].link("veth1"), draft.namespaces["pod"].link("eth0")
    assert isinstance(outer.peer, Known)
    assert isinstance(inner.peer, Known)
    assert (outer.peer.value.netns, outer.peer.value.link) == ("pod", "eth0")
    assert (inner.peer.value.netns, inner.peer.value.link) == ("host", "veth1")
    assert outer.mac != inner.mac


def test_every_topology_knows_all_that_a_walk_may_ask() -> None:
    """No listing of a drafted node is open, so no walk on it meets an unknown fact."""
    for make in TOPOLOGIES:
        for netns in make().draft.freeze().namespaces.values():
            assert netns.links.complete
            assert netns.routes.complete
            assert netns.sysctls_complete
