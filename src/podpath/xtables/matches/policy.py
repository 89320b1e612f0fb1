"""`-m policy`: whether IPsec handles the packet (net/netfilter/xt_policy.c v6.12)."""

from __future__ import annotations

import re

from podpath.xtables.context import RuleContext, always, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, MatchOption, single, spell_match
from podpath.xtables.seen import Check, Doubt
from podpath.xtables.wording import Groups, make_form

DETAILS = frozenset({"strict", "reqid", "spi", "proto", "mode", "tunnel-src", "tunnel-dst", "next"})
"""Options that narrow which IPsec policy it is."""
FLAGS = frozenset({"strict", "next"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check; a node's IPsec policies are not in the model, so there are likely
    none.
    """
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


_ELEMENT = re.compile(
    r"\[(?P<place>\d)\]|(?P<no>! )?(?P<name>reqid|spi|proto|mode|tunnel-dst|tunnel-src) "
    r"(?P<value>\S+)"
)
_PROTOCOLS = {"50": "esp", "51": "ah", "108": "ipcomp"}


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    options = [
        MatchOption("dir", (groups["dir"] or "",)),
        MatchOption("pol", (groups["pol"] or "",)),
    ]
    if groups["flag_strict"]:
        options.append(MatchOption("strict"))
    for found in _ELEMENT.finditer(groups["elements"] or ""):
        if found["name"] is None:
            if found["place"] != "0":
                options.append(MatchOption("next"))
            continue
        value = found["value"]
        if found["name"] == "proto":
            value = _PROTOCOLS.get(value, value)
        options.append(MatchOption(found["name"], (value,), found["no"] is not None))
    return tuple(options)


MATCH = MatchExtension(
    name="policy",
    options=make_options("dir", "pol", *sorted(DETAILS - FLAGS), flags=FLAGS),
    forms=(
        make_form(
            "policy",
            r"policy match dir (?P<dir>\S+) pol (?P<pol>none|ipsec)",
            r"?(?P<flag_strict>strict)",
            r"?(?P<elements>(?:\[\d\]|(?:! )?(?:reqid|spi|proto|mode|tunnel-dst|tunnel-src) \S+)"
            r"(?: \[\d\]| (?:! )?(?:reqid|spi|proto|mode|tunnel-dst|tunnel-src) \S+)*)",
        ),
    ),
    listed=_list,
    compiler=compile_match,
)
