"""Tests for how options of extensions are read."""

from __future__ import annotations

from podpath.xtables.rule import Match, MatchOption, spell_match


def test_options_are_spelled_back() -> None:
    """Facts and near misses quote rules as iptables-save prints them."""
    match = Match(
        "conntrack",
        (MatchOption("ctstate", ("NEW",), negated=True), MatchOption("ctdir", ("REPLY",))),
    )

    assert "-m conntrack ! --ctstate NEW --ctdir REPLY" == spell_match(match)
