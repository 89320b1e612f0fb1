"""`-m ecn`: congestion bits of the IP and TCP headers (net/netfilter/xt_ecn.c v6.12)."""

from __future__ import annotations

from podpath.net import protocols
from podpath.xtables.context import OptionCompiler, RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning, draw
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form


def _flag(bit: int) -> OptionCompiler:
    def compile_flag(option: MatchOption, _: RuleContext) -> Check:
        wanted = not option.negated

        def check_flag(state: Surroundings) -> bool:
            return (state.skb.packet.flags & bit != 0) is wanted

        return check_flag

    return compile_flag


def _compile_ect(option: MatchOption, _: RuleContext) -> Check:
    bits = parse_integer(single(option), most=3)
    wanted = not option.negated

    def check_ect(state: Surroundings) -> bool:
        return (state.skb.packet.tos & 3 == bits) is wanted

    return check_ect


MATCH = MatchExtension(
    name="ecn",
    options={
        "ecn-tcp-cwr": OptionMeaning(words=0, check=_flag(protocols.CWR)),
        "ecn-tcp-ece": OptionMeaning(words=0, check=_flag(protocols.ECE)),
        "ecn-ip-ect": OptionMeaning(check=_compile_ect),
    },
    forms=(
        make_form(
            "ecn",
            r"ECN match",
            r"?(?P<no_flag_ecn_tcp_ece>!)?(?P<flag_ecn_tcp_ece>ECE)",
            r"?(?P<no_flag_ecn_tcp_cwr>!)?(?P<flag_ecn_tcp_cwr>CWR)",
            r"?(?P<no_ecn_ip_ect>!)?ECT=(?P<ecn_ip_ect>\d)",
        ),
    ),
    draws=(
        draw("ecn-tcp-cwr", protocol=protocols.TCP),
        draw("ecn-tcp-ece", protocol=protocols.TCP),
        draw("ecn-ip-ect 0"),
    ),
)
