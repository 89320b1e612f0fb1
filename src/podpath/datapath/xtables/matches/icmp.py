"""`-m icmp` and `-m icmp6`: type and code (net/netfilter/xt_tcpudp.c:icmp_match v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.netfilter.state import Check, HookState
from podpath.datapath.xtables.context import RuleContext, compile_options, single
from podpath.node.netfilter import Match, MatchOption
from podpath.xtables.values import parse_integer

ANY = 255

ICMP_NAMES: Mapping[str, tuple[int, int | None]] = {
    "any": (ANY, None), "echo-reply": (0, None), "pong": (0, None), "destination-unreachable": (3, None),
    "network-unreachable": (3, 0), "host-unreachable": (3, 1), "protocol-unreachable": (3, 2), "port-unreachable": (3, 3),
    "fragmentation-needed": (3, 4), "source-route-failed": (3, 5), "network-unknown": (3, 6), "host-unknown": (3, 7),
    "network-prohibited": (3, 9), "host-prohibited": (3, 10), "TOS-network-unreachable": (3, 11),
    "TOS-host-unreachable": (3, 12), "communication-prohibited": (3, 13), "host-precedence-violation": (3, 14),
    "precedence-cutoff": (3, 15), "source-quench": (4, None), "redirect": (5, None), "network-redirect": (5, 0),
    "host-redirect": (5, 1), "TOS-network-redirect": (5, 2), "TOS-host-redirect": (5, 3), "echo-request": (8, None),
    "ping": (8, None), "router-advertisement": (9, None), "router-solicitation": (10, None), "time-exceeded": (11, None),
    "ttl-exceeded": (11, None), "ttl-zero-during-transit": (11, 0), "ttl-zero-during-reassembly": (11, 1),
    "parameter-problem": (12, None), "ip-header-bad": (12, 0), "required-option-missing": (12, 1),
    "timestamp-request": (13, None), "timestamp-reply": (14, None), "address-mask-request": (17, None),
    "address-mask-reply": (18, None),
}  # fmt: skip
"""As iptables names them: a type, and a code where the name stands for one."""

ICMPV6_NAMES: Mapping[str, tuple[int, int | None]] = {
    "destination-unreachable": (1, None), "no-route": (1, 0), "communication-prohibited": (1, 1), "beyond-scope": (1, 2),
    "address-unreachable": (1, 3), "port-unreachable": (1, 4), "failed-policy": (1, 5), "reject-route": (1, 6),
    "packet-too-big": (2, None), "time-exceeded": (3, None), "ttl-exceeded": (3, None), "ttl-zero-during-transit": (3, 0),
    "ttl-zero-during-reassembly": (3, 1), "parameter-problem": (4, None), "bad-header": (4, 0), "unknown-header-type": (4, 1),
    "unknown-option": (4, 2), "echo-request": (128, None), "ping": (128, None), "echo-reply": (129, None),
    "pong": (129, None), "mld-listener-query": (130, None), "mld-listener-report": (131, None),
    "mld-listener-done": (132, None), "mld-listener-reduction": (132, None), "router-solicitation": (133, None),
    "router-advertisement": (134, None), "neighbour-solicitation": (135, None), "neighbor-solicitation": (135, None),
    "neighbour-advertisement": (136, None), "neighbor-advertisement": (136, None), "redirect": (137, None),
}  # fmt: skip


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile every option to a check."""
    return compile_options(
        match, context, {"icmp-type": _compile_type, "icmpv6-type": _compile_type}
    )


def _compile_type(option: MatchOption, context: RuleContext) -> Check:
    number, code = _parse_type(single(option), ICMP_NAMES if context.family == 4 else ICMPV6_NAMES)
    wanted = not option.negated
    any_type = number == ANY and context.family == 4

    def check_type(state: HookState) -> bool:
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
