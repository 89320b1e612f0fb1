"""`-m ttl` and `-m hl`: time to live, hop limit (net/netfilter/xt_hl.c v6.12)."""

from __future__ import annotations

from collections.abc import Iterator

from podpath.xtables.extension import Condition, MatchExtension, OptionMeaning
from podpath.xtables.seen import PacketSeen
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import Form, make_form

MOST = 255
_DRAWS = ("62", "63", "64")


def _read_equal(text: str) -> Condition:
    number = parse_integer(text, most=MOST)

    def is_equal(seen: PacketSeen) -> bool:
        return seen.packet.ttl == number

    return is_equal


def _read_less(text: str) -> Condition:
    number = parse_integer(text, most=MOST)

    def is_less(seen: PacketSeen) -> bool:
        return seen.packet.ttl < number

    return is_less


def _read_greater(text: str) -> Condition:
    number = parse_integer(text, most=MOST)

    def is_greater(seen: PacketSeen) -> bool:
        return seen.packet.ttl > number

    return is_greater


def _word(name: str) -> Iterator[Form]:
    """Yield `TTL match TTL == 64` and its like: the sign says which option it is."""
    heading = f"{name.upper()} match {name.upper()}"
    yield make_form(name, rf"{heading} (?:==|(?P<no_{name}_eq>!=)) (?P<{name}_eq>\d+)")
    yield make_form(name, rf"{heading} < (?P<{name}_lt>\d+)")
    yield make_form(name, rf"{heading} > (?P<{name}_gt>\d+)")


TTL = MatchExtension(
    name="ttl",
    options={
        "ttl-eq": OptionMeaning(_read_equal, _DRAWS),
        "ttl-lt": OptionMeaning(_read_less, _DRAWS, negatable=False),
        "ttl-gt": OptionMeaning(_read_greater, _DRAWS, negatable=False),
        "ttl": OptionMeaning(_read_equal),
    },
    forms=tuple(_word("ttl")),
)
HL = MatchExtension(
    name="hl",
    options={
        "hl-eq": OptionMeaning(_read_equal),
        "hl-lt": OptionMeaning(_read_less, negatable=False),
        "hl-gt": OptionMeaning(_read_greater, negatable=False),
    },
    forms=tuple(_word("hl")),
    not_drawn="IPv6 alone has it",
)
