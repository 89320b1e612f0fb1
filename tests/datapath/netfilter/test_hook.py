"""Tests of a netfilter hook as a stage."""

from __future__ import annotations

import pytest

from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import ACCEPT, Accept
from podpath.datapath.tracing.trace import Dropped, Rejected, Undecided
from podpath.datapath.vocabulary import Hook
from podpath.node.netfilter import Netfilter
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_skb, given_walk, packet


def run(rule: str, hook: Hook = Hook.FORWARD, dst: str = "10.1.0.5") -> tuple[object, str]:
    """Run a rule at a hook; give the end and the source of the answer."""
    netfilter = {"netfilter": {4: Netfilter(tables=given_tables(given_rules(rule)), complete=True)}}
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24", "lxc1", netns=netfilter)))
    skb = given_skb(walk, packet("203.0.113.5", dst), "eth0")
    skb.oif = walk.engine.namespace("host").link("lxc1")
    ended = pass_hook(walk, skb, hook)
    return ended, str(skb.answer.src) if skb.answer is not None else ""


def test_a_packet_passes() -> None:
    """What no rule ends goes on."""
    assert isinstance(run("FORWARD -j ACCEPT")[0], Accept)
    assert ACCEPT == run("FORWARD -p udp -j DROP")[0]


@pytest.mark.parametrize(
    ("rule", "end"),
    [
        ("FORWARD -j DROP", Dropped(netns="host", reason="NETFILTER_DROP")),
        (
            "FORWARD -p tcp -j REJECT --reject-with tcp-reset",
            Rejected(netns="host", reason="NETFILTER_DROP", answer="tcp-reset"),
        ),
    ],
)
def test_a_rule_ends_it(rule: str, end: object) -> None:
    """DROP is silent, REJECT tells the sender."""
    assert end == run(rule)[0]


@pytest.mark.parametrize(
    ("hook", "dst", "source"),
    [(Hook.FORWARD, "10.1.0.5", "0.0.0.0"), (Hook.INPUT, "192.0.2.2", "192.0.2.2")],
)
def test_an_icmp_error_has_the_address_that_was_asked(hook: Hook, dst: str, source: str) -> None:
    """A REJECT by ICMP comes from the host's own address where the packet was for it; else routing
    chooses.
    """
    assert source == run(f"{hook} -j REJECT --reject-with icmp-port-unreachable", hook, dst)[1]


def test_what_is_not_followed_is_undecided() -> None:
    """A target whose effect is not modeled ends the walk as undecided."""
    ended, _ = run("FORWARD -p tcp -j SYNPROXY --mss 1460")

    assert isinstance(ended, Undecided)
