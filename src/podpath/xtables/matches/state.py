"""`-m state`: the older spelling of `--ctstate` (net/netfilter/xt_state.c:state_mt v6.12)."""

from __future__ import annotations

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.matches.conntrack import packet_state
from podpath.xtables.rule import MatchOption, words
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.wording import make_form, option_form

STATES = frozenset({"INVALID", "ESTABLISHED", "RELATED", "NEW", "UNTRACKED"})


def _compile_state(option: MatchOption, _: RuleContext) -> Check:
    states = frozenset(words(option))
    if not states or not states <= STATES:
        raise ValueError(f"expected connection states, saw {sorted(states)}")
    wanted = not option.negated

    def check_state(state: Surroundings) -> bool:
        # A packet that conntrack has not seen counts as invalid.
        return (packet_state(state.skb) in states) is wanted

    return check_state


MATCH = MatchExtension(
    name="state",
    options={"state": OptionMeaning(check=_compile_state)},
    forms=(make_form("state", option_form("state", "state")),),
    tracks=True,
)
