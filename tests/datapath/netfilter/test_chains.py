"""Tests for the walk through the chains of one table."""

from __future__ import annotations

import subprocess

import pytest

from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Queued
from podpath.datapath.reasons.boundaries import ChainsCircle, ChainsTooDeep
from podpath.datapath.reasons.rules import PolicyDecided
from podpath.datapath.tracing.exploration import Choices
from podpath.net.provenance import Known, Option, Unknown
from podpath.node.netfilter import Chain
from tests.datapath.given import Given, Sender, every_branch, given, given_rules, tcp, with_chain

ORDERED = ("A", "B", "C")


def verdict_of(node: Given, hook: str = "FORWARD") -> object:
    """Send a SYN through a hook."""
    sender = Sender(node)
    return sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), hook)


def matched_rules(node: Given, hook: str = "FORWARD") -> list[tuple[str, int]]:
    """Return the rules that a SYN matched at a hook, by chain and position."""
    sender = Sender(node)
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), hook)
    return [(hit.rule.chain, hit.rule.position) for hit in sender.walk.trace.matched]


def test_a_jump_comes_back_behind_its_rule() -> None:
    """A chain that decides nothing returns to the rule behind the jump."""
    node = given(
        given_rules(
            "FORWARD -j A", "FORWARD -j DROP", "A -j B", "A -p tcp", "B -p tcp", chains=ORDERED
        )
    )

    assert [("FORWARD", 1), ("A", 1), ("B", 1), ("A", 2), ("FORWARD", 2)] == matched_rules(node)


def test_return_leaves_the_chain_early() -> None:
    """RETURN goes on behind the jump, whatever stands behind it."""
    node = given(
        given_rules("FORWARD -j A", "FORWARD -p tcp", "A -j RETURN", "A -j DROP", chains=ORDERED)
    )

    assert [("FORWARD", 1), ("A", 1), ("FORWARD", 2)] == matched_rules(node)
    assert verdict_of(node) is ACCEPT


def test_return_in_a_base_chain_asks_the_policy() -> None:
    """RETURN in FORWARD leaves the packet to FORWARD's policy."""
    assert DROP == verdict_of(
        given(given_rules("FORWARD -j RETURN", "FORWARD -j ACCEPT", policy="DROP"))
    )


def test_goto_returns_to_the_callers_caller() -> None:
    """The chain that was gone to returns behind the jump that came before, not behind the goto."""
    node = given(
        given_rules(
            "FORWARD -j A", "FORWARD -p tcp", "A -g B", "A -j DROP", "B -p tcp", chains=ORDERED
        )
    )

    assert [("FORWARD", 1), ("A", 1), ("B", 1), ("FORWARD", 2)] == matched_rules(node)


def test_goto_from_a_base_chain_ends_at_its_policy() -> None:
    """Without a caller the policy of the base chain decides."""
    node = given(
        given_rules("FORWARD -g A", "FORWARD -j ACCEPT", "A -p tcp", policy="DROP", chains=ORDERED)
    )

    assert DROP == verdict_of(node)


def test_a_mark_does_not_end_the_table() -> None:
    """MARK goes on with the next rule, which sees the new mark."""
    rules = ("FORWARD -j MARK --set-xmark 0x1/0x1", "FORWARD -m mark --mark 0x1/0x1 -j DROP")

    assert DROP == verdict_of(given(given_rules(*rules)))


def test_a_changed_mark_picks_other_rules_of_a_long_chain() -> None:
    """Behind a rule that sets the mark, an indexed chain is looked up by the mark that the packet
    has then.
    """
    rules = [
        "FORWARD -j MARK --set-mark 0x7",
        *(
            f"FORWARD -m mark --mark {number:#x} -j MARK --set-mark {number + 1:#x}"
            for number in range(1, 40)
        ),
        "FORWARD -m mark --mark 0x28 -j DROP",
    ]

    assert DROP == verdict_of(given(given_rules(*rules)))


