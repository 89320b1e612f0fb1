"""`-m policy`: whether IPsec handles the packet (net/netfilter/xt_policy.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, Doubt
from podpath.datapath.xtables.context import (
    RuleContext,
    always,
    single,
    spell_match,
    unknown_option,
)
from podpath.node.netfilter import Match

DETAILS = frozenset({"strict", "reqid", "spi", "proto", "mode", "tunnel-src", "tunnel-dst", "next"})
"""Options that narrow which IPsec policy it is."""


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check; a node's IPsec policies are not in the model, so there are likely none."""
    unknown = [option for option in match.options if option.name not in DETAILS | {"dir", "pol"}]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    options = {option.name: option for option in match.options}
    wants_none = (
        "pol" in options and (single(options["pol"]) == "none") is not options["pol"].negated
    )
    if wants_none or not DETAILS & options.keys():
        way = single(options["dir"]) if "dir" in options else "in"
        doubt = Doubt(
            f"IPsec handles the packet ({way})",
            likely=False,
            ask="ip xfrm policy",
            negated=wants_none,
        )
    else:
        doubt = Doubt(
            f"IPsec handles the packet as {spell_match(match)} says",
            likely=False,
            ask="ip xfrm policy",
        )
    return (always(doubt),)
