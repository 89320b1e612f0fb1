"""`-m statistic`: every n-th packet, or packets at random (net/netfilter/xt_statistic.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Check, Doubt
from podpath.datapath.xtables.context import RuleContext, always, parse_integer, single, spell_match, unknown_option
from podpath.node.netfilter import Match

KNOWN = frozenset({"mode", "probability", "every", "packet"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: the kernel draws, so the walk takes both ways."""
    options = {option.name: option for option in match.options}
    unknown = [option for name, option in options.items() if name not in KNOWN]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    mode = single(options["mode"]) if "mode" in options else ""
    if mode == "random" and "probability" in options:
        option = options["probability"]
        share = float(single(option))
        if not 0 <= share <= 1:
            raise ValueError(f"expected a probability from 0 to 1, saw {share}")
    elif mode == "nth" and "every" in options:
        option = options["every"]
        every = parse_integer(single(option))
        if every == 0:
            raise ValueError("expected --every 1 or more, saw 0")
        share = 1 / every
    else:
        raise ValueError(f"expected a mode with its number, saw {spell_match(match)!r}")
    return (_check(1 - share if option.negated else share, match, context),)


def _check(share: float, match: Match, context: RuleContext) -> Check:
    if share in {0, 1}:
        return always(share == 1)
    doubt = Doubt(f"{spell_match(match)} picks the packet at {context.where}", likely=share >= 0.5, random=True)
    return always(doubt)
