"""`-j DNAT`: a new destination for a connection (net/netfilter/xt_nat.c:xt_dnat_target v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.nat.binding import bind_destination
from podpath.datapath.nat.ranges import parse_nat_range
from podpath.datapath.netfilter.state import Act, HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

RANDOM = frozenset({"random", "random-fully"})
KNOWN = RANDOM | {"to-destination", "persistent"}


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile the options to one range."""
    options = {option.name: option for option in target.options}
    if "to-destination" not in options or not options.keys() <= KNOWN:
        raise ValueError(f"expected --to-destination, saw {sorted(options)}")
    allowed = parse_nat_range(single(options["to-destination"]), context.family)
    if len(options) > 1:
        allowed = allowed._replace(
            random=not RANDOM.isdisjoint(options), persistent="persistent" in options
        )

    def rewrite_destination(state: HookState, compiled: CompiledRule) -> Verdict:
        return bind_destination(state, compiled.rule, allowed)

    return rewrite_destination
