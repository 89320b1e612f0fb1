"""Neighbor discovery of IPv6, which the packet filter may end: what the kernel does in each case
stands in tests/kernel/scenarios/hooks.txt.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.neighbours import SolicitationLost
from podpath.datapath.tracing.trace import Conversation
from podpath.datapath.vocabulary import Hook, Reachability
from podpath.net.addresses import Family
from podpath.net.provenance import Listing
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import given_neighbour, given_netns, given_node, probe
from tests.datapath.given import given_tables
from tests.kernel.recorded_cases import build_case

RECORDED = Path(__file__).resolve().parents[2] / "data/agreement"
SOLICITED, ADVERTISED = 135, 136
MESSAGE = "-p ipv6-icmp -m icmp6"
POD, GATEWAY = "fd00::2", "fd00::1"


def asked(rules: str, netns: str = "host", entry: str = "") -> Conversation:
    """Walk from a pod to its node, with rules of IPv6 in one of the two namespaces."""
    text = f"*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\n{rules}\nCOMMIT"
    tables = Netfilter(tables=given_tables(text, family=6), complete=True)
    shut = Netfilter(complete=True)
    spaces = []
    for name, device in (
        ("host", f"v0 {GATEWAY}/64 peer pod:eth0 mac 02:00:00:00:00:01"),
        ("pod", f"eth0 {POD}/64 peer host:v0"),
    ):
        made = given_netns(name, device)
        rules_of: dict[Family, Netfilter] = {4: shut, 6: tables if name == netns else shut}
        spaces.append(replace(made, netfilter=rules_of))
    node: Node = given_node(*spaces)
    if entry:
        listed = Listing((given_neighbour(entry),), True, "ip neigh")
        pod = replace(node.namespaces["pod"], neighbours=listed)
        node = replace(node, namespaces={**node.namespaces, "pod": pod})
    return converse(node, probe(f"tcp {POD} > [{GATEWAY}]:22 from pod"))


@pytest.mark.parametrize(
    ("rule", "netns", "hook", "asks"),
    [
        (f"-A INPUT {MESSAGE} --icmpv6-type {SOLICITED} -j DROP", "host", "INPUT", 1),
        (f"-A OUTPUT {MESSAGE} --icmpv6-type {ADVERTISED} -j DROP", "host", "OUTPUT", 0),
        ("-A OUTPUT -p ipv6-icmp -j DROP", "pod", "OUTPUT", 1),
        ("-A INPUT -p ipv6-icmp -j DROP", "pod", "INPUT", 0),
    ],
)  # fmt: skip
def test_a_rule_that_ends_a_message_is_named(rule: str, netns: str, hook: str, asks: int) -> None:
    """Where it stands, and whether the question or the answer is lost; its line is quoted, and
    nothing else of the message is in the trace.
    """
    conversation = asked(rule, netns)
    step = conversation.branches[0].traces[0].deciding

    assert conversation.verdict is Reachability.NEVER
    assert isinstance(step.reason, SolicitationLost)
    assert (step.reason.netns, step.reason.hook, step.reason.asks) == (
        netns,
        Hook[hook],
        bool(asks),
    )
    assert [rule in span.text for span in step.spans] == [True]
    assert not conversation.branches[0].traces[0].matched


@pytest.mark.parametrize(
    "rule",
    [
        "-A INPUT -p tcp -m tcp --dport 23 -j DROP",
        f"-A INPUT {MESSAGE} --icmpv6-type {ADVERTISED} -j ACCEPT",
        "-A FORWARD -p ipv6-icmp -j DROP",
        "-A INPUT -m conntrack --ctstate NEW -p ipv6-icmp -j DROP",
    ],
)
def test_what_is_about_other_packets_ends_none(rule: str) -> None:
    """Conntrack leaves the messages alone, so they are no new connection."""
    assert asked(rule).verdict is Reachability.ALWAYS


@pytest.mark.parametrize(("state", "works"), [("PERMANENT", True), ("REACHABLE", None)])
def test_an_entry_needs_no_message(state: str, *, works: bool | None) -> None:
    """A fixed one is used; another until it has to be asked for again."""
    entry = f"{GATEWAY} dev eth0 lladdr 02:00:00:00:00:01 {state}"
    rule = f"-A INPUT {MESSAGE} --icmpv6-type {SOLICITED} -j DROP"
    conversation = asked(rule, entry=entry)
    said = {branch.works for branch in conversation.branches}

    assert said == ({True} if works else {True, False})


def counted(conversation: Conversation) -> list[tuple[str, str]]:
    """Return the hooks and devices of the rules that messages of neighbor discovery matched."""
    return [(hit.netns, hit.rule.chain) for hit in conversation.branches[0].discovery]


def test_the_error_about_an_advertisement_passes_lo() -> None:
    """What OUTPUT rejects is told to the host itself, each of the three times."""
    rules = "-A INPUT -i lo\n-A OUTPUT -o lo -j ACCEPT\n-A OUTPUT -p ipv6-icmp -j REJECT"
    found = counted(asked(rules))

    assert found.count(("host", "INPUT")) == 3
    assert found.count(("host", "OUTPUT")) == 6


def test_the_error_about_an_advertisement_asks_for_nobody_who_is_being_asked() -> None:
    """The next hop of the error is the one that the rejected message is about."""
    found = counted(asked("-A INPUT -p ipv6-icmp -j REJECT\n-A OUTPUT", "pod"))

    assert found == [("pod", "OUTPUT"), ("pod", "INPUT"), ("pod", "OUTPUT")] * 3


def test_an_advertisement_that_is_led_elsewhere_asks_there() -> None:
    """It passes POSTROUTING each of the three times, and once a question for its next hop does."""
    name = "ipv6-advertisement-led-elsewhere-asks.json"
    case = build_case((RECORDED / name).read_text(), PurePosixPath(name))
    found = counted(converse(case.node, case.probe))

    assert found.count(("host", "POSTROUTING")) == 4


@pytest.mark.parametrize(("netns", "hook"), [("host", "INPUT"), ("pod", "OUTPUT")])
def test_a_changed_hop_limit_ends_a_message(netns: str, hook: str) -> None:
    """Nobody takes a message that may have been forwarded."""
    conversation = asked(f"COMMIT\n*mangle\n-A {hook} -j HL --hl-set 64", netns)
    step = conversation.branches[0].traces[0].deciding

    assert conversation.verdict is Reachability.NEVER
    assert isinstance(step.reason, SolicitationLost)
    assert (step.reason.netns, step.reason.hook) == (netns, Hook[hook])
