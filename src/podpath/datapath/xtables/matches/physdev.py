"""`-m physdev`: the bridge ports of a bridged packet (net/netfilter/xt_physdev.c:physdev_mt v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _seen(state: HookState) -> bool:
    """Tell whether br_netfilter has seen the packet (`nf_bridge_info_exists`)."""
    return state.skb.physin is not None or state.skb.physout is not None


def _compile_in(option: MatchOption, _: RuleContext) -> Check:
    name, prefix, wanted = *_parse_name(single(option)), not option.negated

    def check_in(state: HookState) -> bool:
        if not _seen(state):
            return not wanted
        link = state.skb.physin
        # The kernel skips the comparison for a packet that came in by no port.
        return (
            link is None or (link.name.startswith(name) if prefix else link.name == name) is wanted
        )

    return check_in


def _compile_out(option: MatchOption, _: RuleContext) -> Check:
    name, prefix, wanted = *_parse_name(single(option)), not option.negated

    def check_out(state: HookState) -> bool:
        if not _seen(state):
            return not wanted
        link = state.skb.physout
        return (
            link is not None
            and (link.name.startswith(name) if prefix else link.name == name) is wanted
        )

    return check_out


def _compile_is_in(option: MatchOption, _: RuleContext) -> Check:
    wanted = not option.negated

    def check_is_in(state: HookState) -> bool:
        return (state.skb.physin is not None) is wanted

    return check_is_in


def _compile_is_out(option: MatchOption, _: RuleContext) -> Check:
    # --physdev-is-bridged asks the same: only a frame that stays on the bridge has an output port.
    wanted = not option.negated

    def check_is_out(state: HookState) -> bool:
        return (state.skb.physout is not None) is wanted

    return check_is_out


def _parse_name(text: str) -> tuple[str, bool]:
    return (text[:-1], True) if text.endswith("+") else (text, False)


OPTIONS: Mapping[str, OptionCompiler] = {
    "physdev-in": _compile_in,
    "physdev-out": _compile_out,
    "physdev-is-in": _compile_is_in,
    "physdev-is-out": _compile_is_out,
    "physdev-is-bridged": _compile_is_out,
}
