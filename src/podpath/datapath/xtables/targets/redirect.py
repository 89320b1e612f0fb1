"""`-j REDIRECT`: the host itself as destination (net/netfilter/nf_nat_redirect.c v6.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podpath.datapath.nat.binding import bind_destination
from podpath.datapath.nat.ranges import NULL, parse_port_range
from podpath.datapath.netfilter.state import Act, Decision, HookState
from podpath.datapath.netfilter.verdicts import DROP, Verdict
from podpath.datapath.reasons.translation import NoAddressToRedirect
from podpath.datapath.vocabulary import Hook, StepDecision
from podpath.datapath.xtables.context import RuleContext, single
from podpath.net.addresses import Family
from podpath.node.netfilter import Target

if TYPE_CHECKING:
    from podpath.datapath.netfilter.compiled import CompiledRule

KNOWN = frozenset({"to-ports", "random"})
LOOPBACK: dict[Family, int] = {4: 0x7F000001, 6: 1}


def compile_target(target: Target, context: RuleContext) -> Act:
    """Compile the options to a range of ports; the address depends on where the packet comes from."""
    options = {option.name: option for option in target.options}
    if not options.keys() <= KNOWN:
        raise ValueError(f"expected options of REDIRECT, saw {sorted(options)}")
    ports = parse_port_range(single(options["to-ports"])) if "to-ports" in options else NULL
    ports = ports._replace(random="random" in options)
    family = context.family

    def redirect(state: HookState, compiled: CompiledRule) -> Verdict:
        address = LOOPBACK[family] if state.hook == Hook.OUTPUT else _first_address(state, family)
        if address is None:
            rule = compiled.rule
            state.decision = Decision(
                StepDecision.DROP, NoAddressToRedirect(rule, state.in_name), rule.span
            )
            return DROP
        return bind_destination(state, compiled.rule, ports._replace(low=address, high=address))

    return redirect


def _first_address(state: HookState, family: Family) -> int | None:
    """Return the first address of the device that the packet came in on, in the kernel's order."""
    for entry in state.skb.netns.addresses.items:
        if entry.link == state.in_name and entry.address.family == family:
            return entry.address.value
    return None
