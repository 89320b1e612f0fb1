"""`-m socket`: whether a local socket waits for the packet (net/netfilter/xt_socket.c v6.12)."""

from __future__ import annotations

from podpath.datapath.netfilter.state import Answer, Check, Doubt, HookState
from podpath.datapath.xtables.context import RuleContext, spell_match, unknown_option
from podpath.net import protocols
from podpath.node.netfilter import Match
from podpath.node.node import Socket

KNOWN = frozenset({"transparent", "nowildcard", "restore-skmark"})
PROTOCOLS = frozenset({protocols.TCP, protocols.UDP})


def compile_match(match: Match, context: RuleContext) -> tuple[Check, ...]:
    """Compile to one check over the namespace's sockets; what no listing shows stays in doubt."""
    unknown = [option for option in match.options if option.name not in KNOWN]
    if unknown:
        return (unknown_option(match.name, unknown[0], context),)
    names = {option.name for option in match.options}
    doubt = Doubt(
        f"{spell_match(match)} finds a socket for the packet in netns {context.netns}",
        likely=False,
        ask="ss -tuanpe",
    )

    def check_socket(state: HookState) -> Answer:
        packet = state.skb.packet
        if packet.protocol not in PROTOCOLS:
            return False
        netns = state.skb.netns
        found = [
            entry
            for entry in netns.sockets.items
            if _fits(entry, state, wildcard="nowildcard" in names)
        ]
        if not found:
            return False if netns.shows_sockets(packet.protocol) else doubt
        # `ss` says of no socket whether it is transparent.
        return doubt if "transparent" in names else True

    return (check_socket,)


def _fits(entry: Socket, state: HookState, *, wildcard: bool) -> bool:
    packet = state.skb.packet
    if entry.protocol != packet.protocol or entry.port != packet.dport:
        return False
    return wildcard if entry.local is None else entry.local == packet.dst
