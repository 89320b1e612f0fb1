"""`-m physdev`: the bridge ports of a bridged packet (net/netfilter/xt_physdev.c:physdev_mt
v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.wording import make_form, option_form


def _seen(state: Surroundings) -> bool:
    """Tell whether br_netfilter has seen the packet (`nf_bridge_info_exists`)."""
    return state.skb.physin is not None or state.skb.physout is not None


def _compile_in(option: MatchOption, _: RuleContext) -> Check:
    name, prefix, wanted = *_parse_name(single(option)), not option.negated

    def check_in(state: Surroundings) -> bool:
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

    def check_out(state: Surroundings) -> bool:
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

    def check_is_in(state: Surroundings) -> bool:
        return (state.skb.physin is not None) is wanted

    return check_is_in


def _compile_is_out(option: MatchOption, _: RuleContext) -> Check:
    # --physdev-is-bridged asks the same: only a frame that stays on the bridge has an output port.
    wanted = not option.negated

    def check_is_out(state: Surroundings) -> bool:
        return (state.skb.physout is not None) is wanted

    return check_is_out


def _parse_name(text: str) -> tuple[str, bool]:
    if text.endswith("+"):
        return (text[:-1], True)
    return (text, False)


MATCH = MatchExtension(
    name="physdev",
    options={
        "physdev-in": OptionMeaning(check=_compile_in),
        "physdev-out": OptionMeaning(check=_compile_out),
        "physdev-is-in": OptionMeaning(check=_compile_is_in, words=0),
        "physdev-is-out": OptionMeaning(check=_compile_is_out, words=0),
        "physdev-is-bridged": OptionMeaning(check=_compile_is_out, words=0),
    },
    forms=(
        make_form(
            "physdev",
            r"PHYSDEV match",
            r"?(?:(?P<no_flag_physdev_is_in>!) )?(?P<flag_physdev_is_in>--physdev-is-in)",
            r"?" + option_form("--physdev-in", "physdev-in"),
            r"?(?:(?P<no_flag_physdev_is_out>!) )?(?P<flag_physdev_is_out>--physdev-is-out)",
            r"?" + option_form("--physdev-out", "physdev-out"),
            r"?(?:(?P<no_flag_physdev_is_bridged>!) )?"
            r"(?P<flag_physdev_is_bridged>--physdev-is-bridged)",
        ),
    ),
)
