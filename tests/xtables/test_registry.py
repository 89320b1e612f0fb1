"""Laws of every extension that is whole in one module."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.xtables.extension import MatchExtension, OptionMeaning, TargetExtension
from podpath.xtables.legality import ALL_TABLES
from podpath.xtables.registry import EXTENSIONS, MATCHES

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
