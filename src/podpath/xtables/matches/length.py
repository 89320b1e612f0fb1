"""`-m length`: bytes of the IP packet, or of an IPv6 packet behind its header
(net/netfilter/xt_length.c v6.12).
"""

from __future__ import annotations

from podpath.xtables.extension import Condition, MatchExtension, OptionMeaning
from podpath.xtables.seen import PacketSeen
from podpath.xtables.values import parse_range
from podpath.xtables.wording import make_form


def _read_length(text: str) -> Condition:
    low, high = parse_range(text, most=0xFFFF)

    def has_length(seen: PacketSeen) -> bool:
        return low <= seen.packet.length <= high

    return has_length


MATCH = MatchExtension(
    name="length",
    options={"length": OptionMeaning(_read_length, draws=("0:60", "40:100", "52", "100:65535"))},
    forms=(make_form("length", r"length (?P<no_length>!)?(?P<length>\S+)"),),
)
