"""`-m set`: whether the packet's addresses, ports or devices are in an ipset
(net/netfilter/xt_set.c v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext, always, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, MatchOption, spell, spell_match
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.wording import Groups, make_form, split_words

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

    def check_set(state: Surroundings) -> Answer:
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


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    names = split_words(groups, "match_set")
    options = [MatchOption("match-set", names, groups["no_match_set"] is not None)]
    for group, value in groups.items():
        if value is not None and not group.startswith("no_") and group != "match_set":
            name = group.removeprefix("flag_")
            values = () if group.startswith("flag_") else (value,)
            negated = groups.get(f"no_{name}") is not None
            options.append(MatchOption(name.replace("_", "-"), values, negated))
    return tuple(options)


MATCH = MatchExtension(
    name="set",
    options=make_options(*COUNTERS, flags=SILENT, pairs=("match-set", "set")),
    forms=(
        make_form(
            "set",
            r"(?:(?P<no_match_set>!) )?match-set (?P<match_set>\S+ \S+)",
            r"?(?P<flag_return_nomatch>return-nomatch)",
            r"?(?:(?P<no_update_counters>!) )(?P<flag_update_counters>update-counters)",
            r"?(?:(?P<no_update_subcounters>!) )(?P<flag_update_subcounters>update-subcounters)",
            r"?(?:(?P<no_packets_eq>!) )?packets-eq (?P<packets_eq>\d+)",
            r"?packets-lt (?P<packets_lt>\d+)",
            r"?packets-gt (?P<packets_gt>\d+)",
            r"?(?:(?P<no_bytes_eq>!) )?bytes-eq (?P<bytes_eq>\d+)",
            r"?bytes-lt (?P<bytes_lt>\d+)",
            r"?bytes-gt (?P<bytes_gt>\d+)",
        ),
    ),
    listed=_list,
    compiler=compile_match,
)
