"""`-j TTL` and `-j HL`: time to live, hop limit (net/netfilter/xt_HL.c v6.12). Evaluation goes
on.
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import list_change, make_form

_WORDS = r"(?P<action>set to|increment by|decrement by) (?P<count>\d+)"


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile the one option; a packet whose TTL falls to zero goes on to where that is looked
    at.
    """
    if len(target.options) != 1:
        raise ValueError(f"expected one option of {target.name}")
    option = target.options[0]
    action = option.name.rpartition("-")[2]
    if action not in {"set", "inc", "dec"}:
        raise ValueError(f"expected an option of {target.name}, saw --{option.name}")
    number = parse_integer(single(option), most=255)

    def set_ttl(state: RuleActions) -> None:
        before = state.skb.packet.ttl
        changed = {
            "set": number,
            "inc": min(255, before + number),
            "dec": max(0, before - number),
        }
        state.set_ttl(changed[action])

    return set_ttl


TTL = TargetExtension(
    name="TTL",
    options=make_options("ttl-set", "ttl-dec", "ttl-inc"),
    forms=(make_form("TTL", f"TTL {_WORDS}"),),
    listed=list_change("ttl"),
    tables=frozenset({"mangle"}),
    compiler=compile_target,
)
HL = TargetExtension(
    name="HL",
    options=make_options("hl-set", "hl-inc", "hl-dec"),
    forms=(make_form("HL", f"HL {_WORDS}"),),
    listed=list_change("hl"),
    tables=frozenset({"mangle"}),
    compiler=compile_target,
    not_drawn="IPv6 alone has it",
)
