"""Which listings of a namespace are whole."""

from __future__ import annotations

from podpath.node.case import Case
from tests.assembly.evidence_text import (
    Output,
    case_of,
    known,
)

ROUTES = """
default via 10.1.0.1 dev eth0
10.1.0.0/24 dev eth0 proto kernel scope link src 10.1.0.7
"""
KINDS = ("links", "addresses", "routes", "rules", "neighbours", "fdb")


def test_whole_listings(recorded: Case) -> None:
    """What unfiltered commands printed is whole; a command that stands there without output proves
    nothing, and what the text ends in may have gone on.
    """
    host, pod = recorded.node.host, recorded.node.namespaces["cni-5ad1"]
    assert {kind for kind in KINDS if getattr(host, kind).complete} == set(KINDS)
    assert {kind for kind in KINDS if getattr(pod, kind).complete} == set(KINDS) - {"neighbours"}
    assert host.sysctls_complete
    assert known(host.sysctls["net.ipv4.ip_forward"]) == "0"
    assert [True] == [gap.span.source.open_end for gap in recorded.gaps]
    assert recorded.alternatives == ()
    assert recorded.contradictions == ()


def test_another_table_leaves_routes_incomplete() -> None:
    """With a policy rule to a table that is not listed, the routes are not whole."""
    rules = """
    0:      from all lookup local
    9:      from all fwmark 0x1 lookup 77
    32766:  from all lookup main
    32767:  from all lookup default
    """
    case = case_of(Output("ip route", ROUTES), Output("ip rule", rules))
    assert case.node.host.rules.complete
    assert not case.node.host.routes.complete
