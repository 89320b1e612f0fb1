"""`-j CT` and `-j NOTRACK`: what conntrack shall do with a packet it has not seen yet
(net/netfilter/xt_CT.c v6.12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.conntrack.connection import Template, Zone
from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.reasons.rules import KeptFromConntrack, ZoneSet
from podpath.datapath.vocabulary import CtInfo, StepDecision
from podpath.datapath.walk.skb import is_untouched
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import MatchOption, Target
from podpath.xtables.values import parse_integer

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

ZONES = ("zone", "zone-orig", "zone-reply")
KNOWN = frozenset({*ZONES, "notrack", "helper", "ctevents", "expevents", "timeout"})


def compile_target(target: Target, _: RuleContext) -> Act:
    """Compile to a template for conntrack, or to the flag that it is to leave the packet alone."""
    options = {option.name: option for option in target.options}
    if not options.keys() <= KNOWN:
        raise ValueError(f"expected options of CT, saw {sorted(options)}")
    if target.name == "NOTRACK" or "notrack" in options:
        return _leave_untracked
    zone = next((_parse_zone(options[name]) for name in ZONES if name in options), Zone())
    template = Template(zone, single(options["helper"]) if "helper" in options else "")

    def hang_template(state: HookState, compiled: CompiledRule) -> None:
        skb = state.skb
        if is_untouched(skb):
            skb.ctinfo = CtInfo.NOT_SEEN
            skb.template = (
                template._replace(zone=zone._replace(id=skb.mark & 0xFFFF))
                if zone.from_mark
                else template
            )
            rule = compiled.rule
            state.decision = Decision(
                StepDecision.ZONE,
                ZoneSet(rule, skb.template.zone.id, skb.template.helper),
                rule.span,
            )

    return hang_template


def _leave_untracked(state: HookState, compiled: CompiledRule) -> None:
    skb = state.skb
    if is_untouched(skb):
        skb.ctinfo = CtInfo.UNTRACKED
        rule = compiled.rule
        state.decision = Decision(StepDecision.UNTRACKED, KeptFromConntrack(rule), rule.span)


def _parse_zone(option: MatchOption) -> Zone:
    text = single(option)
    number = 0 if text == "mark" else parse_integer(text, most=0xFFFF)
    return Zone(number, option.name != "zone-reply", option.name != "zone-orig", text == "mark")
