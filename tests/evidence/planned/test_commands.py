"""Commands that change routes, policy rules, sysctls and modules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.planned.commands import (
    ModuleCommandRecord,
    RouteCommandRecord,
    RuleCommandRecord,
    is_command_list,
    read_commands,
)
from podpath.evidence.planned.restore import RestoreRecord, RestoreVerb
from podpath.evidence.records import Reading
from podpath.net.provenance import Source


def read(*lines: str) -> Reading:
    """Read commands."""
    return read_commands(Source(name="s", lines=lines))


@pytest.mark.parametrize(
    "line",
    ["ip route add 10.0.0.0/8 via 192.0.2.1", "sudo ip -4 r a 10.0.0.0/8 via 192.0.2.1", (
        "route add 10.0.0.0/8 via "
        "192.0.2.1"
    )],
)  # fmt: skip
def test_a_route_is_read_however_it_is_spelled(line: str) -> None:
    """With ip, shortened as iproute2 takes it, and as ip -batch takes it."""
    (record,) = read(line).records

    assert isinstance(record, RouteCommandRecord)
    assert ("add", "10.0.0.0/8") == (record.verb, str(record.route.prefix))


def test_a_deletion_needs_no_way_on() -> None:
    """`ip route del PREFIX` names a route as far as it does."""
    (record,) = read("ip route del 10.0.0.0/8").records

    assert isinstance(record, RouteCommandRecord)
    assert ((), None) == (record.route.nexthops, record.route.type)


def test_a_policy_rule_keeps_its_priority_or_has_none() -> None:
    """The kernel picks one where none is given."""
    first, second = read(
        "ip rule add from 10.0.0.0/8 lookup 100 pref 50", "ip rule add fwmark 0x1 table 100"
    ).records

    assert isinstance(first, RuleCommandRecord)
    assert isinstance(second, RuleCommandRecord)
    assert (50, None) == (first.rule.priority, second.rule.priority)


def test_sysctls_and_modules_are_read() -> None:
    """Several settings on a line are several records."""
    records = read(
        "sysctl -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0", "modprobe br-netfilter"
    ).records

    assert [SysctlRecord, SysctlRecord, ModuleCommandRecord] == [type(one) for one in records]


@pytest.mark.parametrize(
    "line", ["ip link set eth0 down", "tc qdisc del dev eth0 root", "ip route flush table main", (
        "ip route add 10.0.0.0/8 via "
        "x"
    ), "reboot"]
)  # fmt: skip
def test_what_is_not_modeled_is_a_gap(line: str) -> None:
    """It is named, and nothing is made of it."""
    reading = read(line)

    assert ((), 1) == (reading.records, len(reading.gaps))


@given(st.lists(st.text(st.sampled_from("ip route add del 10.0/8via-4"), max_size=30), max_size=5))
def test_no_line_is_lost(lines: list[str]) -> None:
    """Every line that is not blank is a record or a gap."""
    split = [part for line in lines for part in (line.splitlines() or [""])]
    reading = read(*split)
    spans = [one.span for one in reading.records] + [gap.span for gap in reading.gaps]
    told = {span.line for span in spans}

    assert {place for place, line in enumerate(split, 1) if line.strip()} <= told


def test_a_list_of_commands_is_told_from_a_listing() -> None:
    """`ip route` prints no verbs."""
    assert is_command_list(Source(name="s", lines=("# new", "ip route add default via 192.0.2.1")))
    assert not is_command_list(Source(name="s", lines=("default via 192.0.2.1 dev eth0",)))


def calls_of(*lines: str) -> list[tuple[str, str, int | None, str, str | None]]:
    """Return the calls of iptables: table, command, number, chain, and program's flavor."""
    return [
        (record.table, record.verb.value, record.number, record.chain, record.flavour)
        for record in read(*lines).of(RestoreRecord)
        if record.verb is not RestoreVerb.TABLE
    ]


def test_calls_of_iptables_are_read() -> None:
    """Whatever their order: the table, the command, how long to wait."""
    assert calls_of(
        "iptables -t nat -A POSTROUTING -s 10.0.0.0/8 -j MASQUERADE",
        "/usr/sbin/iptables-legacy -w 5 -I FORWARD 2 -p tcp --dport 80 -j DROP",
        "iptables -p tcp -A INPUT -j ACCEPT",
        "iptables --table=mangle --flush",
        "iptables -L -n -v",
    ) == [
        ("nat", "-A", None, "POSTROUTING", None),
        ("filter", "-I", 2, "FORWARD", "legacy"),
        ("filter", "-A", None, "INPUT", None),
        ("mangle", "-F", None, "", None),
    ]
    assert is_command_list(Source(name="s", lines=("#!/bin/sh", "set -e", "iptables -F")))


def test_a_script_is_known_by_its_first_line() -> None:
    """So that each line of it that only a shell can tell is refused with its number."""
    script = ("#!/usr/bin/env bash", "IPT=/sbin/iptables", "$IPT -F", "$IPT -X")
    assert is_command_list(Source(name="s", lines=script))
    assert is_command_list(Source(name="s", lines=script[1:2]))
    assert not is_command_list(Source(name="s", lines=("#!/usr/sbin/nft -f", "flush ruleset")))
    assert [gap.span.line for gap in read(*script).gaps] == [2, 3, 4]


def test_what_a_call_says_is_its_rule() -> None:
    """A comment keeps its blanks and quotes, and a rule its lines."""
    reading = read("iptables -A INPUT \\", "  -m comment --comment 'a \"b\"' -j DROP")
    record = next(one for one in reading.of(RestoreRecord) if one.rule is not None)

    assert record.rule is not None
    assert (record.rule.span.line, record.rule.span.last_line) == (1, 2)
    (comment,) = record.rule.matches
    assert 'a "b"' in str(comment)
    assert reading.gaps == ()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("iptables -A", "expected a chain"),
        ("iptables -j DROP", "expected a command of iptables"),
        ("iptables -A INPUT -j DROP -t", "expected a table behind -t"),
        ("iptables -A INPUT -s $NET -j DROP", "what $NET stands for"),
        ("iptables-restore rules.v4", "not modeled"),
    ],
)
def test_calls_that_nobody_can_take_over_are_named(line: str, named: str) -> None:
    """With their line."""
    reading = read("iptables -F", line)
    assert [(gap.span.line, named in gap.why) for gap in reading.gaps] == [(2, True)], reading.gaps
