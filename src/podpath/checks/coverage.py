"""Which packets rules take, held against each other: what stands first, what it leaves over, what
falls under it.

Answers are of three kinds: True, False, and None where the evidence hides what decides (columns
without devices, masked values). Only packets that open a connection count: what follows is accepted
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from podpath.net.addresses import Address
from podpath.net.failures import FailureKind
from podpath.net.protocols import TCP, UDP
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.netfilter import (
    Chain,
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    Rule,
    Table,
)

Maybe = bool | None

DEEPEST, MOST = 8, 1500
"""Jumps that are followed, and rules that are looked at: rules written by people are fewer."""
PORTS = frozenset({"dport", "dports"})
_NEW = "NEW"
_SYN = MatchOption("tcp-flags", ("FIN,SYN,RST,ACK", "SYN"))
_FREE = frozenset({"comment"})


class Path(NamedTuple):
    """A rule with the jumps that lead to it."""

    rules: tuple[Rule, ...]
    """The jumps from the base chain on, the rule last."""
    leaky: bool = False
    """True where a rule before it in a chain on the way may have sent packets back past it."""

    @property
    def rule(self) -> Rule:
        """The rule that decides."""
        return self.rules[-1]


class FailingTraffic(NamedTuple):
    """What people say that fails, as far as rules can tell it apart."""

    ports: tuple[int, ...]
    addresses: tuple[Address, ...]
    protocol: int | None
    failure: FailureKind | None


def chains_in(table: Table) -> Mapping[str, Chain]:
    """Return the chains of a table as outputs agree on them, or as the likeliest of them shows
    them.
    """
    return {
        name: fact.value if isinstance(fact, Known) else fact.options[0].value
        for name, fact in islice(table.chains.items(), MOST)
    }


def roots(chains: Mapping[str, Chain]) -> Iterator[Chain]:
    """Yield the chains to which nothing shown jumps: the base chains, and those of an excerpt."""
    reached = {
        rule.target.name
        for chain in chains.values()
        for rule in islice(chain.rules, MOST)
        if rule.target is not None
    }
    yield from (chain for name, chain in chains.items() if name not in reached)


def list_paths(
    chains: Mapping[str, Chain], root: Chain, skipped: tuple[str, ...] = ()
) -> list[Path]:
    """Return every rule in the order in which a packet meets them; a jump stands for itself where
    its chain is not shown.
    """
    return list(islice(_walk(chains, root, (), skipped, leaky=False), MOST))


def _walk(
    chains: Mapping[str, Chain],
    chain: Chain,
    before: tuple[Rule, ...],
    skipped: tuple[str, ...],
    *,
    leaky: bool,
) -> Iterator[Path]:
    for rule in islice(chain.rules, MOST):
        name = rule.target.name if rule.target is not None else ""
        body = None if name.startswith(skipped) and skipped else chains.get(name)
        if body is None or len(before) >= DEEPEST or not body.rules:
            yield Path((*before, rule), leaky)
        else:
            yield from _walk(chains, body, (*before, rule), skipped, leaky=leaky)
        if name == "RETURN" and before:
            leaky = True


def covers(upper: Path, lower: Path) -> Maybe:
    """Tell whether the first takes every packet that opens a connection and that the second would
    take.
    """
    if upper.leaky:
        return False
    return _least(_is_implied(rule, lower.rules) for rule in upper.rules)


def takes(path: Path, port: int, asked: FailingTraffic) -> Maybe:
    """Tell whether a rule takes what people say fails at a port."""
    if path.leaky:
        return None
    return _least(_takes(rule, port, asked) for rule in path.rules)


def ports_of(rule: Rule) -> tuple[tuple[int, int], ...] | None:
    """Return the ranges of destination ports that a rule asks for; None where it asks for none."""
    for option in _options(rule.matches):
        if option.name in PORTS and not option.negated:
            return tuple(_read_ranges(option.values))
    return None


def list_asked(case: Case) -> tuple[FailingTraffic, ...]:
    """Return what the prose says that fails and what was tried in vain."""
    said = [
        FailingTraffic(one.ports, one.addresses, one.protocol, one.failure)
        for one in case.complaints
        if not one.works
    ]
    tried = [
        FailingTraffic((one.probe.dport,), (one.probe.dst,), one.probe.protocol, None)
        for one in case.attempts
        if one.result != "ok" and not one.good and one.probe.dport
    ]
    lost = [
        FailingTraffic((one.dport,), (one.dst,), None, None)
        for one in case.unplaced
        if one.dst is not None and one.dport
    ]
    return (*said, *tried, *lost)


def _least(answers: Iterable[Maybe]) -> Maybe:
    found: Maybe = True
    for answer in answers:
        if answer is False:
            return False
        found = None if answer is None else found
    return found


def _is_implied(rule: Rule, given: Sequence[Rule]) -> Maybe:
    """Tell whether every packet that all the given rules take passes the conditions of a rule
    too.
    """
    if rule.unread and not rule.hidden:
        return None
    return _least(
        (
            _is_prefix_implied(rule, given, "source"),
            _is_prefix_implied(rule, given, "destination"),
            _is_protocol_implied(rule, given),
            _is_link_implied(rule, given, "in-interface"),
            _is_link_implied(rule, given, "out-interface"),
            rule.fragment is None or any(one.fragment == rule.fragment for one in given),
            *(_is_match_implied(match, given) for match in rule.matches if match.name not in _FREE),
        )
    )


def _is_prefix_implied(rule: Rule, given: Sequence[Rule], name: str) -> Maybe:
    if name in rule.hidden:
        return None
    wanted = rule.src if name == "source" else rule.dst
    if wanted is None:
        return True
    stated = [one.src if name == "source" else one.dst for one in given]
    if any(one is not None and _holds(wanted, one) for one in stated):
        return True
    return None if any(name in one.hidden for one in given) else False


def _holds(wanted: PrefixMatch, stated: PrefixMatch) -> bool:
    if wanted.mask is not None or stated.mask is not None:
        return wanted == stated
    if not wanted.negated:
        return not stated.negated and wanted.prefix.covers(stated.prefix)
    if stated.negated:
        return stated.prefix.covers(wanted.prefix)
    return not wanted.prefix.overlaps(stated.prefix)


def _is_protocol_implied(rule: Rule, given: Sequence[Rule]) -> bool:
    return rule.protocol is None or any(one.protocol == rule.protocol for one in given)


def _is_link_implied(rule: Rule, given: Sequence[Rule], name: str) -> Maybe:
    if name in rule.hidden:
        return None
    wanted = rule.in_link if name == "in-interface" else rule.out_link
    if wanted is None:
        return True
    stated = [one.in_link if name == "in-interface" else one.out_link for one in given]
    if any(one is not None and _holds_link(wanted, one) for one in stated):
        return True
    return None if any(name in one.hidden for one in given) else False


def _holds_link(wanted: InterfaceMatch, stated: InterfaceMatch) -> bool:
    if wanted == stated:
        return True
    if stated.negated:
        return False
    fits = (
        stated.name.startswith(wanted.name)
        if wanted.wildcard
        else stated.name == wanted.name and not stated.wildcard
    )
    return not fits if wanted.negated and not stated.wildcard else fits and not wanted.negated


def _is_match_implied(match: Match, given: Sequence[Rule]) -> bool:
    others = [other for one in given for other in one.matches]
    return match in others or all(
        _is_option_implied(option, given, others) for option in match.options
    )


def _has_ports_within(rule: Rule, wanted: Sequence[tuple[int, int]]) -> bool:
    stated = ports_of(rule)
    return stated is not None and all(_is_within(one, wanted) for one in stated)


def _is_option_implied(option: MatchOption, given: Sequence[Rule], others: Sequence[Match]) -> bool:
    if option.name in ("ctstate", "state"):
        return takes_new(option)
    if option.name in PORTS and not option.negated:
        wanted = tuple(_read_ranges(option.values))
        return any(_has_ports_within(one, wanted) for one in given)
    return option == _SYN or option in _options(others)


def takes_new(option: MatchOption) -> bool:
    """Tell whether a condition on states takes what opens a connection."""
    states = {state for value in option.values for state in value.split(",")}
    return (_NEW in states) != option.negated


def _options(matches: Iterable[Match]) -> Iterator[MatchOption]:
    for match in matches:
        yield from match.options


def _read_ranges(values: Iterable[str]) -> Iterator[tuple[int, int]]:
    for value in values:
        for part in value.split(","):
            first, colon, last = part.partition(":")
            if first.isdecimal() or (colon and not first):
                open_end = 65535 if colon else int(first)
                yield int(first or 0), int(last) if last.isdecimal() else open_end


def _is_within(one: tuple[int, int], ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= one[0] and one[1] <= last for first, last in ranges)


def _takes(rule: Rule, port: int, asked: FailingTraffic) -> Maybe:
    if rule.unread and not rule.hidden:
        return None
    wanted = (TCP, UDP) if asked.protocol is None else (asked.protocol,)
    if rule.protocol is not None and (rule.protocol.negated or rule.protocol.number not in wanted):
        return False
    answers: list[Maybe] = [None if set(rule.hidden) & {"source", "destination"} else True]
    for option in _options(match for match in rule.matches if match.name not in _FREE):
        if option.name in PORTS and not option.negated:
            answers.append(_is_within((port, port), tuple(_read_ranges(option.values))))
        elif option.name in ("ctstate", "state"):
            answers.append(takes_new(option))
        elif option != _SYN:
            answers.append(None)
    if rule.dst is not None:
        answers.append(_takes_address(rule.dst, asked.addresses))
    if rule.src is not None:
        answers.append(True if _takes_address(rule.src, asked.addresses) else None)
    if rule.in_link is not None or rule.out_link is not None:
        answers.append(None)
    return _least(answers)


def _takes_address(match: PrefixMatch, addresses: Sequence[Address]) -> Maybe:
    near = [address for address in addresses if address.family == match.prefix.family]
    if not near or match.mask is not None:
        return None
    return any(match.prefix.covers(address) != match.negated for address in near)
