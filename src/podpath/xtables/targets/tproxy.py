"""`-j TPROXY`: hand a packet to a local transparent socket (net/netfilter/xt_TPROXY.c v6.12).

The socket of the packet's own connection comes first, then one that listens at the port: on the
address that the rule names, else on the first one of the device that the packet came in by
(net/ipv4/netfilter/nf_tproxy_ipv4.c:nf_tproxy_laddr4 v6.12). One that is not transparent ends
the packet.
"""

from __future__ import annotations

from podpath.net.addresses import Address, MaskedMark
from podpath.net.provenance import Option
from podpath.xtables.context import RuleContext
from podpath.xtables.extension import TargetExtension, make_options
from podpath.xtables.rule import MatchOption, Target, single
from podpath.xtables.seen import RuleActions, TargetAct
from podpath.xtables.values import FULL_MASK, parse_address, parse_integer, parse_mark
from podpath.xtables.verdicts import ACCEPT, DROP, Verdict
from podpath.xtables.wording import Groups, make_form

OPTIONS = make_options("on-port", "on-ip", "tproxy-mark")


def compile_target(target: Target, context: RuleContext) -> TargetAct:
    """Compile port, address and mark; without a listening socket the packet is dropped."""
    options = {option.name: option for option in target.options}
    if "on-port" not in options or not options.keys() <= OPTIONS.keys():
        raise ValueError(f"expected --on-port, saw {sorted(options)}")
    port = parse_integer(single(options["on-port"]), most=0xFFFF)
    if "on-ip" in options:
        address = parse_address(single(options["on-ip"]), context.family)
    else:
        address = Address(context.family, 0)
    if "tproxy-mark" in options:
        mark = parse_mark(single(options["tproxy-mark"]))
    else:
        mark = MaskedMark(0, 0)

    def proxy(state: RuleActions) -> Verdict:
        wanted, own = port or state.skb.packet.dport, state.own_socket()
        taken = _listens(state, address, wanted, context) if own is None else own
        if not taken:
            state.lack_proxy(wanted)
            return DROP
        state.set_mark((state.skb.mark & (FULL_MASK ^ mark.mask)) ^ mark.value)
        state.hand_to_proxy(wanted, connected=own is not None)
        return ACCEPT

    return proxy


def _listens(state: RuleActions, address: Address, port: int, context: RuleContext) -> bool:
    local = _local_address(state) if address.is_unspecified else address
    found = {
        entry.transparent
        for entry in state.sockets_at(port)
        if entry.is_listening and entry.is_at(local)
    }
    if not found and state.shows_sockets():
        return False
    if len(found) == 1 and None not in found:
        return True in found
    options = (
        Option(True, "a transparent socket listens there"),
        Option(False, "none listens there, or it is not transparent"),
    )
    name = f"a transparent socket listens on port {port} in netns {context.netns}"
    return state.choose(name, options, ask="ss -tulnp --inet-sockopt")


def _local_address(state: RuleActions) -> Address:
    """Return the address at which a socket is looked for where the rule names none."""
    packet = state.skb.packet
    own = (each for each in state.addresses_of_input() if each.family == packet.dst.family)
    return next(own, packet.dst)


def _list(groups: Groups) -> tuple[MatchOption, ...]:
    return (
        MatchOption("on-port", (groups["port"] or "",)),
        MatchOption("on-ip", ((groups["address"] or "").strip("[]"),)),
        MatchOption("tproxy-mark", (groups["tproxy_mark"] or "",)),
    )


TARGET = TargetExtension(
    name="TPROXY",
    options=OPTIONS,
    forms=(
        make_form(
            "TPROXY",
            r"TPROXY redirect (?P<address>\S+):(?P<port>\d+) mark (?P<tproxy_mark>\S+)",
        ),
    ),
    listed=_list,
    bare=True,
    tables=frozenset({"mangle"}),
    hooks=frozenset({"PREROUTING"}),
    compiler=compile_target,
)
