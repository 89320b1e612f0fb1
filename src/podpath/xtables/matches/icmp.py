"""`-m icmp` and `-m icmp6`: type and code (net/netfilter/xt_tcpudp.c:icmp_match v6.12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from podpath.xtables.context import RuleContext
from podpath.xtables.extension import MatchExtension, OptionMeaning
from podpath.xtables.rule import MatchOption, single
from podpath.xtables.seen import Check, Surroundings
from podpath.xtables.values import parse_integer
from podpath.xtables.wording import make_form

ANY = 255

ICMP_NAMES: Mapping[str, tuple[int, int | None]] = {
    "any": (ANY, None), "echo-reply": (0, None), "pong": (0, None),
    "destination-unreachable": (3, None), "network-unreachable": (3, 0), "host-unreachable": (3, 1),
    "protocol-unreachable": (3, 2), "port-unreachable": (3, 3), "fragmentation-needed": (3, 4),
    "source-route-failed": (3, 5), "network-unknown": (3, 6), "host-unknown": (3, 7),
    "network-prohibited": (3, 9), "host-prohibited": (3, 10), "TOS-network-unreachable": (3, 11),
    "TOS-host-unreachable": (3, 12), "communication-prohibited": (3, 13),
    "host-precedence-violation": (3, 14), "precedence-cutoff": (3, 15), "source-quench": (4, None),
    "redirect": (5, None), "network-redirect": (5, 0), "host-redirect": (5, 1),
    "TOS-network-redirect": (5, 2), "TOS-host-redirect": (5, 3), "echo-request": (8, None),
    "ping": (8, None), "router-advertisement": (9, None), "router-solicitation": (10, None),
    "time-exceeded": (11, None), "ttl-exceeded": (11, None), "ttl-zero-during-transit": (11, 0),
    "ttl-zero-during-reassembly": (11, 1), "parameter-problem": (12, None),
    "ip-header-bad": (12, 0), "required-option-missing": (12, 1), "timestamp-request": (13, None),
    "timestamp-reply": (14, None), "address-mask-request": (17, None),
    "address-mask-reply": (18, None),
}  # fmt: skip
"""As iptables names them: a type, and a code where the name stands for one."""

ICMPV6_NAMES: Mapping[str, tuple[int, int | None]] = {
    "destination-unreachable": (1, None), "no-route": (1, 0), "communication-prohibited": (1, 1),
    "beyond-scope": (1, 2), "address-unreachable": (1, 3), "port-unreachable": (1, 4),
    "failed-policy": (1, 5), "reject-route": (1, 6), "packet-too-big": (2, None),
    "time-exceeded": (3, None), "ttl-exceeded": (3, None), "ttl-zero-during-transit": (3, 0),
    "ttl-zero-during-reassembly": (3, 1), "parameter-problem": (4, None), "bad-header": (4, 0),
    "unknown-header-type": (4, 1), "unknown-option": (4, 2), "echo-request": (128, None),
    "ping": (128, None), "echo-reply": (129, None), "pong": (129, None),
    "mld-listener-query": (130, None), "mld-listener-report": (131, None),
    "mld-listener-done": (132, None), "mld-listener-reduction": (132, None),
    "router-solicitation": (133, None), "router-advertisement": (134, None),
    "neighbour-solicitation": (135, None), "neighbor-solicitation": (135, None),
    "neighbour-advertisement": (136, None), "neighbor-advertisement": (136, None),
    "redirect": (137, None),
}  # fmt: skip


def _compile_type(option: MatchOption, context: RuleContext) -> Check:
    number, code = _parse_type(single(option), ICMP_NAMES if context.family == 4 else ICMPV6_NAMES)
    wanted = not option.negated
    any_type = number == ANY and context.family == 4

    def check_type(state: Surroundings) -> bool:
        packet = state.skb.packet
        if packet.fragment:
            return False
        same = any_type or (
            packet.icmp_type == number and (code is None or packet.icmp_code == code)
        )
        return same is wanted

    return check_type


def _parse_type(text: str, names: Mapping[str, tuple[int, int | None]]) -> tuple[int, int | None]:
    if text in names:
        return names[text]
    number, slash, code = text.partition("/")
    return parse_integer(number, most=255), parse_integer(code, most=255) if slash else None


def _spell_type(value: str) -> str:
    number, _, code = re.sub(r"\s+codes?\s+", "/", value).partition("/")
    if number == "255" and not code:
        return "any"
    return f"{number}/{code}" if code else number


def _make_match(name: str, option: str, printed: str) -> MatchExtension:
    group = option.replace("-", "_")
    return MatchExtension(
        name=name,
        options={option: OptionMeaning(check=_compile_type, save=_spell_type)},
        forms=(
            make_form(
                name,
                rf"{printed}(?: )?(?P<no_{group}>!)?type (?P<{group}>\d+(?: codes? [\d-]+)?)",
            ),
            make_form(name, rf"{printed} (?P<no_{group}>!)?(?P<{group}>[A-Za-z][\w/-]*)"),
        ),
        not_drawn="" if name == "icmp" else "IPv6 alone has it",
    )


ICMP = _make_match("icmp", "icmp-type", "icmp")
ICMP6 = _make_match("icmp6", "icmpv6-type", "ipv6-icmp")
ICMPV6 = replace(ICMP6, name="icmpv6", forms=())
"""The same match by another name."""
