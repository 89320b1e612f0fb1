"""`-j SNAT`: a new source for a connection (net/netfilter/xt_nat.c:xt_snat_target v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.nat.binding import bind_source
from podpath.datapath.nat.ranges import parse_nat_range
from podpath.datapath.netfilter.state import Act, HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.xtables.context import RuleContext, single
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

RANDOM = frozenset({"random", "random-fully"})
KNOWN = RANDOM | {"to-source", "persistent"}


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile the options to one range."""
    options = {option.name: option for option in target.options}
    if "to-source" not in options or not options.keys() <= KNOWN:
        raise ValueError(f"expected --to-source, saw {sorted(options)}")
    allowed = parse_nat_range(single(options["to-source"]), context.family)
    allowed = allowed._replace(
        random=bool(RANDOM & options.keys()), persistent="persistent" in options
    )

    def rewrite_source(state: HookState, compiled: CompiledRule) -> Verdict:
        return bind_source(state, compiled.rule, allowed)

    return rewrite_source
