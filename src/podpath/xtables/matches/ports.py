"""`--sport` and `--dport` as the tcp, udp, sctp and dccp matches share them
(net/netfilter/xt_tcpudp.c v6.12).

A fragment other than the first has no ports, and xtables never matches it. iptables-nft writes tcp
and udp conditions as nftables expressions, and those read whatever bytes the fragment has in that
place (nf_tables_core.c:nft_payload_fast_eval v6.12, seen on v6.18): there the answer is a doubt.
And it writes nothing at all where every port is meant, also negated (iptables 1.8.9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from podpath.net.packet import Packet
from podpath.xtables.context import OptionCompiler, RuleContext
from podpath.xtables.extension import OptionMeaning
from podpath.xtables.rule import MatchOption, single, spell
from podpath.xtables.seen import Answer, Check, Doubt, Surroundings
from podpath.xtables.values import parse_ports

EVERY_PORT = (0, 0xFFFF)


def of_fragment(option: MatchOption, context: RuleContext, *, native: bool) -> Answer:
    """Say what a condition on the transport header answers for a later fragment."""
    if not native or context.flavour != "nft":
        return False
    fact = f"the bytes of a later fragment pass for {spell(option)} at {context.where}"
    return Doubt(fact, likely=False, ask=context.show)


def _ports(select: Callable[[Packet], int], *, native: bool) -> OptionCompiler:
    def compile_port(option: MatchOption, context: RuleContext) -> Check:
        if native and context.flavour == "nft" and parse_ports(single(option)) == EVERY_PORT:
            return lambda _: True
        return check_range(
            single(option), not option.negated, of_fragment(option, context, native=native)
        )

    @lru_cache(maxsize=512)
    def check_range(text: str, wanted: bool, fragment: Answer) -> Check:  # noqa: FBT001  # a cache takes positions
        first, last = parse_ports(text)

        def check_port(state: Surroundings) -> Answer:
            packet = state.skb.packet
            if packet.fragment:
                return fragment
            return (first <= select(packet) <= last) is wanted

        return check_port

    return compile_port


def port_options(*, native: bool) -> Mapping[str, OptionMeaning]:
    """Return the port options; `native` says that iptables-nft writes them as
    nftables expressions.
    """
    source = OptionMeaning(check=_ports(lambda packet: packet.sport, native=native), ports=True)
    destination = OptionMeaning(
        check=_ports(lambda packet: packet.dport, native=native), ports=True
    )
    return {
        "sport": source,
        "source-port": source,
        "dport": destination,
        "destination-port": destination,
    }
