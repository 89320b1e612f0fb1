"""`-m tcp`: ports, flags and options of a TCP header (net/netfilter/xt_tcpudp.c:tcp_mt v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.net import protocols
from podpath.xtables.context import RuleContext, doubtful
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.matches.ports import of_fragment, port_options
from podpath.xtables.rule import MatchOption, single, spell
from podpath.xtables.seen import Answer, Check, Surroundings
from podpath.xtables.wording import Groups, list_ports, port_form, read_bits

FLAGS: Mapping[str, int] = {
    "FIN": protocols.FIN, "SYN": protocols.SYN, "RST": protocols.RST, "PSH": protocols.PSH,
    "ACK": protocols.ACK, "URG": protocols.URG, "ALL": 0x3F, "NONE": 0,
}  # fmt: skip
SYN_ONLY = (protocols.SYN | protocols.RST | protocols.ACK | protocols.FIN, protocols.SYN)
"""What `--syn` stands for: these flags are looked at, this one is set."""


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

    def check_flags(state: Surroundings) -> Answer:
        packet = state.skb.packet
        if packet.fragment:
            return fragment
        return (packet.flags & mask == flags) is wanted

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


def _spell_flags(value: str) -> str:
    parts = value.split(",")
    return ",".join(
        protocols.flag_names(read_bits(part)) if part.startswith("0x") else part for part in parts
    )


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    options = list_ports(groups)
    if groups["tcp_option"] is not None:
        number, negated = groups["tcp_option"], groups["no_tcp_option"] is not None
        options += (MatchOption("tcp-option", (number,), negated),)
    if groups["tcp_flags"] is not None:
        mask, _, flags = groups["tcp_flags"].partition("/")
        options += (MatchOption("tcp-flags", (mask, flags), groups["no_tcp_flags"] is not None),)
    return options


MATCH = MatchExtension(
    name="tcp",
    options={
        **port_options(native=True),
        "tcp-option": OptionMeaning(check=_compile_option),
        "tcp-flags": OptionMeaning(check=_compile_flags, words=2, save=_spell_flags),
        "syn": OptionMeaning(check=_compile_syn, words=0),
    },
    forms=(
        port_form(
            "tcp",
            r"?option=(?P<no_tcp_option>!)?(?P<tcp_option>\d+)",
            r"?flags:(?P<no_tcp_flags>!)?(?P<tcp_flags>\S+)",
        ),
    ),
    listed=_list,
)
