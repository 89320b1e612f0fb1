"""One rule, compiled: the fields of `struct ipt_ip` and the matches as a row of checks, the target
as what it does.

net/ipv4/netfilter/ip_tables.c:ip_packet_match v6.12. The flavors agree here: iptables-nft writes
the same conditions as nftables expressions, or keeps the match whole (`nft_compat`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.state import Act, Check, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Verdict
from podpath.datapath.reasons.rules import RuleDecided
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.registry import compile_match, compile_target
from podpath.net.addresses import WIDTH
from podpath.net.protocols import protocol_name
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Target,
)
from podpath.xtables.context import RuleContext, doubtful
from podpath.xtables.rule import spell, spell_match

COUNT, ACT, JUMP, GOTO, RETURN = range(5)
"""What a rule does once it matches: count and go on, run its target, call a chain, go to a chain,
return.
"""


def compile_rule(context: RuleContext, *, is_chain: bool) -> CompiledRule:
    """Compile a rule; `is_chain` tells whether its target is a user chain's name."""
    rule = context.rule
    checks = tuple([check for check, _, _ in _conditions(context)])
    target = rule.target
    if target is None:
        return CompiledRule(rule, checks, COUNT, None)
    if is_chain:
        return CompiledRule(rule, checks, GOTO if target.goto else JUMP, None)
    if target.name == "RETURN":
        return CompiledRule(rule, checks, RETURN, None)
    act = _compile_act(target, context)
    return CompiledRule(rule, checks, COUNT if act is None else ACT, act)


def describe_conditions(context: RuleContext) -> tuple[tuple[Check, str], ...]:
    """Return every condition of a rule with its spelling, as `compile_rule` orders them."""
    return tuple((check, spelling(part)) for check, spelling, part in _conditions(context))


def _compile_act(target: Target, context: RuleContext) -> Act | None:
    if target.name in VERDICTS:
        return VERDICTS[target.name]
    return compile_target(target, context)


def _accept(state: HookState, compiled: CompiledRule) -> Verdict:
    rule = compiled.rule
    state.decision = Decision(
        StepDecision.ACCEPT, RuleDecided(rule, StepDecision.ACCEPT), rule.span
    )
    return ACCEPT


def _drop(state: HookState, compiled: CompiledRule) -> Verdict:
    rule = compiled.rule
    state.decision = Decision(StepDecision.DROP, RuleDecided(rule, StepDecision.DROP), rule.span)
    return DROP


VERDICTS: dict[str, Act] = {"ACCEPT": _accept, "DROP": _drop}


Spelling = Callable[[Any], str]
"""Spells one part of a rule; asked only where somebody reads it."""


def _conditions(context: RuleContext) -> Iterator[tuple[Check, Spelling, object]]:
    """Yield the checks of a rule, each with the part it stands for and how that is spelled."""
    rule = context.rule
    if rule.protocol is not None and rule.protocol.number:
        yield _check_protocol(rule.protocol), _spell_protocol, rule.protocol
    if rule.dst is not None:
        yield _check_destination(rule.dst), _spell_destination, rule.dst
    if rule.src is not None:
        yield _check_source(rule.src), _spell_source, rule.src
    if rule.in_link is not None:
        yield _check_in(rule.in_link), _spell_in, rule.in_link
    if rule.out_link is not None:
        yield _check_out(rule.out_link), _spell_out, rule.out_link
    if rule.fragment is not None:
        yield _check_fragment(wanted=rule.fragment), _spell_fragment, rule.fragment
    for match in rule.matches:
        checks = compile_match(match, context)
        if len(checks) == len(match.options):
            for check, option in zip(checks, match.options, strict=True):
                yield check, _spell_option, (match, option)
        else:
            for check in checks:
                yield check, spell_match, match
    if rule.unread:
        fact = f"the packet matches {context.where}, whose text is not whole ({rule.unread})"
        yield doubtful(fact, context, likely=False), str, rule.unread


@lru_cache(maxsize=512)
def _check_protocol(match: ProtocolMatch) -> Check:
    number, wanted = match.number, not match.negated

    def check_protocol(state: HookState) -> bool:
        return (state.skb.packet.protocol == number) is wanted

    return check_protocol


def _check_destination(match: PrefixMatch) -> Check:
    mask, network, wanted = _network(match)

    def check_destination(state: HookState) -> bool:
        return (state.skb.packet.dst.value & mask == network) is wanted

    return check_destination


def _check_source(match: PrefixMatch) -> Check:
    mask, network, wanted = _network(match)

    def check_source(state: HookState) -> bool:
        return (state.skb.packet.src.value & mask == network) is wanted

    return check_source


def _network(match: PrefixMatch) -> tuple[int, int, bool]:
    """Return mask, network and whether an address has to be in it."""
    width = WIDTH[match.prefix.family]
    shift = width - match.prefix.length
    mask = match.mask if match.mask is not None else ((1 << width) - 1) >> shift << shift
    return mask, match.prefix.network & mask, not match.negated


@lru_cache(maxsize=512)
def _check_in(match: InterfaceMatch) -> Check:
    name, wanted = match.name, not match.negated
    if match.wildcard:
        return lambda state: state.in_name.startswith(name) is wanted
    return lambda state: (state.in_name == name) is wanted


@lru_cache(maxsize=512)
def _check_out(match: InterfaceMatch) -> Check:
    name, wanted = match.name, not match.negated
    if match.wildcard:
        return lambda state: state.out_name.startswith(name) is wanted
    return lambda state: (state.out_name == name) is wanted


def _check_fragment(*, wanted: bool) -> Check:
    return lambda state: state.skb.packet.fragment is wanted


def _not(match: ProtocolMatch | PrefixMatch | InterfaceMatch) -> str:
    return "! " if match.negated else ""


def _spell_protocol(match: ProtocolMatch) -> str:
    return f"{_not(match)}-p {protocol_name(match.number)}"


def _spell_destination(match: PrefixMatch) -> str:
    return f"{_not(match)}-d {match.prefix}"


def _spell_source(match: PrefixMatch) -> str:
    return f"{_not(match)}-s {match.prefix}"


def _spell_in(match: InterfaceMatch) -> str:
    return f"{_not(match)}-i {match.name}{'+' if match.wildcard else ''}"


def _spell_out(match: InterfaceMatch) -> str:
    return f"{_not(match)}-o {match.name}{'+' if match.wildcard else ''}"


def _spell_fragment(wanted: bool) -> str:  # noqa: FBT001  # the rule's own flag
    return "-f" if wanted else "! -f"


def _spell_option(part: tuple[Match, MatchOption]) -> str:
    return f"-m {part[0].name} {spell(part[1])}"
