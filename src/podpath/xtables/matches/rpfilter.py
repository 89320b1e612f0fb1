"""`-m rpfilter`: whether the route back to the source is the way the packet came
(net/ipv4/netfilter/ipt_rpfilter.c v6.12).
"""

from __future__ import annotations

from podpath.xtables.context import RuleContext, unknown_option
from podpath.xtables.extension import Draw, MatchExtension, make_options
from podpath.xtables.rule import Match, MatchOption
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.wording import make_form

KNOWN = frozenset({"loose", "validmark", "accept-local", "invert"})
TABLES = ("raw", "mangle")


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: the options together say how the lookup is made."""
    unknown = [option for option in match.options if option.name not in KNOWN]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    names = {option.name for option in match.options}
    wanted = "invert" not in names
    loose, valid_mark, accept_local = (
        "loose" in names,
        "validmark" in names,
        "accept-local" in names,
    )

    def check_rpfilter(state: Surroundings) -> bool:
        if state.in_name == "lo":
            return wanted
        mark = state.skb.mark if valid_mark else 0
        return state.reverse_path(mark=mark, loose=loose, accept_local=accept_local) is wanted

    return (check_rpfilter,)


MATCH = MatchExtension(
    name="rpfilter",
    options=make_options(flags=KNOWN),
    forms=(
        make_form(
            "rpfilter",
            r"rpfilter",
            r"?(?P<flag_loose>loose)",
            r"?(?P<flag_validmark>validmark)",
            r"?(?P<flag_accept_local>accept-local)",
            r"?(?P<flag_invert>invert)",
        ),
    ),
    tables=frozenset(TABLES),
    compiler=compile_match,
    draws=tuple(
        Draw(tuple(map(MatchOption, names)), 0, ("PREROUTING",), TABLES)
        for names in ((), ("invert",), ("loose", "validmark"), ("accept-local", "invert"))
    ),
)