@pytest.mark.parametrize("rule", ["A -j A", "A -j B", "A -g B"])
def test_chains_that_call_each_other_end_undecided(rule: str) -> None:
    """A table that the kernel would refuse does not keep the walk for ever."""
    verdict = verdict_of(given(given_rules("FORWARD -j A", rule, "B -j A", chains=ORDERED)))

    assert isinstance(verdict, Queued)
    assert ChainsCircle() == verdict.reason


def test_a_chain_that_is_not_shown_forks() -> None:
    """A jump into a chain that the evidence leaves out may return, accept or drop; returning comes
    first.
    """
    node = given(given_rules("FORWARD -j HIDDEN", "FORWARD -j REJECT"), complete=False)

    assert {"Reject", "Accept", "Drop"} == every_branch(
        node, tcp(), "FORWARD", iif="cni0", oif="eth0"
    )
    assert "Reject" == type(verdict_of(node)).__name__


def test_an_unknown_target_forks() -> None:
    """A name that is neither chain nor extension of a whole table may do anything."""
    node = given(given_rules("FORWARD -j FROBNICATE", "FORWARD -j REJECT"))

    assert {"Reject", "Accept", "Drop"} == every_branch(
        node, tcp(), "FORWARD", iif="cni0", oif="eth0"
    )


def test_a_disputed_chain_is_walked_both_ways() -> None:
    """Where two outputs disagree about a chain, each is a branch."""
    node = given(given_rules("FORWARD -j A", "A -j DROP", chains=ORDERED))
    drops = node.netns.netfilter[4].tables[0].chains["A"]
    assert isinstance(drops, Known)
    empty = Chain(name="A", rules=())
    fact = Unknown(
        "chain A", "iptables -S A", (Option(drops.value, "before"), Option(empty, "after"))
    )

    assert {"Drop", "Accept"} == every_branch(
        with_chain(node, "A", fact), tcp(), "FORWARD", iif="cni0", oif="eth0"
    )


def test_a_partial_chain_is_an_assumption() -> None:
    """At the end of a chain that is shown in part, the branch says what it takes for granted."""
    node = given(given_rules("FORWARD -j A", "A -p udp", chains=ORDERED))
    shown = node.netns.netfilter[4].tables[0].chains["A"]
    assert isinstance(shown, Known)
    partial = Known(Chain(name="A", rules=shown.value.rules, complete=False))
    choices = Choices()
    sender = Sender(with_chain(node, "A", partial), choices)
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), "FORWARD")

    assert ["none of them matches"] == [assumption.meaning for assumption in choices.made]
    assert "chain A" in choices.made[0].fact


def test_an_unknown_policy_of_filter_forks() -> None:
    """What a base chain without a shown policy does at its end is not known, ACCEPT being
    likelier.
    """
    node = given(given_rules("FORWARD -p udp -j ACCEPT"))
    unknown = Known(Chain(name="FORWARD", rules=()))

    assert {"Accept", "Drop"} == every_branch(
        with_chain(node, "FORWARD", unknown), tcp(), "FORWARD"
    )
    assert verdict_of(with_chain(node, "FORWARD", unknown)) is ACCEPT


def test_a_policy_of_drop_names_its_chain() -> None:
    """The step of a packet that no rule decides on quotes the chain's own line."""
    sender = Sender(given(given_rules("FORWARD -p udp -j ACCEPT", policy="DROP")))
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), "FORWARD")
    step = sender.walk.trace.steps[-1]

    assert ("drop", PolicyDecided("filter", "FORWARD", False)) == (step.decision, step.reason)
    assert [":FORWARD DROP [0:0]"] == [span.text for span in step.spans]


def test_rules_that_only_count_make_no_step_and_are_kept() -> None:
    """Every matched rule is recorded; a table that decided nothing makes no step."""
    node = given(given_rules("FORWARD -p tcp", "FORWARD -p udp", "FORWARD -j LOG"))
    sender = Sender(node)
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), "FORWARD")

    assert [1, 3] == [hit.rule.position for hit in sender.walk.trace.matched]
    assert [] == sender.walk.trace.steps


