"""Tests for what almost saved a packet."""

from __future__ import annotations

from podpath.datapath.netfilter.near import MOST_MISSES
from podpath.datapath.reasons.near import MissedByOne
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.tracing.trace import NearMiss
from podpath.net import protocols
from podpath.node.netfilter import Netfilter
from podpath.report.sentences import spell_near
from tests.datapath.given import Sender, given, given_rules, tcp, with_netfilter

KUBE_FIRST = (
    "FORWARD -j KUBE-FORWARD",
    "FORWARD -j CILIUM_FORWARD",
    "KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP",
    "KUBE-FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT",
    "CILIUM_FORWARD -o cilium_host -j ACCEPT",
    "CILIUM_FORWARD -i lxc+ -j ACCEPT",
)


def misses(
    *rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = (), flags: int = protocols.SYN
) -> list[tuple[str, str]]:
    """Return the near misses of a segment from a pod: the line, and what is said of it."""
    near = near_misses(*rules, policy=policy, chains=chains, flags=flags)
    return [(miss.span.text.removeprefix("-A "), spell_near(miss.reason)) for miss in near]


def near_misses(
    *rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = (), flags: int = protocols.SYN
) -> tuple[NearMiss, ...]:
    """Return the near misses of a segment from a pod."""
    sender = Sender(given(given_rules(*rules, policy=policy, chains=chains)))
    skb = sender.skb(tcp(flags=flags), iif="lxc1", oif="eth0")
    sender.send(skb, "PREROUTING", "FORWARD")
    return sender.walk.trace.steps[-1].near


def test_a_rule_that_stands_too_late_is_named() -> None:
    """The rule that would have let the packet pass, had it come first, is found with the way to
    it.
    """
    found = misses(*KUBE_FIRST, chains=("KUBE-FORWARD", "CILIUM_FORWARD"), flags=0)

    assert (
        "FORWARD -j CILIUM_FORWARD",
        (
            "FORWARD rule 2 leads to CILIUM_FORWARD rule 2, which accepts it, but comes after the "
            "rule that decided"
        ),
    ) == found[0]


def test_a_rule_behind_the_drop_in_the_same_chain_is_named() -> None:
    """It need not stand in another chain."""
    found = misses("FORWARD -p tcp -j DROP", "FORWARD -j ACCEPT")

    assert (
        "FORWARD -j ACCEPT",
        "FORWARD rule 2 accepts it, but comes after the rule that decided",
    ) == found[0]


def test_a_rule_that_missed_by_one_condition_is_named() -> None:
    """An earlier ACCEPT for another port is near; one that differs in two ways is not."""
    found = near_misses(
        "FORWARD -s 10.244.0.0/16 -p tcp -m tcp --dport 443 -j ACCEPT",
        "FORWARD -s 192.0.2.0/24 -p tcp -m tcp --dport 443 -j ACCEPT",
        "FORWARD -i lxc+ -o cni0 -j RETURN",
        policy="DROP",
    )

    missed = [miss.reason for miss in found if isinstance(miss.reason, MissedByOne)]
    assert len(found) == len(missed)
    assert [(3, "-o cni0"), (1, "-m tcp --dport 443")] == [
        (reason.rule.position, reason.condition) for reason in missed
    ]


def test_looking_for_misses_leaves_nothing_behind() -> None:
    """Neither marks, matched rules nor assumptions of what might have been stay with the branch."""
    rules = (
        "FORWARD -j DROP",
        "FORWARD -j MARK --set-mark 0x9",
        "FORWARD -m string --string x --algo bm -j ACCEPT",
        "FORWARD -j HIDDEN",
    )
    node = given(given_rules(*rules))
    tables = tuple(node.netns.netfilter[4].tables)
    choices = Choices()
    sender = Sender(with_netfilter(node, Netfilter(tables=tables, complete=True)), choices)
    skb = sender.skb(tcp(), iif="lxc1", oif="eth0")
    sender.send(skb, "FORWARD")

    assert ([], 0, [1]) == (
        choices.made,
        skb.mark,
        [hit.rule.position for hit in sender.walk.trace.matched],
    )


def test_a_packet_that_passes_has_no_misses() -> None:
    """Only the end of a packet is worth the search."""
    assert [] == misses("FORWARD -p udp -j DROP", "FORWARD -j ACCEPT")


def test_no_more_misses_are_told_than_a_reader_takes_in() -> None:
    """The nearest to the end come first, in a chain long enough to have an index, too."""
    rules = [f"FORWARD -p tcp -m tcp --dport {port} -j ACCEPT" for port in range(1000, 1020)]
    found = near_misses(*rules, policy="DROP")

    assert MOST_MISSES == len(found)
    assert "--dport 1019 " in found[0].span.text
