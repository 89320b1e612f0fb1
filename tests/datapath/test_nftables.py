"""Native chains on the model alone: what is unknown, drawn or contested. Agreement with Linux is in
tests/kernel.
"""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.nftables.datatypes import Device, Name, Range, fits, parse_pattern
from podpath.datapath.nftables.sets import Elements
from podpath.datapath.nftables.tables import datatype_of
from podpath.datapath.reasons.rules import PolicyDecided
from podpath.datapath.tracing.trace import Conversation
from podpath.net import nft
from podpath.net.probe import Probe
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Rule, Target
from podpath.node.node import HOST
from podpath.report.sentences import spell_reason
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import routed_pods
from tests.diagnosis.test_causes import with_tables
from tests.nftables import native_tables

OUT = "tcp 10.1.0.2:40000 > 198.51.100.1:80 from pod1"
HEAD = "table ip t { chain c { type filter hook forward priority 0; "


def walk(
    text: str,
    probe: str = OUT,
    prepare: DraftNetns | None = None,
    command: str = "nft -a list ruleset",
) -> Conversation:
    """Walk a connection of a pod through a host with these tables."""
    topology = routed_pods()
    host = topology.draft.namespaces[HOST]
    host.nftables.extend(native_tables(text, command))
    if prepare is not None:
        host.tables.update(prepare.tables)
    return converse(topology.draft.freeze(), Probe.parse(probe))


def assumed(conversation: Conversation) -> set[str]:
    """Return the facts that any branch takes for granted."""
    return {
        assumption.fact for branch in conversation.branches for assumption in branch.assumptions
    }


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("socket transparent 1 drop", "SOMETIMES"), ("ct count over 3 drop", "SOMETIMES"),
        ("limit rate 1/second accept; drop", "SOMETIMES"),
        ("numgen random mod 2 0 drop", "SOMETIMES"), ((
            "numgen random mod 100 vmap { 0-98 : accept, 99 : drop "
            "}"
        ), "SOMETIMES"),
        ("queue num 3", "SOMETIMES"), ("jhash ip saddr mod 2 vmap { 0 : drop }", "SOMETIMES"),
        ("jump elsewhere", "SOMETIMES"), ("meta skuid 0 drop", "ALWAYS"), ("iif 77 drop", "ALWAYS"), ("iif lxc1 drop", "NEVER"),  # noqa: E501
        ("oif eth0 ct direction reply drop", "ALWAYS"), ((
            "ip saddr { 10.0.0.0/8, 11.0.0.1-11.0.0.9 } "
            "drop"
        ), "NEVER"),
        ("ip saddr != { 10.0.0.0/8 } drop", "NEVER"), ((
            "tcp dport vmap { 1-79 : drop, 80 : accept }; "
            "drop"
        ), "NEVER"),
        ("th dport > 79 drop", "NEVER"), ("icmp type != echo-request drop", "ALWAYS"),
        ("ether saddr 02:00:00:00:01:00 drop", "NEVER"),
        ((
            "meta mark set ip daddr map { 198.51.100.1 : 0x7 } meta mark 0x7 "
            "drop"
        ), "NEVER"), ("ip ttl < 64 drop", "NEVER"),
        ((
            "meta mark set ip daddr map { 198.51.100.2 : 0x7 } "
            "drop"
        ), "ALWAYS"), ("rt mtu 1400 drop", "ALWAYS"), ("rt mtu 1460 drop", "NEVER"),
        ("rt classid 7 drop", "SOMETIMES"), ("rt ip nexthop 198.51.100.1 drop", "ALWAYS"),
        ("tcp option maxseg size 1-1400 drop", "ALWAYS"),
        ("tcp option maxseg size 1460 drop", "NEVER"),
        ('log prefix "x" notrack; ct state untracked drop', "ALWAYS"), ((
            "ct state ! new,established "
            "drop"
        ), "ALWAYS"),
        ("fib daddr type local drop", "ALWAYS"), ("fib saddr . iif oif missing drop", "ALWAYS"),
        ("update @seen { ip saddr limit rate over 5/second }", "ALWAYS"),
        ("synproxy mss 1460", "SOMETIMES"), ("frobnicate 7", "SOMETIMES"), ("frobnicate drop; accept", "SOMETIMES"),  # noqa: E501
        ("ip saddr 11.0.0.1 frobnicate drop", "ALWAYS"),
        ("ip dscp set cs1 ip dscp cs1 drop", "NEVER"), ("meta pkttype host drop", "NEVER"),
    ],
)  # fmt: skip
def test_rules(rule: str, verdict: str) -> None:
    """What is known decides, what is not forks."""
    assert verdict == walk(f"{HEAD}{rule}; }}\n}}").verdict


