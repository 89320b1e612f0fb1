"""`-m helper`: connections that a helper expected (net/netfilter/xt_helper.c v6.12)."""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning, draw
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.wording import QUOTED, make_form


def _compile_helper(option: MatchOption, _: RuleContext) -> Check:
    doubt = Doubt(
        f"helper {single(option)} expected the connection",
        likely=True,
        ask="conntrack -L expect",
        negated=option.negated,
    )

    def check_helper(state: Surroundings) -> Answer:
        connection = state.skb.connection
        # Without a master connection no helper is asked.
        if connection is not None and connection.expected:
            return doubt
        return option.negated

    return check_helper


MATCH = MatchExtension(
    name="helper",
    options={"helper": OptionMeaning(check=_compile_helper)},
    forms=(make_form("helper", r"helper match (?:(?P<no_helper>!) )?" + QUOTED.format("helper")),),
    tracks=True,
    draws=(draw("helper ftp"),),
)
