"""`-j REDIRECT`: the host itself as destination (net/netfilter/nf_nat_redirect.c v6.12)."""

from __future__ import annotations

from podpath.net.addresses import Family
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import NftStatement, TargetExtension, make_options
from podpath.xtables.nat_ranges import NULL, NatRange, parse_port_range
from podpath.xtables.rule import Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.verdicts import Verdict
from podpath.xtables.wording import NAT_FLAGS, make_form

LOOPBACK: dict[Family, int] = {4: 0x7F000001, 6: 1}


def compile_target(target: Target, context: RuleContext) -> TargetAct:
    """Compile the options to a range of ports; the address depends on where the packet comes
    from.
    """
    options = {option.name: option for option in target.options}
    if not options.keys() <= {"to-ports", "random"}:
        raise ValueError(f"expected options of REDIRECT, saw {sorted(options)}")
    ports = parse_port_range(single(options["to-ports"])) if "to-ports" in options else NULL
    return redirect(ports._replace(random="random" in options), context)


def redirect(ports: NatRange, context: RuleContext) -> TargetAct:
    """Return what sends a connection to the host, to a port of the range."""
    family = context.family

    def act(state: RuleActions) -> Verdict:
        address = LOOPBACK[family] if state.hook == "OUTPUT" else _first_address(state, family)
        if address is None:
            return state.lack_destination()
        return state.bind_destination(ports._replace(low=address, high=address))

    return act


def _first_address(state: RuleActions, family: Family) -> int | None:
    """Return the first address of the device that the packet came in on, in the kernel's order."""
    for address in state.addresses_of_input():
        if address.family == family:
            return address.value
    return None


TARGET = TargetExtension(
    name="REDIRECT",
    options=make_options("to-ports", flags=("random",)),
    forms=(make_form("REDIRECT", r"redir ports (?P<to_ports>\S+)", NAT_FLAGS[0]),),
    bare=True,
    tables=frozenset({"nat"}),
    hooks=frozenset({"PREROUTING", "OUTPUT"}),
    compiler=compile_target,
    tracks=True,
    nft=NftStatement("redirect", redirect),
)
