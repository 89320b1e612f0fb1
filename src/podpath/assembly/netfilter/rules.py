"""One rule as an output spells it to the rule of the model.

Spellings that mean the same become one: that of `iptables-save`. What cannot be understood makes
the rule unread, so that it answers UNKNOWN in its place; a rule is never left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from podpath.evidence.iptables.ruleset import ExtensionText, RuleText
from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address, Prefix
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Target,
)

_V4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:/(\d{1,2}))?")
_ALIASES: Mapping[str, str] = {
    "source-port": "sport",
    "destination-port": "dport",
    "source-ports": "sports",
    "destination-ports": "dports",
}
_MATCH_ALIASES: Mapping[str, str] = {"icmpv6": "icmp6", "ipv6-icmp": "icmp6"}
_ALL_BITS = 0xFFFFFFFF
_NO_END = "2038-01-19T03:14:07"
"""What iptables 1.8 prints for a `-m time` without end: the last second of a signed 32-bit
clock.
"""


def assemble_rule(text: RuleText, table: str, position: int) -> Rule:
    """Translate a rule; `position` counts from 1 in its chain."""
    unread = text.unread
    selectors: dict[str, MatchOption] = {}
    for option in text.selectors:
        if option.name in selectors:
            unread = unread or f"--{option.name} stands there twice"
        selectors[option.name] = option
    hidden = text.hidden
    src, why_src = _try_prefix(selectors.get("source"))
    dst, why_dst = _try_prefix(selectors.get("destination"))
    if not unread or hidden:
        bad = tuple(
            name
            for name, why in (("source", why_src), ("destination", why_dst))
            if why and name not in hidden
        )
        hidden += bad
    unread = unread or why_src or why_dst
    try:
        protocol = _assemble_protocol(selectors.get("protocol"))
    except ValueError as error:
        protocol = None
        hidden = ()
        unread = unread or str(error)
    fragment = selectors.get("fragment")
    target = text.target
    return Rule(
        table,
        text.chain,
        position,
        text.span,
        None if target is None else Target(target.name, _assemble_options(target), text.goto),
        src,
        dst,
        protocol,
        _assemble_interface(selectors.get("in-interface")),
        _assemble_interface(selectors.get("out-interface")),
        None if fragment is None else not fragment.negated,
        tuple([_assemble_match(match) for match in text.matches]),
        text.packets,
        text.bytes,
        unread,
        hidden if unread else (),
    )


@lru_cache(maxsize=65536)
def parse_prefix(text: str) -> tuple[Prefix, int | None]:
    """Read `10.0.0.0/8`, `10.0.0.1` or `1.2.0.3/255.255.0.255`, whose mask comes along where it is
    not contiguous.
    """
    found = _V4.fullmatch(text)
    if found is not None:
        a, b, c, d = int(found[1]), int(found[2]), int(found[3]), int(found[4])
        length = 32 if found[5] is None else int(found[5])
        if max(a, b, c, d) > 255 or length > 32:
            raise ValueError(f"expected an IPv4 prefix, saw {text!r}")
        return Prefix(
            4, (a << 24 | b << 16 | c << 8 | d) >> (32 - length) << (32 - length), length
        ), None
    address, _, mask_text = text.partition("/")
    try:
        return Prefix.parse(text), None
    except ValueError:
        value, mask = Address.parse(address), Address.parse(mask_text)
    if value.family != mask.family:
        raise ValueError(f"expected a mask of the address's family, saw {text!r}")
    return Prefix(value.family, value.value & mask.value, WIDTH[value.family]), mask.value


def _assemble_prefix(option: MatchOption | None) -> PrefixMatch | None:
    if option is None or not option.values:
        return None
    prefix, mask = parse_prefix(option.values[0])
    if prefix.length == 0 and mask is None and not option.negated:
        return None
    return PrefixMatch(prefix, option.negated, mask)


def _try_prefix(option: MatchOption | None) -> tuple[PrefixMatch | None, str]:
    """Return the prefix of a selector, or why it is none: a masked address voids its own selector
    and no other.
    """
    try:
        return _assemble_prefix(option), ""
    except ValueError as error:
        return None, str(error)


@lru_cache(maxsize=512)
def _assemble_protocol(option: MatchOption | None) -> ProtocolMatch | None:
    if option is None or not option.values:
        return None
    number = protocols.protocol_number(option.values[0])
    if number or option.negated:
        return ProtocolMatch(number, option.negated)
    return None


def _assemble_interface(option: MatchOption | None) -> InterfaceMatch | None:
    if option is None or not option.values:
        return None
    name = option.values[0]
    if name == "+" and not option.negated:
        return None
    return InterfaceMatch(name.removesuffix("+"), name.endswith("+"), option.negated)


@lru_cache(maxsize=8192)
def _assemble_match(text: ExtensionText) -> Match:
    return Match(_MATCH_ALIASES.get(text.name, text.name), _assemble_options(text))


def _assemble_options(text: ExtensionText) -> tuple[MatchOption, ...]:
    options = text.options
    if not options:
        return ()
    canonical = _CANONICAL.get(text.name)
    if canonical is not None:
        return tuple(
            [MatchOption(*canonical(option)) for option in options if not _is_default(option)]
        )
    return tuple([MatchOption(*option) for option in options])


def _is_default(option: MatchOption) -> bool:
    return option.name == "datestop" and option.values == (_NO_END,)


def _name_ports(option: MatchOption) -> MatchOption:
    if option.name in _ALIASES:
        return option._replace(name=_ALIASES[option.name])
    return option


def _spell_tcp(option: MatchOption) -> MatchOption:
    if option.name == "syn":
        return MatchOption("tcp-flags", ("FIN,SYN,RST,ACK", "SYN"), option.negated)
    return _name_ports(option)


def _spell_mark(option: MatchOption) -> MatchOption:
    """Spell `--set-mark`, `--or-mark` and the like as `--set-xmark VALUE/MASK` (iptables'
    libxt_MARK.c:mark_tg_save 1.8.9).
    """
    if not option.name.endswith("mark") or len(option.values) != 1:
        return option
    value_text, _, mask_text = option.values[0].partition("/")
    try:
        value = int(value_text, 0)
        mask = int(mask_text, 0) if mask_text else _ALL_BITS
    except ValueError:
        return option
    match option.name:
        case "set-xmark":
            pass
        case "set-mark":
            mask |= value
        case "or-mark":
            mask = value
        case "and-mark":
            value, mask = 0, value ^ _ALL_BITS
        case "xor-mark":
            mask = 0
        case _:
            return option
    return MatchOption("set-xmark", (f"{value:#x}/{mask:#x}",), option.negated)


def _spell_masked(option: MatchOption) -> MatchOption:
    """Spell a mark to compare with as iptables-save does: hexadecimal, the mask only where it
    leaves bits out.
    """
    if option.name != "mark" or len(option.values) != 1:
        return option
    value_text, _, mask_text = option.values[0].partition("/")
    try:
        value = int(value_text, 0)
        mask = int(mask_text, 0) if mask_text else _ALL_BITS
    except ValueError:
        return option
    return option._replace(
        values=(f"{value:#x}" if mask == _ALL_BITS else f"{value:#x}/{mask:#x}",)
    )


def _spell_limit(option: MatchOption) -> MatchOption:
    """Spell a rate as iptables-save does: `10/sec`, `5/min`."""
    if option.name != "limit" or len(option.values) != 1:
        return option
    count, slash, unit = option.values[0].partition("/")
    names = [
        name
        for name in ("sec", "min", "hour", "day")
        if unit and name[: len(unit)] == unit[: len(name)]
    ]
    if names:
        return option._replace(values=(f"{count}{slash}{names[0]}",))
    return option


def _keep(option: MatchOption) -> MatchOption:
    return option


_CANONICAL: Mapping[str, Callable[[MatchOption], MatchOption]] = {
    "tcp": _spell_tcp,
    "udp": _name_ports,
    "sctp": _name_ports,
    "dccp": _name_ports,
    "multiport": _name_ports,
    "mark": _spell_masked,
    "connmark": _spell_masked,
    "limit": _spell_limit,
    "time": _keep,
    "MARK": _spell_mark,
    "CONNMARK": _spell_mark,
}
"""By extension; every other one's options stand as they are spelled."""
