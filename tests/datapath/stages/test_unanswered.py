"""Tests of what a host takes and leaves unanswered."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Dropped
from podpath.net.provenance import Known
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.walks import reasons


def given(**sysctls: str) -> Node:
    """Return a host of both families with some sysctls, spelled with `__` for dots."""
    known = {key.replace("__", "."): Known(value) for key, value in sysctls.items()}
    netns = given_netns(
        "host",
        "eth0 192.0.2.1/24",
        "eth0 2001:db8::1/64",
        routes=["default via 192.0.2.254 dev eth0"],
        netns={"sysctls": known},
    )
    return given_node(netns)


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("icmp 192.0.2.9 > 192.0.2.1 in eth0", "net.ipv4.icmp_echo_ignore_all"),
        ("icmp 2001:db8::9 > 2001:db8::1 in eth0", "net.ipv6.icmp.echo_ignore_all"),
    ],
)
def test_pings_that_the_host_ignores_end_there(asked: str, key: str) -> None:
    """Without the sysctl, or where it is 0, they are answered."""
    ignored = converse(given(**{key.replace(".", "__"): "1"}), probe(asked))
    answered = converse(given(**{key.replace(".", "__"): "0"}), probe(asked))

    assert "NEVER" == ignored.verdict
    assert f"the host ignores such echo requests: {key} is 1" in reasons(ignored.branches[0].last)
    assert ["ALWAYS", "ALWAYS"] == [answered.verdict, converse(given(), probe(asked)).verdict]


def test_a_ping_to_everybody_is_ignored_where_nothing_says_otherwise() -> None:
    """The kernel's own setting; a connection by TCP to the same address is answered by nobody,
    however the host is set up.
    """
    ping = converse(given(), probe("icmp 192.0.2.9 > 192.0.2.255 in eth0"))
    stream = converse(given(), probe("tcp 192.0.2.9 > 192.0.2.255:80 in eth0"))
    ends = [found.branches[0].last.outcome for found in (ping, stream)]

    assert ["NEVER", "NEVER"] == [ping.verdict, stream.verdict]
    assert ["INVALID_PROTO", ""] == [one.reason for one in ends if isinstance(one, Dropped)]


def test_other_packets_pass() -> None:
    """Pings are ignored, connections are not."""
    node = given(net__ipv4__icmp_echo_ignore_all="1")

    assert "ALWAYS" == converse(node, probe("tcp 192.0.2.9 > 192.0.2.1:22 in eth0")).verdict
