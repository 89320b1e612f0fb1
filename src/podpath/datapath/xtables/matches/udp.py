"""`-m udp` and `-m udplite`: ports (net/netfilter/xt_tcpudp.c:udp_mt v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check
from podpath.datapath.xtables.context import RuleContext, compile_options
from podpath.datapath.xtables.matches.ports import port_options
from podpath.node.netfilter import Match


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


OPTIONS = port_options(native=True)