def test_the_step_names_table_chain_handle_and_line() -> None:
    """The deciding rule is spelled out and quoted."""
    last = walk(f"{HEAD}\n tcp dport 80 drop # handle 7\n }}\n}}").branches[0].last.deciding

    assert "FORWARD ip t c" == last.stage
    assert "ip t c rule 1, handle 7 (tcp dport 80 drop) drops it" == spell_reason(last.reason)
    assert "tcp dport 80 drop # handle 7" == last.spans[0].text.strip()


def test_a_policy_decides_at_the_end() -> None:
    """The chain's own line is quoted."""
    conversation = walk(
        "table ip t { chain c { type filter hook forward priority 0; policy drop; }\n}"
    )

    assert PolicyDecided("ip t", "c", True) == conversation.branches[0].last.deciding.reason


@pytest.mark.parametrize("command", ["nft list chain ip t c", "nft -a list ruleset"])
def test_a_chain_that_is_shown_whole_leaves_nothing_open(command: str) -> None:
    """Listed alone or among all others, it shows every rule of its own."""
    assert set() == assumed(walk(f"{HEAD}tcp dport 81 drop; }}\n}}", command=command))


def test_a_part_of_a_chain_is_an_assumption() -> None:
    """What the evidence leaves out of a chain is named."""
    conversation = walk(f"{HEAD}\n  tcp dport 81 drop\n  ...\n }}\n}}")

    assert {
        "rules of chain c of nftables table ip t in netns host that the evidence leaves out"
    } == assumed(conversation)


@pytest.mark.parametrize(
    ("rule", "forks"),
    [("tcp dport 80 drop", False), ("meta mark set 0x1; meta mark 0x1 drop", True)],
)
def test_equal_priorities_are_asked_for_where_they_matter(rule: str, forks: bool) -> None:  # noqa: FBT001  # what is expected
    """iptables' table of the same priority may run before or after."""
    draft = DraftNetns(HOST)
    table = draft.table("filter", "nft")
    nowhere = Span(Source(name="generated", lines=("",)), 1, 1)
    table.chains["FORWARD"].append(
        Rule("", "", 0, nowhere, Target("REJECT") if forks else Target("ACCEPT"))
    )
    conversation = walk(f"{HEAD}{rule}; }}\n}}", prepare=draft)

    assert forks is any("registered last" in fact for fact in assumed(conversation))


def test_a_dormant_table_does_nothing() -> None:
    """Its base chains are not registered."""
    assert (
        "ALWAYS"
        == walk(
            "table ip t { flags dormant; chain c { type filter hook forward priority 0; drop; }\n}"
        ).verdict
    )


def test_a_table_with_flags_that_nobody_knows_may_be_dormant() -> None:
    """Its chains run in one branch, and not in another."""
    found = walk("table ip t { flags ip; chain c { type filter hook forward priority 0; drop; }\n}")

    assert "SOMETIMES" == found.verdict
    assert "table ip t in netns host is dormant" in assumed(found)


@pytest.mark.parametrize(
    ("expression", "datatype"),
    [("meta mark", "mark"), ("ct mark", "mark"), ("ip daddr", "ipv4_addr"), ("verdict", "verdict")],
)
def test_a_map_may_say_its_types_by_expressions(expression: str, datatype: str) -> None:
    """What `typeof` names has the datatype of its field."""
    assert datatype == datatype_of(expression)


def test_patterns() -> None:
    """A device fits by its name or by its index, and the index that no device has fits none."""
    lxc = Device("lxc1", 3)
    checks = [
        fits(lxc, Name("lxc", wildcard=True)),
        fits(lxc, Name("lxc1")),
        fits(lxc, Range(3, 3)),
        fits(lxc, Range(4, 4)),
    ]

    assert [True, True, True, False] == checks
    with pytest.raises(ValueError, match="ipv4_addr"):
        parse_pattern(nft.Literal("fd00::1"), "ipv4_addr")


def test_the_catch_all_element_is_the_last_resort() -> None:
    """`*` matches what no other element does."""
    elements = Elements(
        (
            nft.Element(nft.Literal("*"), nft.NftVerdict("drop")),
            nft.Element(nft.Literal("80"), nft.NftVerdict("accept")),
        ),
        ("inet_service",),
    )

    assert ["accept", "drop"] == [
        getattr(getattr(elements.find((port,)), "data", None), "kind", "") for port in (80, 81)
    ]


@pytest.mark.parametrize(("source", "verdict"), [("10.0.0.5", "ALWAYS"), ("192.0.2.7", "NEVER")])
def test_a_source_that_is_reached_over_another_device_has_no_way_back(
    source: str, verdict: str
) -> None:
    """Who sends in a stranger's name is stopped as by rp_filter, though that is off."""
    host = with_tables(f"{HEAD}fib saddr . iif oif missing drop; }}\n}}")

    assert verdict == converse(host, Probe.parse(f"tcp {source} > 192.0.2.9:80 in lan")).verdict
