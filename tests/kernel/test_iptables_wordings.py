"""Both outputs of iptables, of one state of this kernel, are read to the same rules."""

from __future__ import annotations

import pytest

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.evidence.iptables.listing import read_listing
from podpath.evidence.iptables.rules import read_rules
from podpath.evidence.iptables.ruleset import RulesetRecord, RuleText
from podpath.net.provenance import Source
from tests.evidence.netfilter_recording import (
    STYLES,
    TABLES,
    Recording,
    asked_commands,
    load_specs,
    load_style,
    record,
    style_tables,
)


def saved_rules(recording: Recording) -> dict[tuple[str, str, int], RuleText]:
    """Return the rules of iptables-save by table, chain and place."""
    reading = read_rules(Source(name="save", lines=tuple(recording.saved.splitlines())))
    return {
        (each.table or "", chain.name, place): rule
        for each in reading.records
        if isinstance(each, RulesetRecord)
        for chain in each.chains.values()
        for place, rule in enumerate(chain.rules)
    }


def listed_rules(
    recording: Recording, table: str, command: str
) -> dict[tuple[str, str, int], RuleText]:
    """Return the rules of a listing in the same way."""
    reading = read_listing(
        Source(name="list", lines=tuple(recording.listed(table).splitlines()), command=command)
    )
    return {
        (table, chain.name, place): rule
        for each in reading.records
        if isinstance(each, RulesetRecord)
        for chain in each.chains.values()
        for place, rule in enumerate(chain.rules)
    }


def differences(recording: Recording, tables: list[str], program: str) -> list[str]:
    """Return the rules that the two outputs do not show alike; what a listing cannot tell is no
    difference.
    """
    saved = saved_rules(recording)
    shown = {
        key: rule
        for table in tables
        for key, rule in listed_rules(recording, table, f"{program} -t {table} -nvL").items()
    }
    assert shown.keys() == {key for key in saved if key[0] in tables}
    return [
        rule.span.text
        for key, rule in shown.items()
        if not rule.unread
        and assemble_rule(rule, key[0], 1)[4:14] != assemble_rule(saved[key], key[0], 1)[4:14]
    ]


@pytest.mark.kernel("iptables-legacy", "iptables-nft", "ipset")
@pytest.mark.parametrize("flavour", ["legacy", "nft"])
@pytest.mark.parametrize("family", [4, 6])
def test_every_extension_reads_alike_in_both_outputs(family: int, flavour: str) -> None:
    """Each rule that this kernel takes is worded by `-L` as the reader expects."""
    program = f"{'ip6tables' if family == 6 else 'iptables'}-{flavour}"
    recording = record(load_specs(family, flavour), asked_commands(program))

    assert [] == differences(recording, list(TABLES), program)
    assert len(saved_rules(recording)) > 100


@pytest.mark.kernel("iptables-legacy", "iptables-nft", "ipset")
@pytest.mark.parametrize("flavour", ["legacy", "nft"])
@pytest.mark.parametrize("style", STYLES)
def test_known_rulesets_read_alike_in_both_outputs(style: str, flavour: str) -> None:
    """kube-proxy, Cilium, Calico and the others."""
    program = f"iptables-{flavour}"
    recording = record(load_style(style, flavour), asked_commands(program, style_tables(style)))

    assert [] == differences(recording, style_tables(style), program)
