"""`-m connmark`: the connection's mark (net/netfilter/xt_connmark.c:connmark_mt v6.12)."""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.values import parse_mark
from podpath.xtables.wording import make_form


def _compile_mark(option: MatchOption, _: RuleContext) -> Check:
    value, mask = parse_mark(single(option))
    wanted = not option.negated

    def check_connmark(state: Surroundings) -> bool:
        connection = state.attached
        # A packet without a connection does not match, negated or not.
        return connection is not None and (connection.mark & mask == value) is wanted

    return check_connmark


MATCH = MatchExtension(
    name="connmark",
    options={"mark": OptionMeaning(check=_compile_mark)},
    forms=(
        make_form("connmark", r"(?:connmark|CONNMARK) match (?:(?P<no_mark>!) )?(?P<mark>\S+)"),
    ),
    tracks=True,
)
