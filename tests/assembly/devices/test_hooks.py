"""Queueing disciplines and policies of IPsec, in the namespaces where they were shown."""

from __future__ import annotations

from podpath.node.node import HOST
from tests.assembly.evidence_text import Output, case_of, link_of

LINKS = """
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    prog/xdp id 17 name fence tag 0123456789abcdef
"""
QDISCS = "qdisc clsact ffff: dev eth0 parent ffff:fff1\nqdisc noqueue 0: dev gone root refcnt 2"
POLICIES = """
src 10.0.0.0/8 dst 192.0.2.2/32
	dir out action block priority 0 ptype main
src 0.0.0.0/0 dst 0.0.0.0/0
	socket in priority 0 ptype main
"""


def test_what_hangs_on_a_device_stands_on_it() -> None:
    """A program before the stack and a place for filters; what no link is shown for is nobody's."""
    host = case_of(Output("ip -d link", LINKS), Output("tc qdisc", QDISCS)).node.host
    link = link_of(host, "eth0")

    assert link.xdp
    assert [qdisc.kind for qdisc in link.qdiscs] == ["clsact"]
    assert link.qdiscs[0].span is not None
    assert "gone" not in {each.name for each in host.links.items}


def test_policies_of_single_sockets_are_left_out() -> None:
    """The others keep their selectors, and whether they block."""
    (policy,) = case_of(Output("ip xfrm policy", POLICIES)).node.namespaces[HOST].policies

    assert (str(policy.src), str(policy.dst), policy.direction) == (
        "10.0.0.0/8",
        "192.0.2.2",
        "out",
    )
    assert policy.blocks
