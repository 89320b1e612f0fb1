"""`-j TPROXY`: hand a packet to a local transparent socket (net/netfilter/xt_TPROXY.c v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Verdict
from podpath.datapath.reasons.rules import HandedToProxy, NoProxyListens
from podpath.datapath.vocabulary import StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.net.addresses import Address, MaskedMark
from podpath.net.provenance import Option
from podpath.node.netfilter import Target
from podpath.xtables.values import FULL_MASK, parse_address, parse_integer, parse_mark

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

KNOWN = frozenset({"on-port", "on-ip", "tproxy-mark"})


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile port, address and mark; without a listening socket the packet is dropped."""
    options = {option.name: option for option in target.options}
    if "on-port" not in options or not options.keys() <= KNOWN:
        raise ValueError(f"expected --on-port, saw {sorted(options)}")
    port = parse_integer(single(options["on-port"]), most=0xFFFF)
    address = (
        parse_address(single(options["on-ip"]), context.family)
        if "on-ip" in options
        else Address(context.family, 0)
    )
    mark = (
        parse_mark(single(options["tproxy-mark"])) if "tproxy-mark" in options else MaskedMark(0, 0)
    )

    def proxy(state: HookState, compiled: CompiledRule) -> Verdict:
        rule = compiled.rule
        wanted = port or state.skb.packet.dport
        if not _listens(state, address, wanted, context):
            state.decision = Decision(StepDecision.DROP, NoProxyListens(rule, wanted), rule.span)
            return DROP
        state.skb.mark = (state.skb.mark & (FULL_MASK ^ mark.mask)) ^ mark.value
        state.decision = Decision(
            StepDecision.TPROXY, HandedToProxy(rule, wanted, state.skb.mark), rule.span
        )
        return ACCEPT

    return proxy


def _listens(state: HookState, address: Address, port: int, context: RuleContext) -> bool:
    packet, netns = state.skb.packet, state.skb.netns
    for entry in netns.sockets.items:
        if (entry.protocol, entry.port) != (packet.protocol, port):
            continue
        if entry.local is None or address.is_unspecified or entry.local in {address, packet.dst}:
            return True
    if netns.shows_sockets(packet.protocol):
        return False
    options = (
        Option(True, "a transparent socket listens there"),
        Option(False, "nobody listens there"),
    )
    name = f"a transparent socket listens on port {port} in netns {context.netns}"
    return state.walk.choices.choose(name, options, ask="ss -tulnp")
