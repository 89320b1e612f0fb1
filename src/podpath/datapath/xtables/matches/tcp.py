"""`-m tcp`: ports, flags and options of a TCP header (net/netfilter/xt_tcpudp.c:tcp_mt v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Answer, Check, HookState
from podpath.datapath.xtables.context import (
    OptionCompiler,
    RuleContext,
    compile_options,
    doubtful,
    single,
    spell,
)
from podpath.datapath.xtables.matches.ports import of_fragment, port_options
from podpath.net import protocols
from podpath.node.netfilter import Match, MatchOption

FLAGS: Mapping[str, int] = {
    "FIN": protocols.FIN, "SYN": protocols.SYN, "RST": protocols.RST, "PSH": protocols.PSH, "ACK": protocols.ACK,
    "URG": protocols.URG, "ALL": 0x3F, "NONE": 0,
}  # fmt: skip
SYN_ONLY = (protocols.SYN | protocols.RST | protocols.ACK | protocols.FIN, protocols.SYN)
"""What `--syn` stands for: these flags are looked at, this one is set."""


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(match, context, OPTIONS)


def _compile_flags(option: MatchOption, context: RuleContext) -> Check:
    if len(option.values) != 2:
        raise ValueError(f"expected a mask and flags, saw {spell(option)!r}")
    return _check_flags(
        _parse_flags(option.values[0]), _parse_flags(option.values[1]), option, context
    )


def _compile_syn(option: MatchOption, context: RuleContext) -> Check:
    return _check_flags(*SYN_ONLY, option, context)


def _check_flags(mask: int, flags: int, option: MatchOption, context: RuleContext) -> Check:
    wanted = not option.negated
    fragment = of_fragment(option, context, native=True)

    def check_flags(state: HookState) -> Answer:
        packet = state.skb.packet
        return fragment if packet.fragment else (packet.flags & mask == flags) is wanted

    return check_flags


def _parse_flags(text: str) -> int:
    flags = 0
    for word in text.split(","):
        if word not in FLAGS:
            raise ValueError(f"expected TCP flags, saw {text!r}")
        flags |= FLAGS[word]
    return flags


def _compile_option(option: MatchOption, context: RuleContext) -> Check:
    # A walk's packets carry no list of TCP options: which ones a sender sets is its own affair.
    fact = f"the segment carries TCP option {single(option)}"
    return doubtful(
        fact, context, likely=single(option) in {"2", "4", "8", "3"}, negated=option.negated
    )


OPTIONS: Mapping[str, OptionCompiler] = {
    **port_options(native=True),
    "tcp-flags": _compile_flags,
    "syn": _compile_syn,
    "tcp-option": _compile_option,
}
