"""`-m tos` and `-m dscp`: the type-of-service byte and its upper six bits (net/netfilter/xt_dscp.c
v6.12).
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.xtables.extension import Condition, MatchExtension, OptionMeaning
from podpath.xtables.seen import PacketSeen
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

TOS_NAMES: Mapping[str, int] = {
    "Minimize-Delay": 0x10,
    "Maximize-Throughput": 0x08,
    "Maximize-Reliability": 0x04,
    "Minimize-Cost": 0x02,
    "Normal-Service": 0x00,
}
NAMED_MASK = 0x3F
"""A symbolic name looks at these bits only (iptables, extensions/tos_values.c)."""

DSCP_CLASSES: Mapping[str, int] = {
    **{f"CS{number}": number << 3 for number in range(8)},
    **{f"AF{group}{drop}": group << 3 | drop << 1 for group in range(1, 5) for drop in range(1, 4)},
    "BE": 0,
    "EF": 0x2E,
}
DSCP_BITS = 0xFC


def parse_tos(text: str) -> tuple[int, int]:
    """Read `0x10`, `0x10/0x3f` or a name, to the value and the mask."""
    if text in TOS_NAMES:
        return TOS_NAMES[text], NAMED_MASK
    value, slash, mask = text.partition("/")
    return parse_integer(value, most=255), parse_integer(mask, most=255) if slash else 255


def spell_tos(word: str) -> str:
    """Spell a name as the number and mask that iptables-save prints."""
    return f"{TOS_NAMES[word]:#04x}/{NAMED_MASK:#04x}" if word in TOS_NAMES else word


def parse_dscp(text: str) -> int:
    """Read the six bits, `0x2e`."""
    return parse_integer(text, most=63)


def parse_dscp_class(text: str) -> int:
    """Read the six bits of a class, `EF`."""
    if text.upper() not in DSCP_CLASSES:
        raise ValueError(f"expected a DSCP class, saw {text!r}")
    return DSCP_CLASSES[text.upper()]


def _read_tos(text: str) -> Condition:
    return _compare(*parse_tos(text))


def _read_dscp(text: str) -> Condition:
    return _compare(parse_dscp(text) << 2, DSCP_BITS)


def _read_dscp_class(text: str) -> Condition:
    return _compare(parse_dscp_class(text) << 2, DSCP_BITS)


def _compare(value: int, mask: int) -> Condition:
    def has_tos(seen: PacketSeen) -> bool:
        return seen.packet.tos & mask == value

    return has_tos


TOS = MatchExtension(
    name="tos",
    options={
        "tos": OptionMeaning(
            _read_tos, draws=("0x00/0xff", "0x10/0x3f", "0x10/0xff"), save=spell_tos
        )
    },
    forms=(make_form("tos", r"tos match\s*(?P<no_tos>!)?\s*(?P<tos>\S+)"),),
)
DSCP = MatchExtension(
    name="dscp",
    options={
        "dscp": OptionMeaning(_read_dscp, draws=("0x00", "0x04", "0x0a")),
        "dscp-class": OptionMeaning(_read_dscp_class),
    },
    forms=(make_form("dscp", r"DSCP match (?P<no_dscp>!)?(?P<dscp>0x\S+)"),),
)
