"""`-j TCPMSS`: lower the maximum segment size that a SYN offers (net/netfilter/xt_TCPMSS.c v6.12).
Evaluation goes on.
"""

from __future__ import annotations

from podpath.net import protocols
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import Draw, TargetExtension, make_options
from podpath.xtables.rule import Match, MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

_CLAMP = MatchOption("clamp-mss-to-pmtu")
_SYN = Match("tcp", (MatchOption("tcp-flags", ("SYN,RST", "SYN")),))


def compile_target(target: Target, _: RuleContext) -> TargetAct:
    """Compile the one option: a size, or what fits the packet's route and the route back."""
    if len(target.options) != 1:
        raise ValueError("expected --set-mss or --clamp-mss-to-pmtu")
    option = target.options[0]
    if option.name == _CLAMP.name:
        return lambda state: state.lower_mss(None)
    size = parse_integer(single(option), most=0xFFFF)

    def set_mss(state: RuleActions) -> None:
        state.lower_mss(size)

    return set_mss


TARGET = TargetExtension(
    name="TCPMSS",
    options=make_options("set-mss", flags=("clamp-mss-to-pmtu",)),
    forms=(
        make_form("TCPMSS", r"TCPMSS (?P<flag_clamp_mss_to_pmtu>clamp to PMTU)"),
        make_form("TCPMSS", r"TCPMSS set (?P<set_mss>\d+)"),
    ),
    compiler=compile_target,
    draws=(
        Draw((MatchOption("set-mss", ("1000",)),), protocols.TCP, beside=_SYN),
        Draw((_CLAMP,), protocols.TCP, ("FORWARD", "OUTPUT", "POSTROUTING"), beside=_SYN),
    ),
)
