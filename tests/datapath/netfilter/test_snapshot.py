"""Tests for trying a table and taking it back."""

from __future__ import annotations

from podpath.datapath.netfilter import snapshot
from podpath.datapath.netfilter.hooks import traverse
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.vocabulary import Hook
from tests.datapath.given import Sender, given, given_rules, tcp


def test_a_restored_packet_is_as_it_was() -> None:
    """Marks, translations and matched rules of a trial are gone."""
    nat = given_rules(
        "PREROUTING -j MARK --set-mark 0x1",
        "PREROUTING -j DNAT --to-destination 10.244.0.9",
        table="nat",
    )
    sender = Sender(given(nat))
    skb = sender.skb(tcp())
    state = HookState(sender.walk, skb, Hook.PREROUTING)
    before = snapshot.take(state)
    traverse(sender.walk, skb, Hook.PREROUTING)
    changed = snapshot.take(state)
    snapshot.restore(state, before)

    assert changed.differs(before)
    assert before == snapshot.take(state)


def test_a_connection_gets_its_tuples_back() -> None:
    """What a trial bound is bound no more."""
    raw = given_rules("PREROUTING -m conntrack --ctstate NEW", table="mangle")
    nat = given_rules("POSTROUTING -j SNAT --to-source 192.0.2.9", table="nat")
    sender = Sender(given(raw, nat))
    skb = sender.skb(tcp(), oif="eth0")
    sender.send(skb, "PREROUTING")
    connection = skb.connection
    assert connection is not None
    reply = connection.reply
    state = HookState(sender.walk, skb, Hook.POSTROUTING)
    before = snapshot.take(state)
    sender.send(skb, "POSTROUTING")
    assert reply != connection.reply
    snapshot.restore(state, before)

    assert (reply, False, False) == (connection.reply, connection.src_nat, connection.src_nat_done)
