"""One rule, compiled: the fields of `struct ipt_ip` and the matches as a row of checks, the target as what it does.

net/ipv4/netfilter/ip_tables.c:ip_packet_match v6.12. The flavours agree here: iptables-nft writes the same conditions as
nftables expressions, or keeps the match whole (`nft_compat`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Check, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Verdict
from podpath.datapath.xtables.context import RuleContext, doubtful, spell, spell_match
from podpath.datapath.xtables.registry import compile_match, compile_target
from podpath.net.addresses import WIDTH
from podpath.net.packet import Packet
from podpath.net.protocols import protocol_name
from podpath.node.netfilter import InterfaceMatch, Match, MatchOption, PrefixMatch, ProtocolMatch, Rule, Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.tables import CompiledChain

COUNT, ACT, JUMP, GOTO, RETURN = range(5)
"""What a rule does once it matches: count and go on, run its target, call a chain, go to a chain, return."""


class CompiledRule:
    """A rule as evaluation needs it. Mutable until it stands in its chain: its place, and the chain it jumps to."""

    __slots__ = ("act", "chain", "checks", "index", "kind", "rule")

    def __init__(self, rule: Rule, checks: tuple[Check, ...], kind: int, act: Act | None) -> None:
        """Hold the parts."""
        self.rule = rule
        self.checks = checks
        """All have to hold."""
        self.kind = kind
        self.act = act
        self.index = 0
        """Its place in the chain's rules, from 0; the rule's own position may count rules that are not shown."""
        self.chain: CompiledChain | None = None
        """Where a jump goes, if that is the same in every walk; None before the first time."""


def compile_rule(context: RuleContext, *, is_chain: bool) -> CompiledRule:
    """Compile a rule; `is_chain` tells whether its target is a user chain's name."""
    rule = context.rule
    checks = tuple(check for check, _ in _conditions(context))
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
    """Give every condition of a rule with its spelling, as `compile_rule` orders them."""
    return tuple((check, text()) for check, text in _conditions(context))


def _compile_act(target: Target, context: RuleContext) -> Act | None:
    return VERDICTS[target.name] if target.name in VERDICTS else compile_target(target, context)


def _accept(state: HookState, compiled: CompiledRule) -> Verdict:
    rule = compiled.rule
    state.decision = Decision("accept", "{0} rule {1} accepts it", (rule.chain, rule.position), rule.span)
    return ACCEPT


def _drop(state: HookState, compiled: CompiledRule) -> Verdict:
    rule = compiled.rule
    state.decision = Decision("drop", "{0} rule {1} drops it", (rule.chain, rule.position), rule.span)
    return DROP


VERDICTS: dict[str, Act] = {"ACCEPT": _accept, "DROP": _drop}


def _conditions(context: RuleContext) -> Iterator[tuple[Check, Callable[[], str]]]:
    rule = context.rule
    width = WIDTH[context.family]
    if rule.protocol is not None and rule.protocol.number:
        yield _check_protocol(rule.protocol), _protocol_text(rule.protocol)
    if rule.dst is not None:
        yield _check_destination(rule.dst, width), _prefix_text("-d", rule.dst)
    if rule.src is not None:
        yield _check_source(rule.src, width), _prefix_text("-s", rule.src)
    if rule.in_link is not None:
        yield _check_in(rule.in_link), _link_text("-i", rule.in_link)
    if rule.out_link is not None:
        yield _check_out(rule.out_link), _link_text("-o", rule.out_link)
    if rule.fragment is not None:
        yield _check_fragment(rule.fragment), lambda: "-f" if rule.fragment else "! -f"
    for match in rule.matches:
        checks = compile_match(match, context)
        if len(checks) == len(match.options):
            yield from (
                (check, partial(_option_text, match, option)) for check, option in zip(checks, match.options, strict=True)
            )
        else:
            yield from ((check, partial(spell_match, match)) for check in checks)
    if rule.unread:
        fact = f"the packet matches {context.where}, whose text is not whole ({rule.unread})"
        yield doubtful(fact, context, likely=False), lambda: rule.unread


def _check_protocol(match: ProtocolMatch) -> Check:
    number, wanted = match.number, not match.negated

    def check_protocol(state: HookState) -> bool:
        return (state.skb.packet.protocol == number) is wanted

    return check_protocol


def _check_destination(match: PrefixMatch, width: int) -> Check:
    return _check_address(match, width, lambda packet: packet.dst.value)


def _check_source(match: PrefixMatch, width: int) -> Check:
    return _check_address(match, width, lambda packet: packet.src.value)


def _check_address(match: PrefixMatch, width: int, select: Callable[[Packet], int]) -> Check:
    wanted = not match.negated
    shift = width - match.prefix.length
    mask = match.mask if match.mask is not None else ((1 << width) - 1) >> shift << shift
    network = match.prefix.network & mask

    def check_address(state: HookState) -> bool:
        return (select(state.skb.packet) & mask == network) is wanted

    return check_address


def _check_in(match: InterfaceMatch) -> Check:
    name, wanted = match.name, not match.negated
    if match.wildcard:
        return lambda state: state.in_name.startswith(name) is wanted
    return lambda state: (state.in_name == name) is wanted


def _check_out(match: InterfaceMatch) -> Check:
    name, wanted = match.name, not match.negated
    if match.wildcard:
        return lambda state: state.out_name.startswith(name) is wanted
    return lambda state: (state.out_name == name) is wanted


def _check_fragment(wanted: bool) -> Check:  # noqa: FBT001  # the rule's own flag
    return lambda state: state.skb.packet.fragment is wanted


def _option_text(match: Match, option: MatchOption) -> str:
    return f"-m {match.name} {spell(option)}"


def _protocol_text(match: ProtocolMatch) -> Callable[[], str]:
    return lambda: f"{'! ' if match.negated else ''}-p {protocol_name(match.number)}"


def _prefix_text(flag: str, match: PrefixMatch) -> Callable[[], str]:
    return lambda: f"{'! ' if match.negated else ''}{flag} {match.prefix}"


def _link_text(flag: str, match: InterfaceMatch) -> Callable[[], str]:
    return lambda: f"{'! ' if match.negated else ''}{flag} {match.name}{'+' if match.wildcard else ''}"
