"""`-m state`: the older spelling of `--ctstate` (net/netfilter/xt_state.c:state_mt v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, words
from podpath.datapath.xtables.matches.conntrack import packet_state
from podpath.node.netfilter import Match, MatchOption

STATES = frozenset({"INVALID", "ESTABLISHED", "RELATED", "NEW", "UNTRACKED"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, {"state": _compile_state})


def _compile_state(option: MatchOption, _: RuleContext) -> Check:
    states = frozenset(words(option))
    if not states or not states <= STATES:
        raise ValueError(f"expected connection states, saw {sorted(states)}")
    wanted = not option.negated

    def check_state(state: HookState) -> bool:
        # A packet that conntrack has not seen counts as invalid.
        return (packet_state(state.skb) in states) is wanted

    return check_state
