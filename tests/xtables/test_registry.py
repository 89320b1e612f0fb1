"""Laws of every extension that is whole in one module."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.xtables.extension import MatchExtension, OptionMeaning, TargetExtension
from podpath.xtables.legality import ALL_TABLES, DESTINATION_NAT, SOURCE_NAT
from podpath.xtables.registry import EXTENSIONS, MATCHES, TARGETS

OPTIONS = [
    (match.name, name, option)
    for match in MATCHES.values()
    for name, option in match.options.items()
]


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda each: each.name)
def test_what_save_and_list_print_is_the_same_rule(
    extension: MatchExtension | TargetExtension,
) -> None:
    """Every form names options of its own extension, and tables are those that there are."""
    named = {
        group.removeprefix("no_").removeprefix("flag_").replace("_", "-")
        for form in extension.forms
        for group in re.compile(form.text).groupindex
    }

    assert {extension.name} >= {form.extension for form in extension.forms}
    assert extension.listed is not None or named <= extension.options.keys()
    assert extension.tables <= ALL_TABLES


@pytest.mark.parametrize(
    ("name", "spelling", "option"),
    OPTIONS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_the_lab_draws_can_be_read(name: str, spelling: str, option: OptionMeaning) -> None:
    """Every value that is drawn is one that the option takes, and is read back from a rule's
    line.
    """
    for value in option.draws:
        rule = parse_rule_line(f"-A FORWARD -m {name} --{spelling} {value} -j ACCEPT")

        assert rule is not None
        assert not rule.unread
        assert option.read is not None
        assert callable(option.read(value))


def test_targets_of_nat_stand_on_the_side_of_the_routing_that_they_rewrite() -> None:
    """Those that rewrite destinations stand before it, those that rewrite sources behind it."""
    before = {"PREROUTING", "OUTPUT"}
    hooks = {name: target.hooks for name, target in TARGETS.items() if target.tables == {"nat"}}
    placed = {name: at for name, at in hooks.items() if at}

    assert {name for name, at in placed.items() if at <= before} == DESTINATION_NAT
    assert {name for name, at in placed.items() if not at & before} == SOURCE_NAT
