"""Tests for the packet at a hook, and for doubts."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.netfilter.state import Doubt, HookState
from podpath.datapath.vocabulary import Hook
from podpath.net import protocols
from podpath.net.provenance import Listing
from podpath.node.node import Socket
from tests.datapath.given import Sender, given, tcp


def test_a_doubt_offers_its_likelier_answer_first() -> None:
    """A walk takes the first option unless told otherwise."""
    assert [True, False] == [option.value for option in Doubt("it rains", likely=True).options()]
    assert [False, True] == [option.value for option in Doubt("it rains", likely=False).options()]


def test_devices_are_names_at_a_hook() -> None:
    """Rules compare names; a device that is not there has an empty one."""
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(), iif=None, oif="eth0"), Hook.OUTPUT)

    assert ("", "eth0") == (state.in_name, state.out_name)


def test_sockets_at_a_port_are_those_of_the_packets_protocol() -> None:
    """DNS listens by UDP and TCP on one port."""
    own, other, elsewhere = (
        Socket(protocol=protocol, local=None, port=port)
        for protocol, port in (
            (protocols.TCP, 53),
            (protocols.UDP, 53),
            (protocols.TCP, 80),
        )
    )
    sender = Sender(given())
    skb = sender.skb(tcp())
    skb.netns = replace(skb.netns, sockets=Listing((elsewhere, other, own), True, "ss"))

    assert [own] == list(HookState(sender.walk, skb, Hook.INPUT).sockets_at(53))
