"""`-m owner`: the socket that sent a local packet (net/netfilter/xt_owner.c:owner_mt v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_integer

ASK = "ps -eo pid,user,group,comm"


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def is_local(state: HookState) -> bool:
    """Tell whether a process of this host sent the packet: only such a packet has an owner.

    The sockets by which the kernel sends errors, resets and echo replies have no file
    (net/ipv4/icmp.c, tcp_ipv4.c v6.12).
    """
    return state.skb.iif is None and state.skb.physin is None and not state.skb.by_kernel


def _compile_user(option: MatchOption, _: RuleContext) -> Check:
    first, last = _parse_ids(single(option))
    wanted = not option.negated
    doubt = Doubt(
        f"the sender runs as uid {single(option)}", likely=False, ask=ASK, negated=option.negated
    )

    def check_user(state: HookState) -> Answer:
        if not is_local(state):
            return not wanted
        uid = state.skb.uid
        return doubt if uid is None else (first <= uid <= last) is wanted

    return check_user


def _compile_group(option: MatchOption, _: RuleContext) -> Check:
    _parse_ids(single(option))
    doubt = Doubt(
        f"the sender runs as gid {single(option)}", likely=False, ask=ASK, negated=option.negated
    )

    def check_group(state: HookState) -> Answer:
        return doubt if is_local(state) else option.negated

    return check_group


def _compile_socket(option: MatchOption, _: RuleContext) -> Check:
    wanted = not option.negated

    def check_socket(state: HookState) -> bool:
        return is_local(state) is wanted

    return check_socket


def _compile_supplementary(option: MatchOption, context: RuleContext) -> Check:
    del option, context
    return lambda _: True


def _parse_ids(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    low = parse_integer(first)
    return low, (parse_integer(last) if dash else low)


OPTIONS: Mapping[str, OptionCompiler] = {
    "uid-owner": _compile_user,
    "gid-owner": _compile_group,
    "socket-exists": _compile_socket,
    "suppl-groups": _compile_supplementary,
}
