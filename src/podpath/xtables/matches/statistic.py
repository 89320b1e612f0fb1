"""`-m statistic`: every n-th packet, or packets at random (net/netfilter/xt_statistic.c v6.12)."""

from __future__ import annotations

from functools import lru_cache

from podpath.xtables.context import RuleContext, always, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, single, spell_match
from podpath.xtables.seen import Check, Doubt
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

KNOWN = frozenset({"mode", "probability", "every", "packet"})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check: the kernel draws, so the walk takes both ways."""
    for option in match.options:
        if option.name not in KNOWN:
            return (unknown_option(match.name, option, context),)
    share, spelling = _read(match)
    if share in {0, 1}:
        return (always(share == 1),)
    return (
        always(Doubt(f"{spelling} picks the packet at {context.where}", share >= 0.5, random=True)),
    )


@lru_cache(maxsize=512)
def _read(match: Match) -> tuple[float, str]:
    """Return the share of packets that match, and the match's spelling: the rules of all services
    share a few.
    """
    options = {option.name: option for option in match.options}
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
    return 1 - share if option.negated else share, spell_match(match)


MATCH = MatchExtension(
    name="statistic",
    options=make_options(*KNOWN),
    forms=(
        make_form(
            "statistic",
            r"statistic mode (?P<mode>random)",
            r"(?:(?P<no_probability>!) )?probability (?P<probability>\S+)",
        ),
        make_form(
            "statistic",
            r"statistic mode (?P<mode>nth)",
            r"(?:(?P<no_every>!) )?every (?P<every>\d+)",
            r"?packet (?P<packet>\d+)",
        ),
    ),
    compiler=compile_match,
)
