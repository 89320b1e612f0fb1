"""One rule of iptables as every package speaks of it: the fields of `struct ipt_ip` typed, its
matches and its target as names with options, in the order they stand in.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.net.addresses import Prefix
from podpath.net.provenance import Span


class MatchOption(NamedTuple):
    """One option of an extension: `! --ctstate INVALID,NEW`."""

    name: str
    """Long form without dashes: `ctstate`."""
    values: tuple[str, ...] = ()
    negated: bool = False


class Match(NamedTuple):
    """A match extension of a rule: `-m conntrack --ctstate INVALID`."""

    name: str
    options: tuple[MatchOption, ...] = ()


class Target(NamedTuple):
    """What a rule does: a verdict, an extension target, or a chain to go to."""

    name: str
    """`ACCEPT`, `DROP`, `RETURN`, an extension such as `DNAT`, or a user chain's name."""
    options: tuple[MatchOption, ...] = ()
    goto: bool = False
    """`-g`: RETURN in the chain goes back to the caller's caller."""


class InterfaceMatch(NamedTuple):
    """`-i`/`-o`: a device name, or a prefix of names where the name ended in `+`."""

    name: str
    wildcard: bool = False
    negated: bool = False


class PrefixMatch(NamedTuple):
    """`-s`/`-d`: a prefix, possibly negated. `mask` is set where the netmask is not contiguous."""

    prefix: Prefix
    negated: bool = False
    mask: int | None = None


class ProtocolMatch(NamedTuple):
    """`-p`: a protocol number, possibly negated; 0 stands for all."""

    number: int
    negated: bool = False


class Rule(NamedTuple):
    """One rule of an iptables chain."""

    table: str
    chain: str
    position: int
    """From 1, as `iptables -L --line-numbers` counts."""
    span: Span
    target: Target | None
    """None: the rule only counts."""
    src: PrefixMatch | None = None
    dst: PrefixMatch | None = None
    protocol: ProtocolMatch | None = None
    in_link: InterfaceMatch | None = None
    out_link: InterfaceMatch | None = None
    fragment: bool | None = None
    """`-f`: True only further fragments, False (`! -f`) only the first and whole packets, None
    any.
    """
    matches: tuple[Match, ...] = ()
    packets: int | None = None
    """The packet counter; None where the listing has none."""
    bytes: int | None = None
    unread: str = ""
    """Why the rule's text was not fully understood (a cut line, say): it answers UNKNOWN; empty
    when it was.
    """
    hidden: tuple[str, ...] = ()
    """Of an unread rule: the selectors (`source`, `in-interface`) that the output hides, where all
    else of it is known.
    """


def spell(option: MatchOption) -> str:
    """Spell an option as iptables-save does."""
    return " ".join((*(("!",) if option.negated else ()), f"--{option.name}", *option.values))


def spell_match(match: Match) -> str:
    """Spell a match with its options as iptables-save does."""
    return " ".join((f"-m {match.name}", *(spell(option) for option in match.options)))


def single(option: MatchOption) -> str:
    """Return the one word of an option; `ValueError` where it has none or more."""
    if len(option.values) != 1:
        raise ValueError(f"expected one value, saw {spell(option)!r}")
    return option.values[0]


def words(option: MatchOption) -> tuple[str, ...]:
    """Return the comma-separated words of an option's values."""
    return tuple(word for value in option.values for word in value.split(",") if word)
