"""What a walk leaves behind in the connection tracking tables."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.net.probe import Probe
from podpath.node.netfilter import Match, MatchOption, Target
from podpath.node.node import HOST
from podpath_lab.cases.rules import make_rule
from podpath_lab.draft import Draft
from podpath_lab.topologies import routed_pods

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
