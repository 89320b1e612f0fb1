"""Options of matches and targets, held against what iptables printed."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.iptables.options import GENERAL, MATCHES, TARGETS, VERDICTS
from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.xtables.legality import BASE_CHAINS
from tests.evidence.netfilter_recording import RECORDED


@pytest.mark.parametrize("kind", ["legacy-4", "legacy-6", "nft-4", "nft-6"])
def test_every_option_that_iptables_saved_is_known(kind: str) -> None:
    """Each recorded rule's options are of its extensions, with as many words as the table says."""
    lines = (RECORDED / kind / "save.txt").read_text(encoding="utf-8").splitlines()
    read = [rule for rule in map(parse_rule_line, lines) if rule is not None]

    for rule in read:
        assert not rule.unread
        for match in rule.matches:
            assert {option.name: len(option.values) for option in match.options}.items() <= MATCHES[
                match.name
            ].items()
        if rule.target is not None and rule.target.name not in VERDICTS | {"SUB"}:
            assert {
                option.name: len(option.values) for option in rule.target.options
            }.items() <= TARGETS[rule.target.name].items()


def test_long_names_stand_for_themselves() -> None:
    """Every short spelling of a general option has its long one in the table."""
    assert {long for long, _ in GENERAL.values()} <= GENERAL.keys()
    assert all(GENERAL[long] == (long, count) for long, count in GENERAL.values())


def test_names_are_spelled_as_iptables_does() -> None:
    """Tables in lower case, chains in upper case, options without dashes in front."""
    names = [option for extension in (*MATCHES.values(), *TARGETS.values()) for option in extension]

    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*", name) for name in names)
    assert all(chain.isupper() for chains in BASE_CHAINS.values() for chain in chains)
