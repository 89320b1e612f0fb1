"""Whether two rules are one and the same to iptables, as `-D` and `-C` ask.

The program compares what both compile to: addresses, devices, protocol, matches in their order with
their data, and the target (`delete_entry`, libiptc/libiptc.c; `nft_rule_cmp`, iptables/nft.c;
1.8.9). Options may be spelled in several ways, and some have defaults; where spellings differ and
may still mean the same, nobody can tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from podpath.xtables.rule import Match, MatchOption, Rule, Target

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_NUMERIC = re.compile(r"(?:0[xX][0-9a-fA-F]+|[0-9]+)(?:[.:,/-](?:0[xX][0-9a-fA-F]+|[0-9]+))*")
_FREE = frozenset(
    {"comment", "log-prefix", "nflog-prefix", "match-set", "physdev-in", "physdev-out"}
)
"""Options whose values mean the same only where they are spelled alike."""
_LISTS = frozenset({"ctstate", "state", "ctstatus", "ctproto"})
"""Options whose values are sets of words."""
_WITHOUT_DEFAULTS = frozenset(
    {"tcp", "udp", "multiport", "conntrack", "comment", "addrtype", "mark", "set", "physdev", "mac"}
)
"""Matches of which an option that only one rule has always makes a difference, unless it asks for
every port.
"""
_EVERY = frozenset({"0:65535", ":", "0:", ":65535"})
_ALIASES: Mapping[str, str] = {"state": "conntrack", "NOTRACK": "CT"}
"""Names that compile to another extension."""


def is_same_rule(one: Rule, other: Rule) -> bool | None:
    """Tell whether two rules are the same; None where that hangs on how they are spelled."""
    if one.unread or other.unread:
        return None
    fields = (one[5:11], other[5:11])
    if fields[0] != fields[1]:
        return False
    return _all_of(
        (_is_same_target(one.target, other.target), _are_same(one.matches, other.matches))
    )


def _all_of(answers: Sequence[bool | None]) -> bool | None:
    """Combine answers of which all have to hold."""
    if False in answers:
        return False
    return None if None in answers else True


def _is_same_target(one: Target | None, other: Target | None) -> bool | None:
    if one is None or other is None:
        return one is other
    if one.goto != other.goto:
        return False
    return _is_same_extension(one, other)


def _are_same(ones: Sequence[Match], others: Sequence[Match]) -> bool | None:
    if len(ones) != len(others):
        bare = not all(match.options for match in (*ones, *others))
        return None if bare else False
    names, its_names = [one.name for one in ones], [other.name for other in others]
    if names != its_names and sorted(names) == sorted(its_names):
        return None
    return _all_of(
        [_is_same_extension(one, other) for one, other in zip(ones, others, strict=True)]
    )


def _is_same_extension(one: Match | Target, other: Match | Target) -> bool | None:
    if one.name != other.name:
        same = _ALIASES.get(one.name, one.name) == _ALIASES.get(other.name, other.name)
        return None if same else False
    mine = {option.name: option for option in one.options}
    its = {option.name: option for option in other.options}
    if len(mine) != len(one.options) or len(its) != len(other.options):
        return True if one.options == other.options else None
    answers: list[bool | None] = []
    for name in mine.keys() | its.keys():
        first, second = mine.get(name), its.get(name)
        if first is not None and second is not None:
            answers.append(_is_same_option(first, second))
        else:
            answers.append(_is_without(one.name, first or second))
    return _all_of(answers)


def _is_without(extension: str, option: MatchOption | None) -> bool | None:
    """Tell whether an option that one rule alone has means nothing."""
    if option is None or extension not in _WITHOUT_DEFAULTS:
        return None
    if not _EVERY.isdisjoint(option.values):
        return None
    return False


def _is_same_option(one: MatchOption, other: MatchOption) -> bool | None:
    if (one.values, one.negated) == (other.values, other.negated):
        return True
    if one.name in _FREE:
        return False
    if one.name in _LISTS:
        words = [frozenset(",".join(option.values).upper().split(",")) for option in (one, other)]
        return (words[0], one.negated) == (words[1], other.negated)
    values = (*one.values, *other.values)
    if not all(_NUMERIC.fullmatch(value) for value in values):
        return None
    numbers = [_count(option) for option in (one, other)]
    if numbers[0] == numbers[1]:
        return True if one.negated == other.negated else None
    return False


def _count(option: MatchOption) -> tuple[str, ...]:
    """Return the values with every number in decimal."""
    return tuple(_NUMBER.sub(_spell_decimal, value) for value in option.values)


def _spell_decimal(found: re.Match[str]) -> str:
    text = found[0]
    return str(int(text, 16) if text[:2].lower() == "0x" else int(text))
