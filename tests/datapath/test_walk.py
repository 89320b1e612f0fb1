"""Tests of one packet's walk."""

from __future__ import annotations

from podpath.datapath.compiled import Engine
from podpath.datapath.trace import Delivered, Transmitted
from podpath.datapath.walk import walk, walk_all
from podpath.testing.nodes import given_netns, given_node, probe

NODE = given_node(given_netns("host", "eth0 192.0.2.2/24", "eth1", complete=False))


def test_the_first_packet_is_walked_under_the_likeliest_answers() -> None:
    """The trace says where the packet began and how it ended."""
    trace = walk(NODE, probe("tcp 192.0.2.2 > 8.8.8.8:80"))

    assert ("SYN", "original", "host", "eth0") == (
        trace.name, trace.direction, trace.start, trace.outcome.link if isinstance(trace.outcome, Transmitted) else "",
    )  # fmt: skip


def test_settled_facts_count() -> None:
    """A fact that is settled has its value."""
    trace = walk(NODE, probe("tcp 192.0.2.2 > 8.8.8.8:80"), settled={"route to 8.8.8.8 in netns host": "eth1"})

    assert "eth1" == (trace.outcome.link if isinstance(trace.outcome, Transmitted) else "")


def test_all_branches_can_be_walked() -> None:
    """Every answer to what is not known gives a trace."""
    found = walk_all(Engine(NODE), probe("udp 192.0.2.2 > 8.8.8.8:53"))

    assert 3 == len(found.results)
    assert walk(NODE, probe("udp 192.0.2.2 > 8.8.8.8:53")) == found.results[0]


def test_a_packet_may_come_in_on_a_device() -> None:
    """A probe that names a device is received there."""
    assert isinstance(walk(NODE, probe("icmp 192.0.2.9 > 192.0.2.2 in eth0")).outcome, Delivered)
