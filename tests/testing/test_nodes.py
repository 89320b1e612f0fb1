"""Nodes in iproute2's words."""

from __future__ import annotations

import pytest

from podpath.net.provenance import Known
from podpath.testing.nodes import (
    forwarding,
    given_netns,
    given_node,
    given_route,
    given_rule,
    ip,
    with_sysctl,
)

HOST = given_netns(
    "host",
    "eth0 10.0.0.1/24 mtu 1400",
    routes=["default via 10.0.0.254 dev eth0"],
    sysctls=forwarding(),
)


def test_words_become_facts_with_their_span() -> None:
    """Each fact quotes the words that it was given in; connected routes come with addresses."""
    node = given_node(HOST)
    (link,) = node.host.links.items
    connected, default = node.host.routes.items

    assert (1400, "eth0 10.0.0.1/24 mtu 1400") == (link.mtu, link.span.text if link.span else "")
    assert (ip("10.0.0.1"), ip("10.0.0.254")) == (connected.prefsrc, default.nexthops[0].gateway)
    assert isinstance(node.host.sysctls["net.ipv4.ip_forward"], Known)


def test_nodes_are_changed_by_copies() -> None:
    """A sysctl that is set leaves the first node as it was."""
    node = given_node(HOST)
    after = with_sysctl(node, "net.ipv4.ip_forward", "0")
    values = [str(one.host.sysctls["net.ipv4.ip_forward"][0]) for one in (node, after)]

    assert ["1", "0"] == values


def test_words_that_no_grammar_has_are_refused() -> None:
    """A slip in a test is an error, not a fact that is missing."""
    with pytest.raises(KeyError):
        given_route("default by 10.0.0.254")
    assert 200 == given_rule("100: from 10.0.0.0/8 lookup 200").table
