"""Tests of the packet under way."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.conntrack.connection import Template, Zone
from podpath.datapath.vocabulary import CtInfo
from podpath.datapath.walk.skb import (
    attached,
    forget_connection,
    input_flow,
    is_untouched,
    output_flow,
)
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.walks import given_skb, given_walk, host, packet


def test_a_template_hangs_on_a_packet_until_conntrack_sees_it() -> None:
    """It counts as a confirmed connection of zeros, and no later rule may say something else."""
    skb = given_skb(given_walk(given_node()), packet("10.0.0.1", "10.0.0.2"))
    assert (attached(skb), is_untouched(skb)) == (None, True)
    skb.template = Template(Zone(7))
    held = attached(skb)
    assert (held is not None and held.confirmed, is_untouched(skb)) == (True, False)


def test_what_is_invalid_may_be_marked_again() -> None:
    """Nothing hangs on an invalid packet; one that a rule keeps from conntrack is not asked for
    again.
    """
    skb = given_skb(given_walk(given_node()), packet("10.0.0.1", "10.0.0.2"))
    seen = {}
    for state in (CtInfo.INVALID, CtInfo.UNTRACKED):
        skb.ctinfo = state
        seen[state] = is_untouched(skb)
    assert seen == {CtInfo.INVALID: True, CtInfo.UNTRACKED: False}


def test_what_hung_on_a_packet_is_forgotten() -> None:
    """In another namespace it is a packet that nobody has seen."""
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.1/24")))
    skb = given_skb(walk, packet("10.0.0.1", "10.0.0.2"), "eth0")
    skb.ctinfo, skb.reply = CtInfo.RELATED, True
    forget_connection(skb)

    assert (CtInfo.NOT_SEEN, False, None) == (skb.ctinfo, skb.reply, skb.connection)


def test_a_packet_is_routed_by_what_it_is() -> None:
    """What comes in by its device, what is sent by its owner: root where nobody else is named."""
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.1/24")))
    skb = given_skb(walk, packet("10.0.0.1", "10.0.0.2"), "eth0")
    link = host(walk).link("eth0")
    owned = output_flow(replace(skb, uid=1000), None)

    assert ("eth0", 0) == (input_flow(skb, link).iif, output_flow(skb, None).uid)
    assert (None, 1000) == (owned.src, owned.uid)
