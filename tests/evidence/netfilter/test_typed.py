"""Commands of iptables as typed."""

from __future__ import annotations

import pytest

from podpath.evidence.netfilter.typed import parse_typed_rule
from podpath.evidence.records import ChangeCommandRecord, StatementRecord
from podpath.net.addresses import PortRange, Prefix
from podpath.net.firewall import RuleEdit, TypedRule
from tests.evidence.consoles import block, read

CASES = {
    "-P INPUT DROP": TypedRule(RuleEdit.POLICY, "filter", "INPUT", "DROP"),
    "-t nat -F": TypedRule(RuleEdit.FLUSH, "nat", plain=True),
    "-I FORWARD 1 -j ACCEPT": TypedRule(RuleEdit.INSERT, "filter", "FORWARD", "ACCEPT", plain=True),
    "-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT": TypedRule(
        RuleEdit.APPEND, "filter", "INPUT", "ACCEPT", follows=True
    ),
    "-A FORWARD -s 10.0.0.0/8 -i cni0 -j DROP": TypedRule(
        RuleEdit.APPEND, "filter", "FORWARD", "DROP", src=Prefix.parse("10.0.0.0/8"), in_link="cni0"
    ),
    "-A INPUT -p tcp --sport 8443 -j ACCEPT": TypedRule(
        RuleEdit.APPEND,
        "filter",
        "INPUT",
        "ACCEPT",
        protocol="tcp",
        sports=(PortRange(8443, 8443),),
    ),
    "-A INPUT -p udp --dports 80:90,https -j ACCEPT": TypedRule(
        RuleEdit.APPEND,
        "filter",
        "INPUT",
        "ACCEPT",
        protocol="udp",
        dports=(PortRange(80, 90), PortRange(0, 65535)),
    ),
    "-nvL FORWARD": None,
}


@pytest.mark.parametrize(("arguments", "expected"), CASES.items(), ids=CASES)
def test_what_a_command_does(arguments: str, expected: TypedRule | None) -> None:
    """A listing changes nothing."""
    assert parse_typed_rule(arguments.split()) == expected


def test_a_script_is_a_row_of_changes() -> None:
    """Comments and other commands of the shell state nothing; a variable may stand for the
    program.
    """
    text = """
#!/bin/sh
IPT=/sbin/iptables
# nothing goes out
$IPT -P OUTPUT DROP
/sbin/iptables -A OUTPUT -o lo -j ACCEPT
"""
    reading = read(block(text))
    assert not reading.gaps
    assert [
        record.span.line for record in reading.records if isinstance(record, ChangeCommandRecord)
    ] == [
        4,
        5,
    ]
    assert [
        record.statement for record in reading.records if isinstance(record, StatementRecord)
    ] == [
        TypedRule(RuleEdit.POLICY, "filter", "OUTPUT", "DROP"),
        TypedRule(RuleEdit.APPEND, "filter", "OUTPUT", "ACCEPT", out_link="lo"),
    ]
