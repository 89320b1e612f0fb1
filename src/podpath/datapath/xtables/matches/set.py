"""`-m set`: whether the packet's addresses, ports or devices are in an ipset
(net/netfilter/xt_set.c v6.12).
"""

from __future__ import annotations

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import RuleContext, always, spell, spell_match, unknown_option
from podpath.node.netfilter import Match, MatchOption

COUNTERS = frozenset({"packets-eq", "packets-lt", "packets-gt", "bytes-eq", "bytes-lt", "bytes-gt"})
SILENT = frozenset({"return-nomatch", "update-counters", "update-subcounters"})
DIRECTIONS = frozenset({"src", "dst"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: a lookup in the set, with the counters' conditions in doubt."""
    option = next((entry for entry in match.options if entry.name == "match-set"), None)
    if option is None or len(option.values) != 2:
        raise ValueError(f"expected --match-set NAME FLAGS, saw {spell_match(match)!r}")
    unknown = [
        entry for entry in match.options if entry.name not in COUNTERS | SILENT | {"match-set"}
    ]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    check = _check_set(
        option,
        context,
        return_nomatch=any(entry.name == "return-nomatch" for entry in match.options),
    )
    counters = [entry for entry in match.options if entry.name in COUNTERS]
    return (check, *(_check_counter(entry, context) for entry in counters))


def _check_set(option: MatchOption, context: RuleContext, *, return_nomatch: bool) -> Check:
    name, flags = option.values
    directions = tuple(flags.split(","))
    if not set(directions) <= DIRECTIONS:
        raise ValueError(f"expected src or dst for each dimension, saw {spell(option)!r}")
    sets = context.sets
    wanted = not option.negated
    doubt = Doubt(
        f"the packet is in set {name} by {flags} in netns {context.netns}",
        likely=False,
        ask=f"ipset save {name}",
        negated=option.negated,
    )

    def check_set(state: HookState) -> Answer:
        answer = sets.lookup(name, directions, state, return_nomatch=return_nomatch)
        return doubt if answer is None else answer is wanted

    return check_set


def _check_counter(option: MatchOption, context: RuleContext) -> Check:
    doubt = Doubt(
        f"the set element's counter is as {spell(option)} at {context.where} wants",
        likely=True,
        ask="ipset save",
    )
    return always(doubt)
