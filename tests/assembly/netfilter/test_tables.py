"""Which table a fragment belongs to."""

from __future__ import annotations

from textwrap import dedent

import pytest

from podpath.assembly.netfilter.tables import place_rulesets
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.evidence.recognition import read
from podpath.net.provenance import Source

HEADER = " pkts bytes target     prot opt in     out     source               destination"


def placed(*texts: str, commands: tuple[str | None, ...] = ()) -> dict[str, dict[str, list[int]]]:
    """Return the lines of each chain by table; the lines of all texts are counted through."""
    found: dict[str, dict[str, list[int]]] = {}
    records: list[RulesetRecord] = []
    line = 1
    for text, command in zip(texts, (*commands, *[None] * len(texts)), strict=False):
        lines = tuple(dedent(text).strip("\n").split("\n"))
        reading = read(Source(name="ticket.md", lines=lines, first_line=line, command=command))
        assert reading is not None
        records += [record for record in reading.records if isinstance(record, RulesetRecord)]
        line += len(lines)
    for part in place_rulesets(records):
        for name, chain in part.chains.items():
            found.setdefault(part.table, {}).setdefault(name, []).extend(
                rule.span.line for rule in chain.rules
            )
    return found


def test_a_command_settles_it() -> None:
    """`iptables -S` is of filter, whatever the rules look like."""
    assert placed("-A A -j B", commands=("iptables -S",)) == {"filter": {"A": [1]}}
    assert placed("-A A -j B", commands=("iptables -t mangle -S",)) == {"mangle": {"A": [1]}}


@pytest.mark.parametrize(
    ("rule", "table"),
    [
        ("-A X -j DNAT --to-destination 10.0.0.1", "nat"),
        ("-A X -j MASQUERADE", "nat"),
        ("-A X -j REJECT", "filter"),
        ("-A X -j DROP", "filter"),
        ("-A X -j NOTRACK", "raw"),
        ("-A X -j CT --zone 1", "raw"),
        ("-A X -j TPROXY --on-port 1", "mangle"),
        ("-A X -m rpfilter --invert -j DROP", "mangle"),
        ("-A PREROUTING -j ACCEPT", "nat"),
        ("-A FORWARD -j ACCEPT", "filter"),
        ("-A POSTROUTING -j RETURN", "nat"),
        ("-A OUTPUT -j ACCEPT", "filter"),
        ("-A X -j MARK --set-xmark 0x1/0x1", "filter"),
    ],
)
def test_a_rule_alone_tells_by_what_it_does(rule: str, table: str) -> None:
    """Targets and base chains exist in some tables only; what stays open is filter, as iptables has
    it.
    """
    assert list(placed(rule)) == [table]


def test_jumps_tie_chains_together() -> None:
    """A chain is in the table of those that it leads to, also where they stand in another block."""
    assert placed(
        "-A WEB -m comment --comment web -j WEB-1",
        "-A WEB-1 -j MARKED\n-A WEB-1 -p tcp -j DNAT --to-destination 10.0.0.5:80",
        "-A MARKED -j MARK --set-xmark 0x4000/0x4000",
    ) == {"nat": {"WEB": [1], "WEB-1": [2, 3], "MARKED": [4]}}


def test_a_base_chain_that_may_not_lead_there_is_of_another_table() -> None:
    """INPUT cannot lead to DNAT: the kernel would refuse it in nat, so it jumps to a chain of
    filter with the same name.
    """
    assert placed(
        """\
        -A INPUT -j WEB
        -A PREROUTING -j WEB
        -A OUTPUT -j WEB
        -A WEB -d 10.96.0.1/32 -j WEB-1
        -A WEB-1 -j DNAT --to-destination 10.0.0.5
        """
    ) == {
        "filter": {"INPUT": [1]},
        "nat": {"PREROUTING": [2], "OUTPUT": [3], "WEB": [4], "WEB-1": [5]},
    }


def test_one_name_in_two_tables_is_told_apart() -> None:
    """A grep over iptables-save shows a chain of nat and its namesake of filter below."""
    assert placed(
        """\
        -A PREROUTING -j WEB
        -A OUTPUT -j WEB
        -A WEB -d 10.96.0.1/32 -j WEB-1
        -A FORWARD -j WEB
        -A OUTPUT -j WEB
        -A WEB -d 10.96.0.2/32 -j REJECT
        """,
        commands=("iptables-save | grep WEB",),
    ) == {
        "nat": {"PREROUTING": [1], "OUTPUT": [2], "WEB": [3]},
        "filter": {"FORWARD": [4], "OUTPUT": [5], "WEB": [6]},
    }


def test_a_table_that_is_named_draws_its_chains() -> None:
    """What another output says of a chain's table holds for a bare rule of the chain."""
    assert placed(
        "*nat\n:PREROUTING ACCEPT [0:0]\n:MARKED - [0:0]\nCOMMIT",
        "-A MARKED -j MARK --set-xmark 0x1/0x1",
    )["nat"]["MARKED"] == [5]


def test_a_listing_without_command_is_of_one_table() -> None:
    """Its base chains tell which; FORWARD and REJECT are of filter."""
    forward = (
        f"Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)\n{HEADER}\n"
        " 0 0 WEB  all  --  *  *  0.0.0.0/0  0.0.0.0/0"
    )
    prerouting = forward.replace("FORWARD", "PREROUTING")
    web = (
        f"Chain WEB (1 references)\n{HEADER}\n"
        " 0 0 MARK  all  --  *  *  0.0.0.0/0  0.0.0.0/0  MARK or 0x4000"
    )

    assert list(placed(forward)) == ["filter"]
    assert placed(prerouting, web) == {"nat": {"PREROUTING": [3], "WEB": [6]}}


def test_all_policies_together_name_the_table() -> None:
    """A table is known by its base chains."""
    names = ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")

    assert list(placed("\n".join(f"-P {name} ACCEPT" for name in names))) == ["mangle"]
    assert list(placed("-P PREROUTING ACCEPT\n-P OUTPUT ACCEPT")) == ["raw"]
    assert list(
        placed("-P PREROUTING ACCEPT\n-P INPUT ACCEPT\n-P OUTPUT ACCEPT\n-P POSTROUTING ACCEPT")
    ) == ["nat"]
    assert list(placed("-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT")) == ["filter"]
