"""What a walk leaves behind in the connection tracking tables."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.net import protocols
from podpath.net.probe import Probe
from podpath.node.netfilter import ConntrackEntry, ConnTuple, Match, MatchOption, Target
from podpath.node.node import HOST
from podpath.testing.nodes import ip
from podpath_lab.cases.rules import make_rule
from podpath_lab.draft import Draft
from podpath_lab.topologies import routed_pods
from tests.datapath.given import Sender, given, given_rules, tcp

PROBE = Probe.parse("udp 10.1.0.2:40000 > 10.1.0.3:80 from pod1")


def tracked(target: str) -> Draft:
    """Make a node whose one rule looks at conntrack, and ends with a target."""
    draft = routed_pods().draft
    match = Match("conntrack", (MatchOption("ctstate", ("NEW",)),))
    draft.namespaces[HOST].table("filter", "nft").chains["FORWARD"].append(
        make_rule(Target(target), matches=(match,))
    )
    return draft


def test_an_answered_connection_leaves_an_entry_with_a_reply() -> None:
    """The host remembers both directions of what it forwarded."""
    branch = converse(tracked("ACCEPT").freeze(), PROBE).branches[0]
    (entry,) = branch.tracked[HOST]
    assert (entry.original.sport, entry.original.dport, entry.replied) == (40000, 80, True)


def test_a_dropped_first_packet_leaves_nothing() -> None:
    """An entry is confirmed only when its first packet has passed."""
    assert HOST not in converse(tracked("DROP").freeze(), PROBE).branches[0].tracked


def ports(*rules: str, taken: int = 0) -> tuple[int, ...]:
    """Return the ports that the kernel draws for a connection to the world."""
    entry = ConntrackEntry(
        original=ConnTuple(ip("10.244.0.9"), ip("198.51.100.7"), protocols.TCP, taken, 80),
        reply=ConnTuple(ip("198.51.100.7"), ip("192.0.2.1"), protocols.TCP, 80, taken),
        replied=True,
    )
    sender = Sender(given(given_rules(*rules, table="nat"), conntrack=(entry,) if taken else ()))
    sender.forward(tcp())
    return tuple(sender.walk.draws.ports.values())


def test_only_a_port_that_is_drawn_stands_for_another() -> None:
    """One that is kept does not; one that is taken is replaced, and a random one is any."""
    assert () == ports("POSTROUTING -j MASQUERADE")
    assert 1 == len(ports("POSTROUTING -j MASQUERADE", taken=40000))
    assert 1 == len(ports("POSTROUTING -j MASQUERADE --random-fully"))
    assert () == ports("PREROUTING -p tcp -j DNAT --to-destination 10.9.9.9:8080")
