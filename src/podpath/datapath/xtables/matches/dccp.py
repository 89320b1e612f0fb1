"""`-m dccp`: ports; types and options stay in doubt, since packets carry none here
(net/netfilter/xt_dccp.c v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check
from podpath.datapath.xtables.context import OptionCompiler, RuleContext, compile_options, doubtful
from podpath.datapath.xtables.matches.ports import port_options
from podpath.node.netfilter import Match, MatchOption


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _compile_types(option: MatchOption, context: RuleContext) -> Check:
    return doubtful(
        f"the packet's DCCP type is {' '.join(option.values)}",
        context,
        likely=False,
        negated=option.negated,
    )


def _compile_option(option: MatchOption, context: RuleContext) -> Check:
    return doubtful(
        f"the packet has DCCP option {' '.join(option.values)}",
        context,
        likely=False,
        negated=option.negated,
    )


OPTIONS: Mapping[str, OptionCompiler] = {
    **port_options(native=False),
    "dccp-types": _compile_types,
    "dccp-option": _compile_option,
}
