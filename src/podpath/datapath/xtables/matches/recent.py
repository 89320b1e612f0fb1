"""`-m recent`: addresses that earlier packets left in a list (net/netfilter/xt_recent.c:recent_mt
v6.12).
"""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, Doubt
from podpath.datapath.xtables.context import (
    RuleContext,
    always,
    single,
    spell_match,
    unknown_option,
)
from podpath.node.netfilter import Match

ACTIONS = frozenset({"set", "rcheck", "update", "remove"})
KNOWN = ACTIONS | {"name", "seconds", "hitcount", "rttl", "rsource", "rdest", "mask", "reap"}


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: `--set` always matches, the others look into a list that is not in the
    model.
    """
    options = {option.name: option for option in match.options}
    unknown = [option for option in match.options if option.name not in KNOWN]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    action = next((option for option in match.options if option.name in ACTIONS), None)
    if action is None:
        raise ValueError(
            f"expected --set, --rcheck, --update or --remove, saw {spell_match(match)!r}"
        )
    if action.name == "set":
        return (always(not action.negated),)
    name = single(options["name"]) if "name" in options else "DEFAULT"
    doubt = Doubt(
        f"an earlier packet is in the list as {spell_match(match)} at {context.where} wants",
        likely=action.negated,
        ask=f"cat /proc/net/xt_recent/{name}",
    )
    return (always(doubt),)