def test_a_doubtful_rule_that_only_counts_does_not_fork() -> None:
    """A counter is not worth two branches."""
    choices = Choices()
    sender = Sender(
        given(
            given_rules(
                "FORWARD -m string --string x --algo bm", "FORWARD -m limit --limit 1/sec -j LOG"
            )
        ),
        choices,
    )
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), "FORWARD")

    assert [] == choices.made


def deep(levels: int, how: str = "-j") -> list[str]:
    """Make rules of chains that call or go to one another so deep below FORWARD, the last of which
    drops.
    """
    calls = [f"D{level} {how} D{level + 1}" for level in range(1, levels)]
    return [f"FORWARD {how} D1", *calls, f"D{levels} -j DROP"]


def tree(levels: int) -> list[str]:
    """Make a binary tree of chains: each calls the next twice, and behind all of them FORWARD
    drops.
    """
    calls = [f"D{level} -j D{level + 1}" for level in range(1, levels) for _ in range(2)]
    return ["FORWARD -j D1", *calls, f"D{levels} -j RETURN", "FORWARD -j DROP"]


SHAPES = (
    pytest.param(deep(15), "legacy", True, id="15 levels, legacy"),
    pytest.param(deep(5000), "legacy", True, id="5,000 levels, legacy"),
    pytest.param(tree(14), "legacy", True, id="2^13 jumps, legacy"),
    pytest.param(deep(15), "nft", True, id="15 levels, nft"),
    pytest.param(deep(16), "nft", False, id="16 levels, nft"),
    pytest.param(deep(17), "nft", False, id="17 levels, nft"),
    pytest.param(deep(15, "-g"), "nft", True, id="15 times goto, nft"),
    pytest.param(deep(16, "-g"), "nft", False, id="16 times goto, nft"),
    pytest.param(deep(40, "-g"), "legacy", True, id="40 times goto, legacy"),
    pytest.param(tree(14), "nft", True, id="2^13 jumps, nft"),
)


def chains_of(rules: list[str]) -> list[str]:
    """Return the names of the chains that rules stand in, without the base chain."""
    return [
        name
        for name in dict.fromkeys(rule.partition(" ")[0] for rule in rules)
        if name != "FORWARD"
    ]


@pytest.mark.parametrize(("rules", "flavour", "accepted"), SHAPES)
def test_chains_are_walked_as_the_kernel_loads_them(
    rules: list[str], flavour: str, *, accepted: bool
) -> None:
    """What the kernel loads is walked to its end; what it refuses is said to be refused."""
    text = given_rules(*rules, chains=chains_of(rules))
    verdict = verdict_of(given(text) if flavour == "nft" else given(legacy=text))

    assert (
        DROP is verdict
        if accepted
        else isinstance(verdict, Queued) and isinstance(verdict.reason, ChainsTooDeep)
    )


@pytest.mark.kernel("unshare", "iptables-nft-restore", "iptables-legacy-restore")
@pytest.mark.parametrize(("rules", "flavour", "accepted"), SHAPES)
def test_the_kernel_refuses_the_same_chains(
    rules: list[str], flavour: str, *, accepted: bool
) -> None:
    """The same rules are loaded in a network namespace of their own, or the kernel says that there
    are too many links.
    """
    text = "\n".join(
        [
            "*filter",
            ":FORWARD ACCEPT [0:0]",
            *(f":{name} -" for name in chains_of(rules)),
            *(f"-A {rule}" for rule in rules),
        ]
    )
    command = ["unshare", "--net", f"iptables-{flavour}-restore"]
    done = subprocess.run(
        command, input=f"{text}\nCOMMIT\n", capture_output=True, text=True, check=False, timeout=60
    )

    assert accepted is (done.returncode == 0), done.stderr
    assert accepted is ("Too many links" not in done.stderr)


def test_a_rule_that_changes_the_mark_is_not_met_again() -> None:
    """What the rules behind it match by is the new mark, and the chain goes on behind it."""
    node = given(
        given_rules(
            "PREROUTING -j MARK --set-xmark 0x1/0x0",
            "PREROUTING -m mark --mark 0x1 -j DROP",
            table="mangle",
        )
    )

    assert [("PREROUTING", 1), ("PREROUTING", 2)] == matched_rules(node, "PREROUTING")
