"""`-m mark`: the packet's firewall mark (net/netfilter/xt_mark.c:mark_mt v6.12)."""

from __future__ import annotations

from podpath.xtables.extension import Condition, MatchExtension, OptionMeaning
from podpath.xtables.seen import PacketSeen
from podpath.xtables.values import parse_mark
from podpath.xtables.wording import make_form


def _read_mark(text: str) -> Condition:
    value, mask = parse_mark(text)

    def has_mark(seen: PacketSeen) -> bool:
        return seen.mark & mask == value

    return has_mark


MATCH = MatchExtension(
    name="mark",
    options={"mark": OptionMeaning(_read_mark, draws=("0x1", "0x2", "0x4000/0x4000", "0x0/0xff"))},
    forms=(make_form("mark", r"(?:mark|MARK) match (?:(?P<no_mark>!) )?(?P<mark>\S+)"),),
)
