"""Tests for tables at hooks: the step that a table makes, and both flavours of one table."""

from __future__ import annotations

from podpath.datapath.tracing.exploration import Choices, explore
from podpath.report.sentences import spell_reason
from tests.datapath.given import Given, Sender, given, given_rules, tcp


def branches(node: Given, hook: str = "FORWARD") -> list[tuple[str, int, list[object]]]:
    """Return verdict, mark and assumed values of every branch of a SYN at a hook."""

    def run(choices: Choices) -> tuple[str, int, list[object]]:
        sender = Sender(node, choices)
        skb = sender.skb(tcp(), iif="cni0", oif="eth0")
        verdict = sender.send(skb, "PREROUTING", hook)
        return type(verdict).__name__, skb.mark, [assumption.value for assumption in choices.made]

    return list(explore(run).results)


def test_a_step_names_the_deciding_rule_first_and_the_way_to_it() -> None:
    """The spans of a step are the deciding rule's line, then the rules that led there."""
    rules = (
        "FORWARD -p tcp -j A",
        "A -j MARK --set-mark 0x1",
        "A -p tcp -m tcp --dport 80 -j DROP",
    )
    sender = Sender(given(given_rules(*rules, chains=("A",))))
    sender.send(sender.skb(tcp()), "FORWARD")
    (step,) = sender.walk.trace.steps

    assert ("FORWARD filter", "drop", "A rule 2 drops it") == (
        step.stage,
        step.decision,
        spell_reason(step.reason),
    )
    assert [f"-A {rules[at]}" for at in (2, 0, 1)] == [span.text for span in step.spans]


def test_a_mark_alone_makes_a_step() -> None:
    """A table that only marks the packet says so."""
    sender = Sender(given(given_rules("FORWARD -j MARK --set-mark 0x4000", table="mangle")))
    sender.send(sender.skb(tcp()), "FORWARD")

    assert ["FORWARD rule 1 sets the mark to 0x4000"] == [
        spell_reason(step.reason) for step in sender.walk.trace.steps
    ]


def test_two_flavours_that_do_not_meddle_do_not_fork() -> None:
    """Where the order of legacy and nft makes no difference to the packet, nobody asks for it."""
    node = given(
        given_rules("FORWARD -p tcp -j ACCEPT"), legacy=given_rules("FORWARD -p tcp -j DROP")
    )

    assert [("Drop", 0, [])] == branches(node)


def test_two_flavours_that_see_each_others_marks_fork() -> None:
    """Where one flavour sees what the other did, both orders are walked."""
    nft = given_rules("FORWARD -m mark --mark 0x0 -j MARK --set-mark 0x1", table="mangle")
    legacy = given_rules("FORWARD -m mark --mark 0x0 -j MARK --set-mark 0x2", table="mangle")

    assert [("Accept", 1, ["nft"]), ("Accept", 2, ["legacy"])] == branches(
        given(nft, legacy=legacy)
    )


def test_a_reject_and_a_drop_of_two_flavours_fork() -> None:
    """Which of them ends the packet decides whether its sender hears of it."""
    node = given(
        given_rules("FORWARD -p tcp -j REJECT"), legacy=given_rules("FORWARD -p tcp -j DROP")
    )

    assert {"Reject", "Drop"} == {verdict for verdict, _, _ in branches(node)}


def test_both_flavours_of_nat_fork_where_both_translate() -> None:
    """The nat chain that runs first translates; it is asked which one that is."""
    nft = given_rules("PREROUTING -j DNAT --to-destination 10.244.0.6", table="nat")
    legacy = given_rules("PREROUTING -j DNAT --to-destination 10.244.0.9", table="nat")
    node = given(nft, legacy=legacy)

    def run(choices: Choices) -> str:
        return str(Sender(node, choices).forward(tcp(), iif="eth0", oif="cni0")[1].packet.dst)

    assert ["10.244.0.6", "10.244.0.9"] == list(explore(run).results)


def test_one_flavour_of_nat_with_rules_does_not_fork() -> None:
    """A nat table whose rules do not match leaves the packet to the other."""
    nft = given_rules("PREROUTING -p udp -j DNAT --to-destination 10.244.0.6", table="nat")
    legacy = given_rules("PREROUTING -j DNAT --to-destination 10.244.0.9", table="nat")

    assert [[]] == [assumed for _, _, assumed in branches(given(nft, legacy=legacy), "POSTROUTING")]
