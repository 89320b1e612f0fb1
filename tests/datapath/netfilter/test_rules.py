"""Tests for the fields of a rule that are no extension: addresses, protocol, devices, fragments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.net.provenance import Known
from podpath.node.netfilter import Chain
from podpath.xtables.legality import ChainPolicy
from tests.datapath.given import Sender, every_branch, given, given_rules, tcp, udp, with_chain


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("-s 10.244.0.0/16", True),
        ("! -s 10.244.0.0/16", False),
        ("-d 198.51.100.7/32", True),
        ("! -d 198.51.100.8/32", True),
        ("-d 198.0.0.7/255.0.0.255", True),
        ("-d 198.0.0.8/255.0.0.255", False),
        ("-p tcp", True),
        ("! -p tcp", False),
        ("-p udp", False),
        ("-i cali1", True),
        ("-i cali+", True),
        ("-i cal+", True),
        ("-i cali", False),
        ("! -i cali+", False),
        ("! -i lxc+", True),
        ("-o eth0", True),
        ("-o eth1", False),
        ("! -o eth1", True),
        ("-f", False),
        ("! -f", True),
    ],
)
def test_fields_match_as_spelled(condition: str, matches: bool) -> None:  # noqa: FBT001  # a case
    """Prefixes, masks, negation, and device names that end in a plus sign."""
    sender = Sender(given(given_rules(f"FORWARD {condition} -j DROP")))
    verdict = sender.send(sender.skb(tcp(), iif="cali1", oif="eth0"), "FORWARD")

    assert ("Drop" if matches else "Accept") == type(verdict).__name__


@pytest.mark.parametrize(
    ("condition", "matches"), [("-i eth0", False), ("! -i eth0", True), ("-i eth+", False)]
)
def test_a_missing_device_is_an_empty_name(condition: str, matches: bool) -> None:  # noqa: FBT001  # a case
    """The host's own packets have no input device, and a negated name matches them."""
    sender = Sender(given(given_rules(f"A {condition} -j DROP", "OUTPUT -j A", chains=("A",))))
    verdict = sender.send(sender.skb(tcp(), iif=None, oif="eth0"), "OUTPUT")

    assert matches is (type(verdict).__name__ == "Drop")


def test_a_later_fragment_has_no_ports() -> None:
    """Without conntrack rules see fragments, and those behind the first match no port."""
    node = given(given_rules("FORWARD -p udp -m udp --dport 53 -j DROP", "FORWARD -f -j REJECT"))
    sender = Sender(node)

    assert (
        "Reject" == type(sender.send(sender.skb(udp()._replace(fragment=True)), "FORWARD")).__name__
    )


def test_conntrack_puts_fragments_together() -> None:
    """Where conntrack is on, rules see whole datagrams."""
    node = given(
        given_rules("PREROUTING -m conntrack --ctstate NEW", table="mangle"),
        given_rules("FORWARD -f -j DROP"),
    )
    sender = Sender(node)

    assert (
        "Accept"
        == type(
            sender.send(sender.skb(udp()._replace(fragment=True)), "PREROUTING", "FORWARD")
        ).__name__
    )


def test_a_rule_that_was_not_fully_read_forks() -> None:
    """A cut line keeps its place: it may match, and likely does not."""
    node = given(given_rules("FORWARD -p tcp -j DROP"))
    fact = node.netns.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(fact, Known)
    rule = fact.value.rules[0]._replace(unread="the line is cut")
    cut = with_chain(node, "FORWARD", Known(replace(fact.value, rules=(rule,))))
    sender = Sender(cut)

    assert {"Accept", "Drop"} == every_branch(cut, tcp(), "FORWARD")
    assert "Accept" == type(sender.send(sender.skb(tcp()), "FORWARD")).__name__


def test_a_cut_rule_that_misses_for_sure_does_not_fork() -> None:
    """What is known to be false decides, whatever else the rule says."""
    node = given(given_rules("FORWARD -p udp -j DROP"))
    fact = node.netns.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(fact, Known)
    rule = fact.value.rules[0]._replace(unread="the line is cut")
    cut = with_chain(
        node, "FORWARD", Known(Chain(name="FORWARD", rules=(rule,), policy=ChainPolicy.ACCEPT))
    )

    assert {"Accept"} == every_branch(cut, tcp(), "FORWARD")
