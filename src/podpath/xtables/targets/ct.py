"""`-j CT` and `-j NOTRACK`: what conntrack is to do with a packet it has not seen yet
(net/netfilter/xt_CT.c v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import Draw, TargetExtension, make_options
from podpath.xtables.rule import MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct, ZoneWanted
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

ZONES = ("zone", "zone-orig", "zone-reply")
VALUES = ("helper", "timeout", "ctevents", "expevents", *ZONES)


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile to a template for conntrack, or to the flag that it is to leave the packet alone."""
    options = {option.name: option for option in target.options}
    if not options.keys() <= {*VALUES, "notrack"}:
        raise ValueError(f"expected options of CT, saw {sorted(options)}")
    if target.name == "NOTRACK" or "notrack" in options:
        return lambda state: state.leave_untracked()
    zone = next((_parse_zone(options[name]) for name in ZONES if name in options), ZoneWanted())
    helper = single(options["helper"]) if "helper" in options else ""

    def hang_template(state: RuleActions) -> None:
        state.hang_template(zone, helper)

    return hang_template


def _parse_zone(option: MatchOption) -> ZoneWanted:
    text = single(option)
    number = 0 if text == "mark" else parse_integer(text, most=0xFFFF)
    return ZoneWanted(
        number, option.name != "zone-reply", option.name != "zone-orig", text == "mark"
    )


CT = TargetExtension(
    name="CT",
    options=make_options(*VALUES, flags=("notrack",)),
    forms=(
        make_form(
            "CT",
            r"CT",
            r"?(?P<flag_notrack>notrack)",
            r"?helper (?P<helper>\S+)",
            r"?timeout (?P<timeout>\S+)",
            r"?ctevents (?P<ctevents>\S+)",
            r"?expevents (?P<expevents>\S+)",
            r"?zone-orig (?P<zone_orig>\S+)",
            r"?zone-reply (?P<zone_reply>\S+)",
            r"?zone (?P<zone>\S+)",
        ),
    ),
    bare=True,
    tables=frozenset({"raw"}),
    compiler=compile_target,
    tracks=True,
    draws=(Draw((MatchOption("ctevents", ("new",)),), tables=("raw",)),),
)
NOTRACK = TargetExtension(
    name="NOTRACK",
    forms=(make_form("NOTRACK", r"NOTRACK"),),
    bare=True,
    tables=frozenset({"raw"}),
    compiler=compile_target,
)
