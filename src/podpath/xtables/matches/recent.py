"""`-m recent`: addresses that earlier packets left in a list (net/netfilter/xt_recent.c:recent_mt
v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext, always, unknown_option
from podpath.xtables.extension import MatchExtension, draw, make_options
from podpath.xtables.rule import Match, MatchOption, single, spell_match
from podpath.xtables.seen import Check, Doubt
from podpath.xtables.wording import Groups, make_form

ACTIONS = frozenset({"set", "rcheck", "update", "remove"})
VALUES = ("seconds", "hitcount", "name", "mask")
FLAGS = ("reap", "rttl", "rsource", "rdest")
KNOWN = ACTIONS | {*VALUES, *FLAGS}


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


_ACTIONS = {"SET": "set", "CHECK": "rcheck", "UPDATE": "update", "REMOVE": "remove"}


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    action = _ACTIONS[groups["action"] or "SET"]
    options = [MatchOption(action, (), groups["no_action"] is not None)]
    for group in ("seconds", "flag_reap", "hitcount", "flag_rttl", "name", "mask"):
        value = groups[group]
        if value is not None:
            values = () if group.startswith("flag_") else (value,)
            options.append(MatchOption(group.removeprefix("flag_"), values))
    options.append(MatchOption("rdest" if groups["side"] == "dest" else "rsource"))
    return tuple(options)


MATCH = MatchExtension(
    name="recent",
    options=make_options(*VALUES, flags=(*ACTIONS, *FLAGS)),
    forms=(
        make_form(
            "recent",
            r"(?:(?P<no_action>!) )?recent: (?P<action>SET|CHECK|UPDATE|REMOVE)",
            r"?seconds: (?P<seconds>\d+)",
            r"?(?P<flag_reap>reap)",
            r"?hit_count: (?P<hitcount>\d+)",
            r"?(?P<flag_rttl>TTL-Match)",
            r"?name: (?P<name>\S+)",
            r"?side: (?P<side>source|dest)",
            r"?mask: (?P<mask>\S+)",
        ),
    ),
    listed=_list,
    compiler=compile_match,
    draws=(
        draw("set", "name seen", "mask 255.255.255.255", "rsource"),
        draw("rcheck", "name empty", "mask 255.255.255.255", "rsource"),
    ),
)
