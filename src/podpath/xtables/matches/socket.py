"""`-m socket`: whether a local socket waits for the packet (net/netfilter/xt_socket.c v6.12)."""

from __future__ import annotations

from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.xtables.context import RuleContext, unknown_option
from podpath.xtables.extension import MatchExtension, make_options
from podpath.xtables.rule import Match, spell_match
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.wording import make_form

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

    def check_socket(state: Surroundings) -> Answer:
        packet = state.skb.packet
        if packet.protocol not in PROTOCOLS:
            return False
        if _is_under_way(packet) and state.address_type(packet.dst, "") == "local":
            return doubt if "transparent" in names else True
        found = any(
            entry.is_at(packet.dst) and (entry.local == packet.dst or "nowildcard" in names)
            for entry in state.sockets_at(packet.dport)
        )
        if not found:
            return False if state.shows_sockets() else doubt
        # `ss` says of no socket whether it is transparent.
        return doubt if "transparent" in names else True

    return (check_socket,)


def _is_under_way(packet: Packet) -> bool:
    """Tell whether a segment belongs to a connection, whose own socket is bound to its addresses
    (`nf_socket.c:nf_sk_lookup_slow_v4 v6.12`).
    """
    opens = packet.flags & (protocols.SYN | protocols.ACK) == protocols.SYN
    return packet.protocol == protocols.TCP and not opens


MATCH = MatchExtension(
    name="socket",
    options=make_options(flags=KNOWN),
    forms=(
        make_form(
            "socket",
            r"socket",
            r"?(?P<flag_transparent>--transparent)",
            r"?(?P<flag_nowildcard>--nowildcard)",
            r"?(?P<flag_restore_skmark>--restore-skmark)",
        ),
    ),
    compiler=compile_match,
    not_drawn="sockets that are transparent, or of connections that only pass, are not listed",
)
